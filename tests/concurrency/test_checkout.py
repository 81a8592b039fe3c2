"""Many checkouts at once on PostgreSQL: own addresses, one order per quote, all or nothing."""

from threading import Barrier
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from billing import locks, pool
from billing.models import Claim, DepositAddress, PaymentRequest
from billing.services.claim import claim
from core.errors import Conflict, Refusal, TooMany
from core.locks import mark
from core.models import Event
from fleet.models import Hold, Reservation
from orders.models import Order, Quote
from orders.services.cancel import cancel
from orders.services.place import QuoteAccepted
from tests import scenario
from tests.races import at_once

pytestmark = pytest.mark.django_db(transaction=True)

BUYERS = 20


@pytest.fixture(autouse=True)
def shop(transactional_db: None) -> None:
    scenario.open_shop(b200_nodes=5)


def unexpected(results: list[Any], *allowed: type[BaseException]) -> list[Any]:
    return [
        result for result in results if isinstance(result, BaseException) and not isinstance(result, allowed)
    ]


def place_all(count: int = BUYERS) -> list[Any]:
    quotes = [scenario.quote() for _ in range(count)]
    return at_once(count, lambda number: scenario.order(quotes[number]))


def test_c18_twenty_orders_get_twenty_addresses() -> None:
    """Whoever hears "busy" sends again, as the sentence asks; in the end all twenty have an address of their own."""
    quotes = [scenario.quote() for _ in range(BUYERS)]
    results = at_once(BUYERS, lambda number: scenario.order(quotes[number]))
    assert unexpected(results, Conflict) == []
    assert {result.code for result in results if isinstance(result, Conflict)} <= {"busy"}
    for quote, result in zip(quotes, results, strict=True):
        if isinstance(result, Conflict):
            scenario.order(quote)
    given = PaymentRequest.objects.values_list("address__address", "address__index")
    assert len({address for address, _ in given}) == len({index for _, index in given}) == BUYERS
    assert DepositAddress.objects.filter(status="issued").count() == BUYERS


def test_c18_the_index_of_a_cancelled_order_is_never_given_again() -> None:
    order = scenario.order()
    with transaction.atomic():
        cancel(order_id=order.public_id, actor="buyer")
    burnt = order.payment.crypto.deposit
    assert scenario.order().payment.crypto.deposit.index > burnt.index
    burnt.refresh_from_db()
    assert burnt.status == "issued"


@pytest.mark.parametrize("changes", [{"address": "0x" + "ab" * 20}, {"index": 10**6}])
def test_c18_the_database_refuses_an_address_or_an_index_twice(changes: dict[str, Any]) -> None:
    """One of the two is that of a row which is there."""
    there = DepositAddress.objects.order_by("index")[0]
    values = {"address": there.address, "index": there.index} | changes
    with pytest.raises(IntegrityError), transaction.atomic():
        DepositAddress.objects.create(
            xpub_fingerprint=there.xpub_fingerprint, derived_at=there.derived_at, **values
        )


