"""Payments where something went wrong: late workers, returning blocks, collected money, closed orders."""

from datetime import timedelta

import pytest
import time_machine
from django.db import transaction

from billing import offers
from billing.models import (
    PaymentView,
    Refund,
    Transfer,
    TransferSighting,
)
from billing.rails.facts import Header, Holdings, TransferLog
from billing.services.apply_facts import Found, apply
from billing.services.missing_networks import report_missing
from billing.services.recompute import recompute
from core import clock, outbox
from core.models import Decision, Event, OutgoingMail, SweepRun
from core.services.close import close_with_note
from fleet.services.sweep import release_overdue_holds
from orders.lifecycle import OrderStatus
from orders.models import Order
from orders.services.cancel import cancel
from tests import scenario
from tests.billing import money
from tests.billing.told import kinds

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("shop")]


def holdings(order: Order, at: Header, units: int) -> Holdings:
    """That much of the asked token at a block that is head and settled, and no native coin."""
    address = order.payment.crypto.address
    held = {"": {address: 0}, order.payment.crypto.contract: {address: units}}
    return Holdings(head=at, settled=at, at_head=held, at_settled=held)


def test_a_block_that_left_the_chain_and_came_back_counts_again(order: Order) -> None:
    chain = scenario.Chain()
    chain.advance()
    transfer = chain.send(order.payment, order.payment.crypto.due_units)
    chain.look(order.payment)
    head = Header(number=chain.number, hash=chain.hash_of(chain.number), time=chain.time)
    address = order.payment.crypto.address

    def look(units: int, found: Found) -> str:
        with transaction.atomic():
            apply(order.payment, order.payment.crypto.chain_id, holdings(order, head, units), found)
        return PaymentView.objects.get(payment=order.payment).status

    again = TransferLog(
        contract=transfer.asset_contract,
        tx_hash=transfer.tx_hash,
        ordinal_in_tx=transfer.ordinal,
        block_number=transfer.block_number,
        block_hash=transfer.block_hash,
        block_time=transfer.block_time,
        sender=transfer.sender,
        recipient=address,
        units=transfer.units,
    )
    due = order.payment.crypto.due_units
    assert look(0, Found(gone=[transfer])) == "awaiting"
    assert look(0, Found(gone=[transfer])) == "awaiting"
    assert look(due, Found(logs=[again])) == "settled"
    assert Transfer.objects.count() == 1
    assert list(TransferSighting.objects.values_list("in_chain", flat=True)) == [False, True]


def _mails(order: Order) -> list[str]:
    return list(OutgoingMail.objects.filter(order_ref=order.public_id).values_list("text", flat=True))


def test_a_late_worker_changes_nothing(order: Order) -> None:
    chain = scenario.Chain()
    scenario.pay(order, chain=chain)
    old = Header(number=order.payment.crypto.from_block, hash=chain.hash_of(1), time=order.placed_at)
    with transaction.atomic():
        apply(order.payment, order.payment.crypto.chain_id, holdings(order, old, 0), Found())
    assert PaymentView.objects.get(payment=order.payment).status == "settled"


def test_money_that_the_operator_collected_is_still_due_back_after_a_cancel(order: Order) -> None:
    chain = scenario.Chain()
    scenario.pay(order, chain=chain)
    chain.advance(blocks=3)
    with transaction.atomic():
        for kind in ("head", "settled"):
            chain._read(order.payment, kind, chain.number, 0)
        recompute(order_id=order.public_id)
    view = PaymentView.objects.get(payment=order.payment)
    assert (view.status, view.flags) == ("settled", ["swept"])
    with transaction.atomic():
        cancel(order_id=order.public_id, actor="buyer")
    outbox.drain()
    assert Refund.objects.get().units == 934_560_000


def test_money_that_comes_after_the_operator_collected_stops_no_lease(order: Order) -> None:
    """Weeks later the buyer, or an exchange, sends a small sum to the emptied address: it is excess, no reversal."""
    chain = scenario.Chain()
    scenario.pay(order, chain=chain)
    for left in (0, 5_000_000):
        chain.advance(blocks=3)
        if left:
            chain.send(order.payment, left)
        with transaction.atomic():
            for kind in ("head", "settled"):
                chain._read(order.payment, kind, chain.number, left)
            view = recompute(order_id=order.public_id)
        assert view is not None
        assert view.status == "settled"
        outbox.drain()
    after = PaymentView.objects.get(payment=order.payment)
    assert (after.settled_units, after.flags) == (939_560_000, ["over", "swept"])
    assert not Event.objects.filter(name="payment.reversed").exists()
    money.check_books()
    books = money.balances(order)
    assert (books["deposits:local", "local:USDC"], books["collected", "local:USDC"]) == (
        5_000_000,
        934_560_000,
    )
    assert books["excess", "local:USDC"] == -5_000_000


