"""The files made from the API are those of the code, and nothing that partners build on goes unseen."""

import copy
import json
import sys
from collections.abc import Callable
from datetime import timedelta
from http import HTTPStatus
from importlib import import_module
from typing import Any

import httpx
import pytest
from django.test import Client

from anchorgpu.checks import api_files
from anchorgpu.checks.api_breaks import breaks
from orders.models import Order
from partners.api.schema import document
from tests import scenario
from tests.terms import take_logins_for_good, work

Document = dict[str, Any]


def test_document_and_client_are_those_of_the_code() -> None:
    """Otherwise: python -m anchorgpu.checks.api_files --write."""
    assert list(api_files.faults(api_files.as_text(document()))) == []


def body(found: Document, name: str) -> Document:
    schema: Document = found["components"]["schemas"][name]
    return schema


def call(found: Document, path: str, method: str) -> Document:
    operation: Document = found["paths"][f"/api/v1/{path}"][method]
    return operation


BREAKS: dict[str, Callable[[Document], Any]] = {
    "GET /api/v1/lots: gone": lambda found: found["paths"].pop("/api/v1/lots"),
    "DELETE /api/v1/webhook-endpoints/{endpoint_id}: gone": lambda found: found["paths"][
        "/api/v1/webhook-endpoints/{endpoint_id}"
    ].pop("delete"),
    "POST /api/v1/quotes 201: gone": lambda found: call(found, "quotes", "post")["responses"].pop("201"),
    "POST /api/v1/quotes: needs a key now": lambda found: call(found, "quotes", "post").update(
        security=[{"apiKey": []}]
    ),
    "GET /api/v1/events after: gone": lambda found: call(found, "events", "get").update(parameters=[]),
    "POST /api/v1/quotes Idempotency-Key: must be sent now": lambda found: call(found, "quotes", "post")[
        "parameters"
    ][0].update(required=True),
    "POST /api/v1/quotes 201.tax: gone": lambda found: body(found, "Quote")["properties"].pop("tax"),
    "GET /api/v1/orders 200.data[].url: may be left out now": lambda found: body(found, "Order")[
        "required"
    ].remove("url"),
    "GET /api/v1/orders 200.data[].total: may be null now": lambda found: body(found, "Order")[
        "properties"
    ].update(total={"type": ["string", "null"]}),
    "POST /api/v1/quotes body.options: gone": lambda found: body(found, "QuoteBodyRequest")["properties"].pop(
        "options"
    ),
    "POST /api/v1/quotes body.starts_at: must be sent now": lambda found: body(found, "QuoteBodyRequest")[
        "required"
    ].append("starts_at"),
    "POST /api/v1/quotes body.lots: maximum was 1000, is 10": lambda found: body(found, "QuoteBodyRequest")[
        "properties"
    ]["lots"].update(maximum=10),
    "POST /api/v1/quotes body.starts_at: takes no null any more": lambda found: body(
        found, "QuoteBodyRequest"
    )["properties"]["starts_at"].update(type="string"),
    "POST /api/v1/orders body.notify: 'partner' is taken no more": lambda found: body(found, "NotifyEnum")[
        "enum"
    ].remove("partner"),
}


@pytest.mark.parametrize("said", BREAKS)
def test_each_kind_of_break_is_named(said: str) -> None:
    found = json.loads(api_files.as_text(document()))
    changed = copy.deepcopy(found)
    BREAKS[said](changed)
    assert said in breaks(found, changed)


def test_what_only_grows_breaks_nothing() -> None:
    found = json.loads(api_files.as_text(document()))
    grown = copy.deepcopy(found)
    grown["paths"]["/api/v1/new"] = grown["paths"]["/api/v1/lots"]
    body(grown, "Quote")["properties"]["note"] = {"type": "string"}
    body(grown, "QuoteBodyRequest")["properties"]["note"] = {"type": "string"}
    body(grown, "QuoteBodyRequest")["properties"]["lots"]["maximum"] = 10_000
    body(grown, "OrderStatusEnum")["enum"].append("paused")
    call(grown, "lots", "get")["parameters"].append(
        {"in": "query", "name": "cards", "schema": {"type": "integer"}}
    )
    call(grown, "orders", "get")["summary"] = "Another sentence"
    assert breaks(found, found) == breaks(found, grown) == []


@pytest.mark.django_db
def test_a_lot_is_bought_with_the_generated_client(key_text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """From a quote to the login, in this process: the client's requests reach the application itself."""
    monkeypatch.syspath_prepend(str(api_files.CLIENT))
    take_logins_for_good(monkeypatch)
    scenario.open_shop()
    api = _Client(key_text)
    try:
        quote = api.call(
            "quotes.make_quote", body=api.made("QuoteBodyRequest", lot="b200-180x2", days=3, image="pt-cu128")
        )
        root = api.call("shop.root")
        contact = api.made("ContactBodyRequest", name="Ada", email="ada@example.com")
        way = api.made("PayWithBodyRequest", rail=api.models.RailEnum.CRYPTO, network="local", asset="USDC")
        wanted = api.made(
            "OrderBodyRequest",
            quote=quote.id,
            contact=contact,
            ssh_keys=[scenario.new_key_line()],
            pay_with=way,
            accept_terms=root.terms_version,
        )
        order = api.call("orders.place_order", body=wanted, idempotency_key="first")
        assert api.call("orders.place_order", body=wanted, idempotency_key="first") == order
        refused = api.call("orders.place_order", body=wanted, idempotency_key="second")
        assert (refused.code, refused.order) == ("quote_accepted", order.id)
        assert order.payment.expires_at - order.placed_at == timedelta(hours=1)
        api.call("orders.claim_payment", order_id=order.id, body=api.made("ClaimBodyRequest"))
        scenario.pay(Order.objects.get(public_id=order.id))
        work()
        active = api.call("orders.read_order", order_id=order.id)
        assert active.status == api.models.OrderStatusEnum.ACTIVE
        access = api.call("orders.read_access", order_id=order.id)
        assert (access.user, access.ends_at) != ("", None)
        assert access.ends_at == active.lease.ends_at
        (listed,) = api.call("orders.list_orders", limit=1).data
        assert listed == active
        assert api.statuses == {200, 201, 202, 409}
    finally:
        for name in [name for name in sys.modules if name.startswith("anchorgpu_client")]:
            del sys.modules[name]


def _send(request: httpx.Request) -> httpx.Response:
    """To the application, past the network."""
    answer = Client().generic(
        request.method,
        request.url.raw_path.decode(),
        request.content,
        content_type=request.headers.get("content-type", ""),
        headers=dict(request.headers),
    )
    return httpx.Response(answer.status_code, headers=dict(answer.headers), content=answer.content)


class _Client:
    """Modules are looked up by name: the generated package is not installed here, and has no types for us."""

    def __init__(self, key: str) -> None:
        self.models = import_module("anchorgpu_client.models")
        package = import_module("anchorgpu_client")
        self._client = package.AuthenticatedClient(base_url="http://testserver", token=key)
        self._client.set_httpx_client(
            httpx.Client(
                base_url="http://testserver",
                transport=httpx.MockTransport(_send),
                headers={"Authorization": f"Bearer {key}"},
            )
        )
        self.statuses: set[HTTPStatus] = set()

    def made(self, model: str, **values: Any) -> Any:
        return getattr(self.models, model)(**values)

    def call(self, name: str, **values: Any) -> Any:
        module = import_module(f"anchorgpu_client.api.{name}")
        answer = module.sync_detailed(client=self._client, **values)
        self.statuses.add(answer.status_code)
        return answer.parsed
