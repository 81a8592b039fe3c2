"""How often the page of an order and its look for news ask the database, and what a look brings."""

import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from billing.models import ChainState
from core import clock, events
from fleet import extensions
from fleet.lease_rows import lease_rows
from fleet.models import Node
from orders.models import Order
from tests import scenario
from tests.order_states import open_shop_for_states
from tests.order_states.before import card_open
from tests.order_states.term import active, extension_open, late_delivery

pytestmark = pytest.mark.django_db
# In the demo, as here, one of them reads its clock.
PAGE, NEWS = 8, 2


@pytest.fixture(autouse=True)
def _shop(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    open_shop_for_states(monkeypatch)


def _news_address(html: str) -> str:
    found = re.search(r'hx-get="([^"]+)"', html)
    return found[1] if found else ""


@pytest.mark.parametrize("make", [card_open, extension_open, late_delivery])
def test_a_page_asks_eight_times_at_most_and_its_look_for_news_twice(make: Callable[[], Order]) -> None:
    """The costliest ones; every state is counted where it is drawn, in tests/browser/test_pages.py."""
    row = make()
    client = Client()
    with CaptureQueriesContext(connection) as page:
        answer = client.get(row.get_absolute_url())
    assert answer.status_code == 200
    with CaptureQueriesContext(connection) as news:
        answer = client.get(_news_address(answer.content.decode()))
    assert "HX-Refresh" not in answer, "nothing has changed"
    assert len(page) <= PAGE, "\n".join(query["sql"][:150] for query in page)
    assert len(news) <= NEWS, "\n".join(query["sql"][:150] for query in news)


def _look(row: Order, address: str, etag: str = "") -> Any:
    return Client().get(address, headers={"If-None-Match": etag} if etag else {})


def test_what_has_not_changed_is_not_sent_again() -> None:
    row = scenario.order()
    address = _news_address(Client().get(row.get_absolute_url()).content.decode())
    first = _look(row, address)
    assert (first.status_code, "HX-Refresh" in first) == (200, False)
    assert first["Cache-Control"] == "private, no-cache"
    with CaptureQueriesContext(connection) as asked:
        again = _look(row, address, first["ETag"])
    assert (again.status_code, again.content, again["ETag"]) == (304, b"", first["ETag"])
    assert again["Cache-Control"] == "private, no-cache"
    assert len(asked) <= NEWS
    assert _look(row, address.replace("/en/", "/de/"), first["ETag"]).status_code == 200
    ChainState.objects.filter(network="local").update(head_number=101)
    block = _look(row, address, first["ETag"])
    assert (block.status_code, "HX-Refresh" in block) == (200, False)
    assert "101" in block.content.decode()
    chain = scenario.Chain()
    chain.advance()
    chain.send(row.payment, row.payment.crypto.due_units)
    chain.look(row.payment)
    for etag in (first["ETag"], block["ETag"], _look(row, address)["ETag"]):
        moved = _look(row, address, etag)
        assert (moved.status_code, moved["HX-Refresh"]) == (200, "true")
    unknown = address.replace(row.token, "x" * len(row.token))
    assert _look(row, unknown).status_code == 404


def test_a_login_is_no_reason_to_load_the_page_again_and_an_event_is() -> None:
    row = active()
    address = _news_address(Client().get(row.get_absolute_url()).content.decode())
    events.emit(name="lease.login", subject="lease:1", order_ref=row.public_id, payload={})
    assert "HX-Refresh" not in _look(row, address)
    events.emit(name="credit.due", subject="credit:1", order_ref=row.public_id, payload={})
    assert _look(row, address)["HX-Refresh"] == "true"


def test_the_room_after_a_lease_is_the_one_that_a_booking_sees() -> None:
    def room(row: Order) -> datetime | None:
        found = lease_rows(row.public_id)
        assert found is not None
        assert found.room_until == extensions.room_until(found.lease, clock.now())
        return found.room_until

    free, taken = active(), extension_open()
    assert room(free) is None
    assert room(taken) is not None
    Node.objects.update(in_service=False)
    assert room(free) is not None