def derive_at_once(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Two workers fill the pool; both have read where it ends before the first one writes."""
    barrier = Barrier(2)
    key, read = pool.xpub(), pool.is_accepted

    class Waiting:
        fingerprint = key.fingerprint
        met = False

        def derive(self, index: int) -> str:
            if not self.met:
                self.met = True
                barrier.wait(timeout=30)
            return key.derive(index)

    DepositAddress.objects.filter(index__gte=30).delete()
    assert read()
    monkeypatch.setattr(pool, "xpub", Waiting)
    return at_once(2, lambda _number: pool.derive_missing())


def test_c18_two_workers_fill_one_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    assert unexpected(derive_at_once(monkeypatch)) == []
    assert list(DepositAddress.objects.order_by("index").values_list("index", flat=True)) == list(range(50))


def test_c18_control_without_the_clash_rule_one_worker_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    insert = type(DepositAddress.objects).bulk_create

    def insist(manager: Any, rows: Any, **_options: Any) -> Any:
        return insert(manager, rows)

    monkeypatch.setattr(type(DepositAddress.objects), "bulk_create", insist)
    assert [type(error) for error in unexpected(derive_at_once(monkeypatch))] == [IntegrityError]


def test_c18_control_without_the_row_lock_addresses_clash(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same race with the lock taken off must go wrong, else the test above proves nothing."""
    barrier = Barrier(2)

    def unlocked(**kwargs: Any) -> tuple[DepositAddress, int]:
        row = DepositAddress.objects.filter(status="pooled").order_by("index")[0]
        barrier.wait(timeout=30)
        return row, 100

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
    """Both find the quote open: the second one breaks on the constraint and not on a sentence for the buyer."""
    quote = scenario.quote()
    barrier = Barrier(2)

    def unlocked(public_id: str, **_patience: Any) -> Any:
        row = Quote.objects.select_related("lot__accelerator", "image").get(public_id=public_id)
        barrier.wait(timeout=30)
        return mark(row)

    monkeypatch.setattr("orders.locks.quote_for_update", unlocked)
    results = at_once(2, lambda _number: scenario.order(quote, owner="web:same"))
    assert sorted(type(result).__name__ for result in results) == ["IntegrityError", "Order"]
    assert Order.objects.count() == 1


def cancel_at_once(order: Order) -> list[Any]:
    def cancel_once(_number: int) -> str:
        with transaction.atomic():
            return cancel(order_id=order.public_id, actor="buyer").status

    return at_once(2, cancel_once)


def test_s49_two_cancels_give_the_cards_back_once() -> None:
    order = scenario.order()
    results = cancel_at_once(order)
    refused = [result for result in results if isinstance(result, Refusal)]
    assert results.count("cancelled") == 1
    assert [error.code for error in refused] == ["already_done"]
    assert set(Reservation.objects.values_list("status", flat=True)) == {"released"}
    assert Event.objects.filter(name="order.cancelled").count() == 1


def test_s49_control_without_the_order_lock_it_is_cancelled_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    order = scenario.order()
    barrier = Barrier(2)

    def unlocked(public_id: str) -> Order:
        row = Order.objects.select_related("quote").get(public_id=public_id)
        barrier.wait(timeout=30)
        return mark(row)

    monkeypatch.setattr("orders.locks.order_for_update", unlocked)
    assert cancel_at_once(order) == ["cancelled", "cancelled"]
    assert Event.objects.filter(name="order.cancelled").count() == 2


def test_a_refused_checkout_leaves_no_trace_beside_rivals() -> None:
    results = place_all(30)
    placed = [result for result in results if isinstance(result, Order)]
    assert unexpected(results, Conflict) == []
    assert Hold.objects.count() == len(placed) == Order.objects.count()
    assert Reservation.objects.count() == 2 * len(placed)
    codes = {result.code for result in results if isinstance(result, Conflict)}
    assert codes <= {"no_capacity", "busy"}
    assert len(placed) == 20 or "busy" in codes


def test_c16_a_hash_of_another_order_typed_during_its_own_check_pays_nothing() -> None:
    """No lock protects this: a typed hash is never read for money, so there is no protection to take off."""
    paid, other = scenario.order(), scenario.order()
    chain = scenario.Chain()
    chain.advance()
    tx_hash = chain.send(paid.payment, paid.payment.crypto.due_units).tx_hash
    typed = ["", tx_hash, "0x" + tx_hash[2:].upper(), f" {tx_hash} ", tx_hash, tx_hash]

    def act(number: int) -> str:
        if number == 0:
            return str(chain.look(paid.payment).status)
        return str(claim(order_id=other.public_id, by="page", transaction_hash=typed[number]).status)

    results = at_once(len(typed), act)
    assert unexpected(results, TooMany) == []
    assert [result for result in results if isinstance(result, str)] == ["seen", "awaiting"]
    assert chain.look(other.payment).status == "awaiting"
    assert other.payment.view.received_units == 0
    assert Claim.objects.get().transaction_hash == tx_hash
