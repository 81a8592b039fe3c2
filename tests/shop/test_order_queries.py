"""The page of an order asks the database two dozen times at most, in whatever state, drawn in full."""

from collections.abc import Callable

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from orders.models import Order
from tests import scenario
from tests.terms import active_order, joined_extension, take_logins_for_good

pytestmark = pytest.mark.django_db
LIMIT = 24


def _with_an_extension() -> Order:
    row = active_order()
    joined_extension(row)
    return row


def _over_paid() -> Order:
    row = scenario.order()
    scenario.pay(row, units=row.payment.crypto.due_units + 4_500_000)
    return row


STATES: dict[str, Callable[[], Order]] = {
    "awaiting": scenario.order,
    "over": _over_paid,
    "active": active_order,
    "extended": _with_an_extension,
}


@pytest.fixture(autouse=True)
def _shop(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    take_logins_for_good(monkeypatch)
    scenario.open_shop()


@pytest.mark.parametrize("state", STATES)
def test_an_order_page_asks_two_dozen_times_at_most(state: str) -> None:
    row = STATES[state]()
    with CaptureQueriesContext(connection) as queries:
        answer = Client().get(row.get_absolute_url())
    assert answer.status_code == 200
    # The demo alone reads its clock from a row, at each look at the time.
    asked = [query["sql"] for query in queries if "clockoffset" not in query["sql"]]
    assert len(asked) <= LIMIT, "\n".join(asked)
