"""Payments as rows: facts in, states and events out, backwards too; claims; the pool."""

import itertools
from datetime import timedelta

import pytest
import time_machine
from django.conf import settings
from django.db import DatabaseError, connection, transaction

from billing import locks, pool
from billing.lifecycle import PAYMENT, REFUND, PaymentStatus, RefundStatus
from billing.models import (
    AddressCheck,
    BalanceReading,
    Claim,
    DepositAddress,
    PaymentView,
    Transfer,
)
from billing.services.claim import claim, clean_hash
from billing.services.demo_pay import request_demo_transfer
from core import clock, outbox
from core.errors import Conflict, Forbidden, Invalid, NotFound, TooMany
from core.lifecycle import IllegalStep
from core.models import Decision, OutgoingMail
from fleet.lifecycle import LeaseStatus
from fleet.models import Hold, Lease
from orders.lifecycle import OrderStatus
from orders.models import Order
from tests import scenario
from tests.billing.told import kinds, told

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("shop")]


def test_seen_then_settled_tells_each_once(order: Order) -> None:
    view = scenario.pay(order)
    chain = scenario.Chain(number=400)
    chain.look(order.payment)
    chain.look(order.payment)
    assert view.status == PaymentStatus.SETTLED
    assert told(order) == ["payment.seen", "payment.settled"]
    assert kinds(order) == []


def test_c02_parts_each_tell_what_is_missing(order: Order) -> None:
    chain = scenario.Chain()
    due = order.payment.crypto.due_units
    for units in (due - 1_000_000, 900_000, 100_000):
        chain.advance()
        chain.send(order.payment, units)
        chain.look(order.payment)
    chain.settle(order.payment)
    outbox.drain()
    order.refresh_from_db()
    assert order.status == OrderStatus.PAID
    assert told(order) == ["payment.partial", "payment.partial", "payment.seen", "payment.settled"]
    partial = OutgoingMail.objects.filter(key__contains=":partial:")
    assert partial.count() == 2
    assert Transfer.objects.filter(payment=order.payment).count() == 3


def test_a_part_at_the_expiry_is_a_decision_and_the_cards_go(order: Order) -> None:
    chain = scenario.Chain()
    chain.advance()
    chain.send(order.payment, 1_000_000)
    chain.settle(order.payment)
    with time_machine.travel(order.payment.expires_at + timedelta(minutes=1), tick=False):
        chain.advance(to=clock.now(), blocks=3)
        view = chain.look(order.payment)
        outbox.drain()
    order.refresh_from_db()
    assert (view.status, order.status) == (PaymentStatus.EXPIRED, OrderStatus.EXPIRED)
    assert kinds(order) == ["payment_partial"]
    assert Hold.objects.get(ref=order.public_id).released_at is not None


def test_nothing_expires_while_the_chain_is_silent(order: Order) -> None:
    chain = scenario.Chain()
    chain.look(order.payment)
    with time_machine.travel(order.payment.expires_at + timedelta(hours=9), tick=False):
        order.payment.view.refresh_from_db()
        assert order.payment.view.status == PaymentStatus.AWAITING
        assert order.payment.view.unpaid_confirmed_at is None


def test_c30_catch_up_finds_money_that_was_on_time(order: Order) -> None:
    chain = scenario.Chain()
    chain.advance(to=order.placed_at + timedelta(minutes=10))
    transfer_block = chain.number
    chain.advance(to=order.placed_at + timedelta(hours=9), blocks=1)
    with time_machine.travel(chain.time, tick=False):
        # The first look after the night: the transfer and blocks far past the expiry, in one round.
        chain.number, head = transfer_block, chain.number
        chain.time = chain.time_of(transfer_block)
        chain.send(order.payment, order.payment.crypto.due_units)
        chain.number, chain.time = head, chain.time_of(head)
        chain.advance(blocks=2)
        view = chain.look(order.payment)
        outbox.drain()
    assert view.status == PaymentStatus.SETTLED
    assert "payment.expired" not in told(order)


def test_c11_late_money_is_a_decision_and_provisions_nothing(order: Order) -> None:
    chain = scenario.Chain()
    with time_machine.travel(order.payment.expires_at + timedelta(minutes=3), tick=False):
        chain.advance(to=clock.now(), blocks=3)
        chain.look(order.payment)
        chain.advance()
        chain.send(order.payment, order.payment.crypto.due_units)
        view = chain.settle(order.payment)
        outbox.drain()
    order.refresh_from_db()
    assert (view.status, view.flags) == (PaymentStatus.EXPIRED, ["late"])
    assert order.status == OrderStatus.EXPIRED
    assert kinds(order) == ["payment_late"]
    assert not Lease.objects.exists()


