"""Many checkouts at once on PostgreSQL: own addresses, one order per quote, all or nothing."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction

from billing import locks, pool
from billing.models import DepositAddress, PaymentRequest
from core.errors import Conflict, Refusal
from fleet.models import Hold, Reservation
from orders.models import Order
from orders.services.cancel import cancel
from orders.services.place import QuoteAccepted
from tests import scenario

pytestmark = pytest.mark.django_db(transaction=True)

BUYERS = 20


@pytest.fixture(autouse=True)
def shop(transactional_db: None) -> None:
    scenario.open_shop(b200_nodes=5)


def at_once(count: int, act: Callable[[int], Any]) -> list[Any]:
    """Run `act(0..count-1)` in as many threads, started together; results or the exceptions."""
    barrier = Barrier(count)

    def run(number: int) -> Any:
        try:
            barrier.wait(timeout=30)
            return act(number)
        except Exception as error:
            return error
        finally:
            connection.close()

    with ThreadPoolExecutor(count) as threads:
        return list(threads.map(run, range(count)))


def unexpected(results: list[Any], *allowed: type[BaseException]) -> list[Any]:
    return [
        result for result in results if isinstance(result, BaseException) and not isinstance(result, allowed)
    ]


def place_all(count: int = BUYERS) -> list[Any]:
    quotes = [scenario.quote() for _ in range(count)]
    return at_once(count, lambda number: scenario.order(quotes[number]))


def test_c18_twenty_orders_get_twenty_addresses() -> None:
    results = place_all()
    assert unexpected(results, Conflict) == []
    placed = [result for result in results if isinstance(result, Order)]
    addresses = list(PaymentRequest.objects.values_list("address__address", flat=True))
    assert len(placed) == len(set(addresses)) == len(addresses) > 1
    assert DepositAddress.objects.filter(status="issued").count() == len(placed)


def test_c18_control_without_the_row_lock_addresses_clash(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same race with the lock taken off must go wrong, else the test above proves nothing."""
    barrier = Barrier(2)

    def unlocked(**kwargs: Any) -> DepositAddress | None:
        row = DepositAddress.objects.filter(status="pooled").order_by("index").first()
        barrier.wait(timeout=30)
        return row

    monkeypatch.setattr(locks, "next_clean_address", unlocked)

    def take(_number: int) -> int:
        with transaction.atomic():
            return pool.take(network="local")[0].pk

    first, second = at_once(2, take)
    assert first == second


def test_s49_one_quote_sent_ten_times_makes_one_order() -> None:
    quote = scenario.quote()
    results = at_once(10, lambda _number: scenario.order(quote, owner="web:same"))
    placed = [result for result in results if isinstance(result, Order)]
    repeats = [result for result in results if isinstance(result, QuoteAccepted)]
    assert unexpected(results, QuoteAccepted, Conflict) == []
    assert len(placed) == 1
    assert {repeat.order for repeat in repeats} == set(placed)
    assert Order.objects.count() == Hold.objects.count() == PaymentRequest.objects.count() == 1


def test_s49_control_without_the_quote_lock_the_constraint_is_the_last_word(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    quote = scenario.quote()
    barrier = Barrier(2)

    def unlocked(public_id: str) -> Any:
        from_locks = type(quote).objects.select_related("lot__accelerator", "image").get(public_id=public_id)
        barrier.wait(timeout=30)
        return from_locks

    monkeypatch.setattr("orders.locks.quote_for_update", unlocked)
    results = at_once(2, lambda _number: scenario.order(quote, owner="web:same"))
    assert [type(result) for result in results].count(IntegrityError) + [
        type(result) for result in results
    ].count(RuntimeError) >= 1
    assert Order.objects.count() <= 1


def test_s49_two_cancels_give_the_cards_back_once() -> None:
    order = scenario.order()

    def cancel_once(_number: int) -> str:
        with transaction.atomic():
            return cancel(order_id=order.public_id, actor="buyer").status

    results = at_once(2, cancel_once)
    refused = [result for result in results if isinstance(result, Refusal)]
    assert results.count("cancelled") == 1
    assert [error.code for error in refused] == ["already_done"]
    assert set(Reservation.objects.values_list("status", flat=True)) == {"released"}


def test_a_refused_checkout_leaves_no_trace_beside_rivals() -> None:
    results = place_all(30)
    placed = [result for result in results if isinstance(result, Order)]
    assert unexpected(results, Conflict) == []
    assert Hold.objects.count() == len(placed) == Order.objects.count()
    assert Reservation.objects.count() == 2 * len(placed)
    codes = {result.code for result in results if isinstance(result, Conflict)}
    assert codes <= {"no_capacity", "busy"}
    assert len(placed) == 20 or "busy" in codes
