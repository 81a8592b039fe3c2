"""A partner's program against the API, for tests: quotes, orders and their bodies."""

import itertools
from typing import Any

from django.conf import settings
from django.test import Client

from tests import scenario

QUOTE_BODY: dict[str, Any] = {"lot": "b200-180x2", "days": 3, "image": "pt-cu128"}
PAY_WITH: dict[str, Any] = {"rail": "crypto", "network": "local", "asset": "USDC"}
_numbers = itertools.count(1)


class Api:
    """Calls with a key, or without one. `post` takes a fresh idempotency key unless one is named."""

    def __init__(self, key: str | None) -> None:
        self.client = Client()
        self.headers = {"authorization": f"Bearer {key}"} if key else {}

    def get(self, path: str, query: dict[str, str] | None = None) -> Any:
        return self.client.get(f"/api/v1/{path}", query or {}, headers=self.headers)

    def post(self, path: str, body: Any = None, *, key: str | None = "", **headers: str) -> Any:
        """`key` None: without the header."""
        given = dict(self.headers) | {name.replace("_", "-"): value for name, value in headers.items()}
        if key is not None:
            given["idempotency-key"] = key or f"key-{next(_numbers)}"
        text = {} if body is None else {"data": body}
        return self.client.post(f"/api/v1/{path}", content_type="application/json", headers=given, **text)

    def quote(self, **changes: Any) -> dict[str, Any]:
        return created(self.post("quotes", QUOTE_BODY | changes))

    def order(self, quote_id: str = "", **changes: Any) -> dict[str, Any]:
        return created(self.post("orders", order_body(quote_id or self.quote()["id"], **changes)))


def order_body(quote_id: str, **changes: Any) -> dict[str, Any]:
    return {
        "quote": quote_id,
        "contact": {"name": "Ada", "email": "ada@example.com", "company": "", "language": "en"},
        "ssh_keys": [scenario.new_key_line()],
        "pay_with": PAY_WITH,
        "accept_terms": settings.TERMS_VERSION,
    } | changes


def created(response: Any, status: int = 201) -> dict[str, Any]:
    assert response.status_code == status, response.content
    body: dict[str, Any] = response.json()
    return body
