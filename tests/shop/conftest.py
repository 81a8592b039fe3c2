"""A buyer's browser against the open shop, without collected static files."""

from typing import Any

import pytest
from django.test import Client

from tests import scenario


@pytest.fixture
def shop(db: None) -> None:
    scenario.open_shop()


@pytest.fixture
def buyer(shop: None) -> Client:
    """A browser of its own; CSRF is checked in the browser tests."""
    return Client()


CONFIGURE: dict[str, Any] = {
    "lot": "b200-180x2",
    "lots": "1",
    "days": "3",
    "image": "pt-cu128",
    "start": "soon",
    "country": "DE",
    "kind": "consumer",
}


def configure(**changes: Any) -> dict[str, Any]:
    return CONFIGURE | changes


def order_form(**changes: Any) -> dict[str, Any]:
    values: dict[str, Any] = {
        "name": "Ada",
        "email": "ada@example.com",
        "company": "",
        "ssh_keys": scenario.new_key_line(),
        "pay_with": "local:USDC",
        "accept_terms": "on",
    }
    return values | changes