def test_nobody_is_asked_to_pay_for_an_order_that_is_closed(order: Order) -> None:
    with transaction.atomic():
        cancel(order_id=order.public_id, actor="buyer")
    scenario.pay(order, units=1_000_000)
    assert any("Do not send more" in text for text in _mails(order))
    assert not any("Send the rest" in text for text in _mails(order))


def test_a_decision_that_staff_closed_stays_closed(order: Order) -> None:
    chain = scenario.Chain()
    chain.advance()
    chain.send(order.payment, order.payment.crypto.due_units + 5)
    chain.look(order.payment)
    first = Decision.objects.get(kind="payment_over")
    close_with_note(decision=first, actor="staff", reason="sent back by hand")
    chain.settle(order.payment)
    chain.advance()
    chain.look(order.payment)
    assert Decision.objects.filter(kind="payment_over").count() == 1
    chain.send(order.payment, 7)
    chain.look(order.payment)
    assert Decision.objects.filter(kind="payment_over", closed_at=None).count() == 1


def test_an_asset_that_left_the_file_is_reported_and_closed_again(
    order: Order, monkeypatch: pytest.MonkeyPatch
) -> None:
    report_missing()
    assert not Decision.objects.exists()
    known = offers.networks
    monkeypatch.setattr(offers, "networks", dict)
    report_missing()
    report_missing()
    assert Decision.objects.filter(kind="network_missing", closed_at=None).count() == 1
    monkeypatch.setattr(offers, "networks", known)
    report_missing()
    assert not Decision.objects.filter(closed_at=None).exists()


def test_c17_money_between_the_check_and_the_order_never_counts() -> None:
    chain = scenario.Chain(number=150)
    chain.advance(to=clock.now() - timedelta(hours=2))
    order = scenario.order()
    chain.send(order.payment, order.payment.crypto.due_units)
    chain.look(order.payment)
    chain.advance(to=clock.now(), blocks=3)
    assert chain.look(order.payment).status == "awaiting"


def test_c30_overdue_holds_wait_until_the_chains_were_read_again(order: Order) -> None:
    SweepRun.objects.create(name="networks", last_finished_at=clock.system_now())
    chain = scenario.Chain()
    chain.advance(to=order.placed_at + timedelta(minutes=10), blocks=3)
    chain.send(order.payment, order.payment.crypto.due_units)
    with time_machine.travel(order.placed_at + timedelta(hours=9), tick=False):
        assert release_overdue_holds() == 0
        chain.advance(to=clock.now(), blocks=3)
        chain.look(order.payment)
        outbox.drain()
        SweepRun.objects.update(last_finished_at=clock.system_now())
        assert release_overdue_holds() == 0
    order.refresh_from_db()
    assert order.status == OrderStatus.PAID


def test_overdue_holds_go_while_the_chains_are_read(order: Order) -> None:
    with time_machine.travel(order.placed_at + timedelta(hours=9), tick=False):
        SweepRun.objects.create(name="networks", last_finished_at=clock.system_now())
        assert release_overdue_holds() == 1


def test_one_refund_for_one_sum(order: Order) -> None:
    chain = scenario.Chain()
    chain.advance()
    chain.send(order.payment, order.payment.crypto.due_units)
    chain.look(order.payment)
    with transaction.atomic():
        cancel(order_id=order.public_id, actor="buyer")
    outbox.drain()
    chain.settle(order.payment)
    outbox.drain()
    assert [row.units for row in Refund.objects.all()] == [order.payment.crypto.due_units]
    assert kinds(order) == []


def test_a_part_that_became_whole_too_late_is_one_decision(order: Order) -> None:
    chain = scenario.Chain()
    chain.advance()
    chain.send(order.payment, 1_000_000)
    chain.settle(order.payment)
    with time_machine.travel(order.payment.expires_at + timedelta(minutes=1), tick=False):
        chain.advance(to=clock.now(), blocks=3)
        chain.look(order.payment)
        assert kinds(order) == ["payment_partial"]
        chain.advance()
        chain.send(order.payment, order.payment.crypto.due_units - 1_000_000)
        chain.settle(order.payment)
    assert kinds(order) == ["payment_late"]
