"""The log read forward: in one order, nothing twice, nothing skipped, whoever is writing meanwhile."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, connections, transaction

from core import events
from core.models import Audience, Event
from orders.models import Order
from partners import events as log
from partners.models import Partner, PartnerOrder
from tests import races, scenario
from tests.partners.answers import problem, shape
from tests.partners.ordering import Api
from tests.partners.rows import make_orders

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _settled_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "SETTLING", timedelta(0))


@pytest.fixture
def api(key_text: str) -> Api:
    return Api(key_text)


def emit(order: Order, name: str = "order.paid", **changes: Any) -> int:
    with transaction.atomic():
        event = events.emit(name=name, subject=f"order:{order.pk}", order_ref=order.public_id, **changes)
    return event.pk


def walk(api: Api, path: str, query: dict[str, str]) -> Iterator[dict[str, Any]]:
    """Every row of every page."""
    cursor: str | None = ""
    while cursor is not None:
        answer = api.get(path, query | ({"cursor": cursor} if cursor else {}))
        assert answer.status_code == 200, answer.content
        yield from answer.json()["data"]
        cursor = answer.json()["next_cursor"]


def test_pages_and_places_of_the_log(api: Api, partner: Partner) -> None:
    scenario.open_shop(offered=False)
    mine, also_mine = make_orders(partner, 2)
    (foreign,) = make_orders(None, 1)
    told = []
    for number in range(7):
        told.append(emit(mine if number % 2 else also_mine, data_of(number), payload={"number": number}))
        emit(foreign)
        emit(mine, audience=Audience.STAFF)
    rows = list(walk(api, "events", {"limit": "2"}))
    assert [row["id"] for row in rows] == [f"evt_{pk:012d}" for pk in told]
    assert [row["data"] for row in rows] == [{"number": number} for number in range(7)]
    assert shape(rows[0]) == dict.fromkeys(("id", "type", "at", "order"), "str") | {"data": {"number": "int"}}
    of_one = list(walk(api, f"orders/{mine.public_id}/events", {"limit": "1"}))
    assert of_one == [row for row in rows if row["order"] == mine.public_id]
    assert len(of_one) == 3
    # Whoever has seen all goes on behind the last one, without a cursor.
    assert list(walk(api, "events", {"limit": "2", "after": rows[3]["id"]})) == rows[4:]
    assert api.get("events", {"after": rows[-1]["id"]}).json() == {"data": [], "next_cursor": None}
    for broken in (
        "evt_1",
        "evt_00000000000x",
        "evt_" + "9" * 19,
        "12",
        "ord_" + "2" * 27,
        "evt_٠٠٠٠٠٠٠٠٠٠٠١",
    ):
        problem(api.get("events", {"after": broken}), 400, "invalid_event_id", "after")
    problem(api.get("events", {"after": ""}), 400, "required", "after")


def data_of(number: int) -> str:
    return ("order.placed", "order.paid", "order.active")[number % 3]


@pytest.mark.django_db(transaction=True)
def test_an_event_that_is_committed_late_is_not_skipped(
    transactional_db: None, api: Api, partner: Partner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two connections: the earlier number is committed after the later one. The later one waits for it.

    Control: a list without the bound shows the later one at once, and whoever goes on from there has lost the earlier.
    """
    scenario.open_shop(offered=False)
    (order,) = make_orders(partner, 1)
    with races.own_connections():
        before = emit(order)
        slow = connections.create_connection("default")
        try:
            slow.set_autocommit(False)
            with slow.cursor() as cursor:
                cursor.execute(
                    "INSERT INTO core_event (name, subject, order_ref, audience, payload, at) "
                    "VALUES ('order.paid', 'x', %s, 'buyer', '{}', clock_timestamp()) RETURNING id",
                    [order.public_id],
                )
                (late,) = cursor.fetchone()
            later = emit(order, "order.active")
            assert before < late < later
            assert seen(api) == [before]
            with monkeypatch.context() as patch:
                patch.setattr(log, "_OLDEST_WRITER", "SELECT clock_timestamp()")
                assert seen(api) == [before, later]
            slow.commit()
            assert seen(api, after=before) == [late, later]
        finally:
            slow.close()
    assert connection.in_atomic_block is False
    assert PartnerOrder.objects.count() == 1
    assert Event.objects.count() == 3


def seen(api: Api, after: int = 0) -> list[int]:
    query = {"after": f"evt_{after:012d}"}
    return [int(row["id"].removeprefix("evt_")) for row in api.get("events", query).json()["data"]]