def test_excess_is_a_decision_and_the_order_goes_on(order: Order) -> None:
    view = scenario.pay(order, units=order.payment.crypto.due_units + 4_500_000)
    order.refresh_from_db()
    assert (view.status, view.flags, order.status) == ("settled", ["over"], OrderStatus.PAID)
    decision = Decision.objects.get(kind="payment_over")
    assert decision.facts["over"] == "4.500000"


def test_c06_native_coin_is_shown_and_counts_nothing(order: Order) -> None:
    chain = scenario.Chain()
    chain.advance()
    view = chain.look(order.payment, native=25_500_000)
    assert (view.status, view.received_units) == ("awaiting", 0)
    assert kinds(order) == ["payment_wrong_asset"]


def test_c26_dropped_before_it_settled(order: Order) -> None:
    chain = scenario.Chain()
    chain.advance()
    transfer = chain.send(order.payment, order.payment.crypto.due_units)
    chain.look(order.payment)
    chain.drop(transfer)
    chain.advance()
    view = chain.look(order.payment)
    assert (view.status, view.flags) == ("awaiting", ["dropped"])
    chain.advance()
    chain.send(order.payment, order.payment.crypto.due_units)
    chain.look(order.payment)
    view = chain.settle(order.payment)
    outbox.drain()
    assert (view.status, view.flags) == ("settled", [])
    assert told(order) == ["payment.seen", "payment.dropped", "payment.seen", "payment.settled"]


def test_c26_reversed_after_it_settled_pauses_the_lease_and_resumes_it(order: Order) -> None:
    chain = scenario.Chain()
    scenario.pay(order, chain=chain)
    lease = Lease.objects.get(order_ref=order.public_id)
    chain.drop(Transfer.objects.get(payment=order.payment))
    chain.advance()
    view = chain.look(order.payment)
    outbox.drain()
    lease.refresh_from_db()
    order.refresh_from_db()
    assert (view.status, lease.status, order.status) == ("reversed", LeaseStatus.SUSPENDED, OrderStatus.PAID)
    assert kinds(order) == ["payment_reversed"]
    chain.advance()
    chain.send(order.payment, order.payment.crypto.due_units)
    view = chain.settle(order.payment)
    outbox.drain()
    lease.refresh_from_db()
    assert (view.status, lease.status) == ("settled", LeaseStatus.RESERVED)
    assert kinds(order) == []


def test_while_it_is_seen_the_cards_stay(order: Order) -> None:
    chain = scenario.Chain()
    hold = Hold.objects.get(ref=order.public_id)
    with time_machine.travel(hold.release_at - timedelta(minutes=10), tick=False):
        chain.advance(to=order.payment.expires_at - timedelta(seconds=1))
        chain.send(order.payment, order.payment.crypto.due_units)
        chain.look(order.payment)
    moved = Hold.objects.get(pk=hold.pk)
    assert moved.release_at == hold.release_at + timedelta(minutes=50)
    row = moved.reservations.get(pk=moved.reservations.first().pk)  # type: ignore[union-attr]
    assert row.period.upper == moved.release_at + timedelta(hours=2, days=3, minutes=30)


def test_c16_c20_a_transfer_belongs_to_its_recipient_and_place(order: Order) -> None:
    other = scenario.order()
    chain = scenario.Chain()
    chain.advance()
    first = chain.send(order.payment, order.payment.crypto.due_units)
    claim(order_id=other.public_id, by="buyer", transaction_hash=first.tx_hash)
    chain.look(order.payment)
    assert chain.look(other.payment).status == "awaiting"
    assert other.payment.view.received_units == 0


@pytest.mark.parametrize(
    "text", ["0x12", "f" * 64, "0x" + "g" * 64, " 0x" + "a" * 65, "0x" + "a" * 64 + "\x00"]
)
def test_c16_malformed_hashes_are_refused(text: str) -> None:
    with pytest.raises(Invalid) as refused:
        clean_hash(text)
    assert refused.value.code == "invalid_hash"


def test_c16_one_form_of_a_hash() -> None:
    assert clean_hash(f"  0x{'AB' * 32} ") == f"0x{'ab' * 32}"


