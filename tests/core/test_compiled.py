"""A compiled query gives what the query itself gives, in every thread, for every value."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection
from django.db.models import QuerySet
from django.test.utils import CaptureQueriesContext

from billing import order_rows
from core.compiled import CompiledQuery
from orders.models import Order
from tests import scenario

pytestmark = pytest.mark.django_db
Build = Callable[[str], "QuerySet[Order, Any]"]


@pytest.fixture
def orders() -> list[Order]:
    scenario.open_shop(b200_nodes=1)
    scenario.offer_network("local", block=100)
    paid, unpaid = scenario.order(), scenario.order()
    scenario.pay(paid)
    return [paid, unpaid]


def without_state(row: Order) -> dict[str, Any]:
    return {name: value for name, value in vars(row).items() if name != "_state"}


@pytest.mark.parametrize("build", [order_rows._news, order_rows._page], ids=["news", "page"])
def test_the_same_row_with_all_that_comes_along(build: Build, orders: list[Order]) -> None:
    compiled = CompiledQuery(build)
    for order in [*orders, *orders]:
        with CaptureQueriesContext(connection) as asked:
            found = compiled.first(order.token)
        expected = build(order.token).first()
        assert len(asked) == 1
        assert found is not None
        assert expected is not None
        assert without_state(found) == without_state(expected)
        assert found.payment.view.status == expected.payment.view.status
    assert compiled.first("none") is None
    assert compiled.first("' OR true --") is None


@pytest.mark.django_db(transaction=True)
def test_each_thread_asks_over_its_own_connection_and_for_its_own_value(orders: list[Order]) -> None:
    compiled = CompiledQuery(order_rows._news)

    def ask(order: Order) -> set[str]:
        try:
            return {found.token for _ in range(20) if (found := compiled.first(order.token))}
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(ask, orders * 4))
    assert found == [{order.token} for order in orders * 4]
