"""Payments where something went wrong: late workers, returning blocks, collected money, closed orders."""

from datetime import timedelta

import pytest
import time_machine
from django.db import transaction

from billing import offers
from billing.models import (
    PaymentView,
    Transfer,
    TransferSighting,
)
from billing.rails.facts import Header, Round, TransferLog
from billing.services.apply_facts import Found, apply
from billing.services.missing_networks import report_missing
from billing.services.recompute import recompute
from core import clock, outbox
from core.models import Decision, OutgoingMail, SweepRun
from core.services.close import close_with_note
from fleet.services.sweep import release_overdue_holds
from orders.lifecycle import OrderStatus
from orders.models import Order
from orders.services.cancel import cancel
from tests import scenario
from tests.billing.told import kinds

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("shop")]


def test_a_block_that_left_the_chain_and_came_back_counts_again(order: Order) -> None:
    chain = scenario.Chain()
    chain.advance()
    transfer = chain.send(order.payment, order.payment.crypto.due_units)
    chain.look(order.payment)
    head = Header(number=chain.number, hash=chain.hash_of(chain.number), time=chain.time)
    address = order.payment.crypto.address

    def look(units: int, found: Found) -> str:
        balances = {address: units}
        seen = Round(
            head=head,
            settled=head,
            latest_balances=balances,
            settled_balances=balances,
            native_latest={address: 0},
            native_settled={address: 0},
        )
        with transaction.atomic():
            apply(order.payment, seen, found)
        return PaymentView.objects.get(payment=order.payment).status

    again = TransferLog(
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
    address = order.payment.crypto.address
    old = Header(number=order.payment.crypto.from_block, hash=chain.hash_of(1), time=order.placed_at)
    nothing = {address: 0}
    seen = Round(
        head=old,
        settled=old,
        latest_balances=nothing,
        settled_balances=nothing,
        native_latest=nothing,
        native_settled=nothing,
    )
    with transaction.atomic():
        apply(order.payment, seen, Found())
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
    assert Decision.objects.get(kind="refund_due").facts["received"] == "934.560000"


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


def test_one_decision_for_one_sum(order: Order) -> None:
    chain = scenario.Chain()
    chain.advance()
    chain.send(order.payment, order.payment.crypto.due_units)
    chain.look(order.payment)
    with transaction.atomic():
        cancel(order_id=order.public_id, actor="buyer")
    outbox.drain()
    chain.settle(order.payment)
    outbox.drain()
    assert kinds(order) == ["refund_due"]


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
