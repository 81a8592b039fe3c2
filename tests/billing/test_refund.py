"""Refunds: bounded by what was received, once, to an address that the buyer confirmed."""

from threading import Barrier
from typing import Any

import pytest
from django.db import transaction

from billing import offers
from billing.legs import left_on
from billing.models import PaymentRequest, PaymentView, Refund
from billing.services.money_decisions import refund_by_hand, refund_excess
from billing.services.refund import open_refund
from billing.services.refund_destination import check_destination, confirm_destination
from billing.services.send_refund import mark_sent, resolve_sent
from core import outbox
from core.errors import Conflict, Invalid, NotFound, Refusal
from core.models import AuditEntry, Decision, OutgoingMail
from orders.models import Order
from orders.services.cancel import cancel
from tests import races, scenario
from tests.billing import money
from tests.billing.told import kinds, told

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("shop")]
LEG = "local:USDC"
HASH = "0x" + "ab" * 32


def paid_and_cancelled(order: Order) -> Refund:
    """All of the money is due back, and no address is known yet."""
    scenario.pay(order)
    with transaction.atomic():
        cancel(order_id=order.public_id, actor="buyer")
    outbox.drain()
    row: Refund = money.only(Refund.objects.filter(order=order))
    return row


def test_a_cancelled_order_gives_all_of_it_back_once(order: Order) -> None:
    row = paid_and_cancelled(order)
    due = order.payment.crypto.due_units
    assert (row.units, row.reason, row.status) == (due, "cancelled", "address_needed")
    assert told(order, "refund.") == ["refund.address_needed"]
    assert kinds(order) == []
    mail = OutgoingMail.objects.get(key=f"refund:{row.pk}:needed")
    assert order.get_absolute_url() in mail.text
    assert "934.56 USDC" in mail.text
    money.check_books()
    assert money.balances(order) == {
        ("deposits:local", LEG): due,
        ("refunds_due", LEG): -due,
    }


def test_money_that_comes_after_the_cancel_goes_back_too(order: Order) -> None:
    with transaction.atomic():
        cancel(order_id=order.public_id, actor="buyer")
    chain = scenario.Chain()
    scenario.pay(order, units=1_000_000, chain=chain)
    scenario.pay(order, units=2_000_000, chain=chain)
    assert money.refunds(order) == [
        ("cancelled", 1_000_000, "address_needed"),
        ("cancelled", 2_000_000, "address_needed"),
    ]
    money.check_books()


def test_money_that_is_not_final_is_not_given_back(order: Order) -> None:
    chain = scenario.Chain()
    chain.advance()
    chain.send(order.payment, order.payment.crypto.due_units)
    chain.look(order.payment)
    with transaction.atomic():
        cancel(order_id=order.public_id, actor="buyer")
    outbox.drain()
    assert money.refunds(order) == []
    chain.settle(order.payment)
    assert [units for _, units, _ in money.refunds(order)] == [order.payment.crypto.due_units]


def test_c05_only_the_excess_once_and_never_more_than_came(order: Order) -> None:
    due = order.payment.crypto.due_units
    scenario.pay(order, units=due + 4_500_000)
    order.refresh_from_db()
    assert order.status == "paid"
    decision = money.open_decision(order, "payment_over")
    refund_excess(decision=decision, actor="anna", reason="sent too much")
    with pytest.raises(Conflict) as second:
        refund_excess(decision=decision, actor="bert", reason="again")
    assert second.value.code == "already_done"
    assert money.refunds(order) == [("excess", 4_500_000, "address_needed")]
    assert Refund.objects.get().asset_contract == order.payment.asset_contract
    with pytest.raises(Refusal) as too_much:
        refund_by_hand(payment=order.payment, actor="anna", reason="x", amount="935")
    assert too_much.value.code == "refund_too_large"
    assert AuditEntry.objects.filter(action="payment.refund").count() == 1
    money.check_books()
    assert money.balances(order)["exchange", LEG] == -due


