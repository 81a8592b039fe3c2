"""A shop with two of everybody, and limits that no walk reaches."""

from collections.abc import Iterator

import pytest
from django.core.cache import cache
from pytest_django import Settings

from partners.api.throttle import local_counter
from tests.security.world import World, make_world
from tests.terms import take_logins_for_good


@pytest.fixture(autouse=True)
def _without_limits(settings: Settings) -> Iterator[None]:
    """What is tried here is tried more often than any caller may; the limits have tests of their own."""
    settings.API_REQUESTS_PER_MINUTE_KEY = settings.API_REQUESTS_PER_MINUTE_ADDRESS = 10**9
    local_counter.clear()
    yield
    local_counter.clear()
    cache.clear()


@pytest.fixture
def world(db: None, monkeypatch: pytest.MonkeyPatch) -> World:
    take_logins_for_good(monkeypatch)
    return make_world()
