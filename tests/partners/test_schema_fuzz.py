"""Every call of the OpenAPI document, alone and in sequences, with what a machine makes up."""

import itertools
import sys
from typing import Any

import pytest
from django.conf import settings as shop
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from core import outward_target
from orders.models import Order
from partners.api.schema import document
from partners.models import Partner
from tests import scenario
from tests.partners import fuzzing
from tests.partners.ordering import PAY_WITH, QUOTE_BODY, Api, order_body
from tests.terms import take_logins_for_good, work


@pytest.fixture
def server(
    live_server: LiveServer,
    partner: Partner,
    key_text: str,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
) -> LiveServer:
    """A shop that no limit stops, and whose name server knows every name. The partner has an order whose term runs,
    one that waits for its money, and one that was cancelled."""
    settings.API_REQUESTS_PER_MINUTE_KEY = settings.API_REQUESTS_PER_MINUTE_ADDRESS = 10**9
    monkeypatch.setattr(outward_target, "_ask", lambda _host, _port: ["93.184.215.14"])
    take_logins_for_good(monkeypatch)
    Partner.objects.filter(pk=partner.pk).update(hold_orders=shop.ADDRESS_POOL_SIZE - 10, hold_cards=10_000)
    scenario.open_shop(b200_nodes=4)
    api = Api(key_text)
    api.order()
    api.post(f"orders/{api.order()['id']}/cancel")
    scenario.pay(Order.objects.get(public_id=api.order()["id"]))
    work()
    return live_server


def fuzz(server: LiveServer, key: str, *, examples: int, seed: int) -> fuzzing.Found:
    """No failure, and each phase and each check had something to judge."""
    scenario.offer_network()  # as many clean addresses as there were
    sold: dict[str, Any] = {"options": [], "starts_at": None, "bill_to": {"country": "DE"}, **QUOTE_BODY}
    quotes = itertools.cycle([Api(key).quote()["id"] for _number in range(10)])
    found = fuzzing.run(
        server.url,
        key,
        examples=examples,
        seed=seed,
        bodies={
            "POST /api/v1/quotes": lambda: sold,
            "POST /api/v1/orders": lambda: order_body(
                next(quotes), bill_to={"country": "DE"}, metadata={"customer": "4711"}
            ),
            "POST /api/v1/orders/{order_id}/extensions": lambda: {"days": 3, "pay_with": PAY_WITH},
            "POST /api/v1/webhook-endpoints": lambda: {"url": "https://hooks.example.com/in", "events": []},
        },
    )
    assert not found.failures, "\n".join(found.failures)
    assert set(found.requests) == set(fuzzing.PHASES)
    assert set(found.checked) == set(fuzzing.CHECKS)
    sys.stdout.write(f"{dict(found.requests)} {sorted(found.answers.items())}\n")
    return found


@pytest.mark.django_db(transaction=True)
def test_each_call_keeps_to_its_document(server: LiveServer, key_text: str) -> None:
    found = fuzz(server, key_text, examples=5, seed=7)
    assert "POST /api/v1/quotes" in found.succeeded


@pytest.mark.full
@pytest.mark.django_db(transaction=True)
def test_in_5000_requests(server: LiveServer, key_text: str) -> None:
    requests = seed = 0
    succeeded: set[str] = set()
    made: set[str] = set()
    while requests < 5000:
        seed += 1
        found = fuzz(server, key_text, examples=60, seed=seed)
        requests += found.requests.total()
        succeeded |= found.succeeded
        made |= {call for call, _status in found.answers}
    assert {"POST /api/v1/orders", "GET /api/v1/orders/{order_id}"} <= succeeded
    described = {
        f"{method.upper()} {path}" for path, calls in document()["paths"].items() for method in calls
    }
    assert made == described
    sys.stdout.write(f"{requests} requests in {seed} runs\n")