def test_c19_claims_are_hints_and_bounded(order: Order) -> None:
    waits = []
    start = clock.system_now()
    for number in range(50):
        with time_machine.travel(start + timedelta(seconds=number), tick=False):
            try:
                claim(order_id=order.public_id, by="buyer")
            except TooMany as error:
                waits.append(error.retry_after_seconds or 0)
    assert (Claim.objects.count(), len(waits)) == (5, 45)
    assert min(waits) >= 1
    assert max(waits) <= settings.CLAIM_INTERVAL_SECONDS + 1
    view = PaymentView.objects.get(payment=order.payment)
    assert (view.status, view.received_units) == ("awaiting", 0)
    with pytest.raises(NotFound):
        claim(order_id="ord_unknown", by="buyer")


def test_c19_at_most_twenty_an_hour(order: Order) -> None:
    start = clock.system_now()
    for number in range(settings.CLAIM_HOURLY_LIMIT):
        with time_machine.travel(start + timedelta(seconds=20 * number), tick=False):
            claim(order_id=order.public_id, by="buyer")
    with time_machine.travel(start + timedelta(seconds=20 * settings.CLAIM_HOURLY_LIMIT), tick=False):
        with pytest.raises(TooMany) as refused:
            claim(order_id=order.public_id, by="buyer")
        assert (refused.value.retry_after_seconds or 0) > 3000


def test_demo_wallet_pays_what_is_missing_once(order: Order) -> None:
    row = request_demo_transfer(order_id=order.public_id)
    assert row.units == order.payment.crypto.due_units
    with pytest.raises(Conflict) as refused:
        request_demo_transfer(order_id=order.public_id)
    assert refused.value.code == "already_done"


def test_demo_wallet_does_not_exist_outside_the_demo(order: Order, settings: object) -> None:
    settings.DEMO = False  # type: ignore[attr-defined]
    with pytest.raises(Forbidden):
        request_demo_transfer(order_id=order.public_id)


def test_facts_are_never_changed_or_removed(order: Order) -> None:
    scenario.pay(order)
    for statement in (
        "UPDATE billing_transfer SET units = 1",
        "DELETE FROM billing_balancereading",
        "UPDATE core_event SET name = 'x'",
    ):
        with (
            pytest.raises(DatabaseError, match="never changed"),
            transaction.atomic(),
            connection.cursor() as cursor,
        ):
            cursor.execute(statement)
    assert BalanceReading.objects.exists()


def test_c17_an_address_with_a_history_is_skipped_with_a_decision() -> None:
    first = DepositAddress.objects.order_by("index").first()
    assert first is not None
    pool.record_checks(
        network="local", block_number=7, dirty={first.address: {"nonce": 3}}, addresses=[first]
    )
    first.refresh_from_db()
    assert first.status == DepositAddress.Status.SKIPPED
    assert Decision.objects.filter(kind="address_with_history").count() == 1
    assert scenario.order().payment.address_id != first.pk


def test_c17_transfers_before_the_clean_look_never_count(order: Order) -> None:
    chain = scenario.Chain(number=order.payment.crypto.from_block - 1)
    chain.send(order.payment, order.payment.crypto.due_units)
    chain.advance(blocks=5)
    view = chain.look(order.payment)
    assert (view.status, view.on_time_units) == ("awaiting", 0)


def test_the_pool_is_kept_full() -> None:
    scenario.order()
    assert pool.derive_missing() == 1
    assert DepositAddress.objects.filter(status="pooled").count() == settings.ADDRESS_POOL_SIZE
    assert AddressCheck.objects.filter(is_clean=False).count() == 0


def test_every_pair_of_payment_states(order: Order) -> None:
    view = PaymentView.objects.get(payment=order.payment)
    for origin, to in itertools.product(PaymentStatus.values, PaymentStatus.values):
        PaymentView.objects.filter(pk=view.pk).update(status=origin)
        with transaction.atomic():
            found = locks.payment_for_update(order.public_id)
            assert found is not None
            if to in PAYMENT.allowed[origin]:
                PAYMENT.advance(found[1], to, order_ref=order.public_id)
                assert told(order)[-1] == PAYMENT.event_name(origin, to)
            else:
                with pytest.raises(IllegalStep):
                    PAYMENT.advance(found[1], to, order_ref=order.public_id)


def test_refund_table_knows_every_state() -> None:
    assert set(REFUND.allowed) == set(RefundStatus.values)
    assert REFUND.allowed["verified"] == frozenset()