@pytest.mark.parametrize(
    ("amount", "code"),
    [("0", "invalid_amount"), ("-1", "invalid_amount"), ("x", "invalid_amount"), ("NaN", "invalid_amount"),
     ("1.0000001", "invalid_amount"), ("1e50", "invalid_amount"), ("999999", "refund_too_large")],
)  # fmt: skip
def test_an_amount_that_cannot_go_back_is_refused(order: Order, amount: str, code: str) -> None:
    scenario.pay(order)
    with pytest.raises(Refusal) as refused:
        refund_by_hand(payment=order.payment, actor="anna", reason="x", amount=amount)
    assert refused.value.code == code
    assert refused.value.field == "amount"
    assert not Refund.objects.exists()


def test_the_same_key_is_the_same_refund(order: Order) -> None:
    scenario.pay(order)
    rows = [
        open_refund(order_id=order.public_id, key="k", reason="by_hand", leg=LEG, units=units)
        for units in (5, 7)
    ]
    assert rows[0] == rows[1]
    assert Refund.objects.get().units == 5


def test_nothing_goes_back_of_what_never_came(order: Order) -> None:
    assert open_refund(order_id=order.public_id, key="k", reason="by_hand", leg=LEG) is None
    with pytest.raises(Refusal) as refused:
        open_refund(order_id=order.public_id, key="k", reason="by_hand", leg=LEG, units=1)
    assert refused.value.code == "refund_too_large"
    with pytest.raises(NotFound):
        open_refund(order_id="ord_none", key="k", reason="by_hand", leg=LEG)


BAD = [
    ("0x0000000000000000000000000000000000000000", "invalid_address"),
    ("0x5aaeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "invalid_address"),
    ("5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "invalid_address"),
    ("", "invalid_address"),
    ("\x00", "invalid_address"),
]


@pytest.mark.parametrize(("text", "code"), BAD)
def test_an_address_that_cannot_be_paid_is_refused(text: str, code: str) -> None:
    with pytest.raises(Invalid) as refused:
        check_destination(text)
    assert (refused.value.code, refused.value.field) == (code, "destination")
    assert refused.value.text


def test_our_own_addresses_and_contracts_are_refused(order: Order) -> None:
    own = order.payment.crypto.address
    token = offers.networks()["local"].assets[0].contract or ""
    for text, code in [(own, "own_address"), (own.lower(), "own_address"), (token, "contract_address")]:
        with pytest.raises(Invalid) as refused:
            check_destination(text)
        assert refused.value.code == code


def test_an_address_in_one_case_is_given_its_checksum() -> None:
    assert check_destination(money.DESTINATION.lower()) == money.DESTINATION


def test_a_confirmed_address_makes_it_due_and_asks_staff(order: Order) -> None:
    row = paid_and_cancelled(order)
    confirm_destination(order_id=order.public_id, refund_id=row.pk, destination=money.DESTINATION)
    confirm_destination(order_id=order.public_id, refund_id=row.pk, destination=money.DESTINATION)
    row.refresh_from_db()
    assert (row.status, row.destination) == ("due", money.DESTINATION)
    facts = money.open_decision(order, "refund_due").facts
    assert (facts["destination"], facts["amount"], facts["asset"]) == (
        money.DESTINATION,
        "934.560000",
        "USDC",
    )
    assert told(order, "refund.") == ["refund.address_needed", "refund.due"]
    confirm_destination(order_id=order.public_id, refund_id=row.pk, destination=money.OTHER)
    assert money.open_decision(order, "refund_due").facts["destination"] == money.OTHER
    assert told(order, "refund.") == ["refund.address_needed", "refund.due"]


def test_one_address_serves_all_that_wait_on_the_same_way(order: Order) -> None:
    scenario.pay(order)
    for number in range(2):
        open_refund(order_id=order.public_id, key=f"k{number}", reason="by_hand", leg=LEG, units=5)
    first = Refund.objects.order_by("pk")[0]
    confirm_destination(order_id=order.public_id, refund_id=first.pk, destination=money.DESTINATION)
    assert {row.destination for row in Refund.objects.all()} == {money.DESTINATION}
    later = open_refund(order_id=order.public_id, key="k9", reason="by_hand", leg=LEG, units=5)
    assert later is not None
    assert (later.status, later.destination) == ("due", money.DESTINATION)


def test_the_refund_of_another_order_is_not_found(order: Order) -> None:
    row = paid_and_cancelled(order)
    other = scenario.order()
    with pytest.raises(NotFound):
        confirm_destination(order_id=other.public_id, refund_id=row.pk, destination=money.DESTINATION)


def test_staff_enter_the_hash_once(order: Order) -> None:
    row = paid_and_cancelled(order)
    with pytest.raises(Conflict) as early:
        mark_sent(refund_id=row.pk, actor="anna", reason="sent", transaction_hash=HASH)
    assert early.value.code == "address_needed"
    confirm_destination(order_id=order.public_id, refund_id=row.pk, destination=money.DESTINATION)
    decision = money.open_decision(order, "refund_due")
    for wrong in ("", "0x12", "ab" * 32):
        with pytest.raises(Invalid) as refused:
            resolve_sent(decision=decision, actor="anna", reason="sent", transaction_hash=wrong)
        assert (refused.value.code, refused.value.field) == ("invalid_hash", "transaction_hash")
    resolve_sent(
        decision=decision, actor="anna", reason="sent", transaction_hash=HASH.upper().replace("X", "x")
    )
    row.refresh_from_db()
    assert (row.status, row.tx_hash, row.sent_by) == ("sent", HASH, "anna")
    with pytest.raises(Conflict):
        resolve_sent(decision=decision, actor="bert", reason="sent", transaction_hash=HASH)
    with pytest.raises(Conflict) as sent:
        confirm_destination(order_id=order.public_id, refund_id=row.pk, destination=money.OTHER)
    assert sent.value.code == "already_sent"
    assert not Decision.objects.filter(kind="refund_due", closed_at=None).exists()


def test_money_that_its_chain_took_back_is_not_sent(order: Order) -> None:
    chain = scenario.Chain()
    chain.advance()
    transfer = chain.send(order.payment, order.payment.crypto.due_units)
    chain.settle(order.payment)
    outbox.drain()
    with transaction.atomic():
        cancel(order_id=order.public_id, actor="buyer")
    outbox.drain()
    row = Refund.objects.get()
    confirm_destination(order_id=order.public_id, refund_id=row.pk, destination=money.DESTINATION)
    chain.drop(transfer)
    chain.advance()
    chain.look(order.payment)
    with pytest.raises(Conflict) as refused:
        mark_sent(refund_id=row.pk, actor="anna", reason="sent", transaction_hash=HASH)
    assert refused.value.code == "money_gone"
    money.check_books()
    assert money.balances(order) == {
        ("under_decision", LEG): row.units,
        ("refunds_due", LEG): -row.units,
    }


@pytest.mark.django_db(transaction=True)
def test_the_sum_holds_against_twenty_at_once(order: Order) -> None:
    scenario.pay(order)
    due = order.payment.crypto.due_units
    third = due // 3

    def give_back(number: int) -> Any:
        return open_refund(order_id=order.public_id, key=f"k{number}", reason="by_hand", leg=LEG, units=third)

    with races.own_connections():
        results = races.at_once(12, give_back)
    assert sum(isinstance(row, Refund) for row in results) == 3
    assert {row.code for row in results if isinstance(row, Refusal)} == {"refund_too_large"}
    assert sum(row.units for row in Refund.objects.all()) <= due
    money.check_books()


@pytest.mark.django_db(transaction=True)
def test_without_the_lock_more_goes_back_than_came(order: Order, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control of the race above: the same threads without the lock, or the race proves nothing."""
    scenario.pay(order)
    third = order.payment.crypto.due_units // 3
    everybody_has_read = Barrier(6, timeout=30)

    def unlocked(order_id: str) -> tuple[Order, PaymentView]:
        payment = PaymentRequest.objects.select_related("order__quote", "view__payment__address").get(
            order__public_id=order_id
        )
        return payment.order, payment.view

    def left_and_wait(*arguments: Any) -> int:
        left = left_on(*arguments)
        if not everybody_has_read.broken:
            everybody_has_read.wait()
        return left

    monkeypatch.setattr("billing.locks.payment_for_update", unlocked)
    monkeypatch.setattr("billing.services.refund.left_on", left_and_wait)
    monkeypatch.setattr("billing.services.refund.post_locked", lambda *_, **__: None)
    with races.own_connections():
        races.at_once(
            6,
            lambda number: open_refund(
                order_id=order.public_id, key=f"k{number}", reason="by_hand", leg=LEG, units=third
            ),
        )
    assert sum(row.units for row in Refund.objects.all()) > order.payment.crypto.due_units
