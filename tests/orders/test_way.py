"""The way of an order: paid, cancelled, expired, following its lease; each handler twice changes nothing."""

import itertools
from datetime import timedelta

import pytest
import time_machine
from django.db import transaction

from billing.models import Refund
from core import clock, outbox
from core.errors import Conflict
from core.formats import instant_text
from core.lifecycle import IllegalStep
from core.models import Decision, Event, OutboxRow, OutgoingMail
from fleet import locks as fleet_locks
from fleet.lifecycle import LEASE, LeaseStatus
from fleet.models import Hold, Lease
from fleet.services.deadlines import apply_deadlines
from fleet.services.release import release_locked
from fleet.services.suspend import resume, suspend
from orders import locks, tasks
from orders.lifecycle import ORDER, QUOTE, OrderStatus, QuoteStatus
from orders.models import Order
from orders.services.cancel import cancel
from tests import scenario

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def shop(db: None) -> None:
    scenario.open_shop()


def names(order: Order) -> list[str]:
    return list(Event.objects.filter(order_ref=order.public_id).values_list("name", flat=True))


def test_settled_money_makes_one_lease() -> None:
    order = scenario.order()
    scenario.pay(order)
    order.refresh_from_db()
    lease = Lease.objects.get(order_ref=order.public_id)
    assert order.status == OrderStatus.PAID
    assert lease.status == LeaseStatus.RESERVED
    assert lease.keys.count() == 1
    assert {row.status for row in lease.hold.reservations.all()} == {"committed"}
    assert [name for name in names(order) if name.startswith(("order.", "lease."))] == [
        "order.placed",
        "lease.reserved",
        "order.paid",
    ]


def test_every_handler_twice_changes_nothing() -> None:
    order = scenario.order()
    scenario.pay(order)
    before = (Event.objects.count(), OutgoingMail.objects.count(), Lease.objects.count())
    for row in OutboxRow.objects.select_related("event"):
        with transaction.atomic():
            outbox._handlers[row.handler](row.event)
    assert (Event.objects.count(), OutgoingMail.objects.count(), Lease.objects.count()) == before


def _lease_to(order: Order, *steps: str) -> Lease:
    lease = Lease.objects.get(order_ref=order.public_id)
    for step in steps:
        with transaction.atomic():
            locked = fleet_locks.lease_for_update(lease.pk)
            if step == LeaseStatus.READY:
                locked.ends_at = clock.now() + timedelta(days=3)
            LEASE.advance(locked, step, order_ref=order.public_id, also=["ends_at"])
        outbox.drain()
    lease.refresh_from_db()
    return lease


def test_the_order_follows_its_lease_to_the_end() -> None:
    order = scenario.order()
    scenario.pay(order)
    seen = []
    for step in ("preparing", "testing", "ready", "ending", "wiping", "closed"):
        _lease_to(order, step)
        order.refresh_from_db()
        seen.append(order.status)
    assert seen == ["provisioning", "provisioning", "active", "active", "active", "ended"]
    kinds = [mail.key.rsplit(":", 1)[-1] for mail in OutgoingMail.objects.order_by("id")]
    assert kinds == ["placed", "paid", "ready", "ended"]


def test_a_failed_lease_fails_the_order_and_a_refund_is_due() -> None:
    order = scenario.order()
    scenario.pay(order)
    _lease_to(order, "preparing", "failed")
    order.refresh_from_db()
    assert order.status == OrderStatus.FAILED
    assert [row.units for row in Refund.objects.filter(order=order)] == [order.payment.due_units]


def test_cancel_before_payment_gives_the_cards_back_once() -> None:
    order = scenario.order()
    with transaction.atomic():
        cancel(order_id=order.public_id, actor="buyer")
    order.refresh_from_db()
    hold = Hold.objects.get(ref=order.public_id)
    assert order.status == OrderStatus.CANCELLED
    assert hold.released_at is not None
    with pytest.raises(Conflict) as refused, transaction.atomic():
        cancel(order_id=order.public_id, actor="buyer")
    assert refused.value.code == "already_done"
    assert names(order).count("order.cancelled") == 1


def test_cancel_after_payment_ends_the_lease_and_money_is_due_back() -> None:
    order = scenario.order()
    scenario.pay(order)
    with transaction.atomic():
        cancel(order_id=order.public_id, actor="buyer")
    outbox.drain()
    order.refresh_from_db()
    lease = Lease.objects.get(order_ref=order.public_id)
    assert (order.status, lease.status) == (OrderStatus.CANCELLED, LeaseStatus.ENDING)
    assert [row.units for row in Refund.objects.filter(order=order)] == [934_560_000]
    _lease_to(order, "wiping", "closed")
    order.refresh_from_db()
    assert order.status == OrderStatus.CANCELLED


def test_cancel_after_the_start_names_the_early_end() -> None:
    order = scenario.order()
    scenario.pay(order)
    _lease_to(order, "preparing", "testing", "ready")
    with pytest.raises(Conflict) as refused, transaction.atomic():
        cancel(order_id=order.public_id, actor="buyer")
    assert refused.value.code == "already_started"
    assert "early" in refused.value.text


def test_money_for_a_cancelled_order_goes_back() -> None:
    order = scenario.order()
    with transaction.atomic():
        cancel(order_id=order.public_id, actor="buyer")
    outbox.drain()
    scenario.pay(order)
    order.refresh_from_db()
    assert order.status == OrderStatus.CANCELLED
    assert not Lease.objects.exists()
    assert [row.reason for row in Refund.objects.filter(order=order)] == ["cancelled"]


def test_money_on_time_that_is_found_after_the_cards_went() -> None:
    order = scenario.order()
    chain = scenario.Chain()
    chain.advance(to=order.payment.expires_at - timedelta(minutes=1))
    chain.send(order.payment, order.payment.due_units)
    hold = Hold.objects.get(ref=order.public_id)
    with time_machine.travel(hold.release_at + timedelta(hours=1), tick=False):
        with transaction.atomic():
            locked = fleet_locks.hold_for_update(order.public_id)
            assert locked is not None
            release_locked(locked)
        chain.settle(order.payment)
        outbox.drain()
    order.refresh_from_db()
    assert order.status == OrderStatus.EXPIRED
    assert order.payment.view.status == "settled"
    assert "order.no_capacity" in names(order)
    assert Decision.objects.filter(kind="order_no_capacity").count() == 1
    assert not Lease.objects.exists()


def test_every_pair_of_order_states() -> None:
    order = scenario.order()
    for origin, to in itertools.product(OrderStatus.values, OrderStatus.values):
        Order.objects.filter(pk=order.pk).update(status=origin, paid_at=clock.now())
        told = len(names(order))
        with transaction.atomic():
            locked = locks.order_for_update(order.public_id)
            assert locked is not None
            if to in ORDER.allowed[origin]:
                ORDER.advance(locked, to, order_ref=order.public_id)
                assert names(order)[told:] == [f"order.{to}"]
            else:
                with pytest.raises(IllegalStep):
                    ORDER.advance(locked, to, order_ref=order.public_id)
                assert len(names(order)) == told
        order.refresh_from_db()
        assert order.status == (to if to in ORDER.allowed[origin] else origin)


def test_every_pair_of_quote_states() -> None:
    pairs = {
        (origin, to) for origin in QuoteStatus.values for to in QuoteStatus.values if QUOTE.can(origin, to)
    }
    assert pairs == {("open", "accepted"), ("open", "expired")}


def test_no_state_without_a_lock() -> None:
    order = scenario.order()
    with pytest.raises(RuntimeError), transaction.atomic():
        ORDER.advance(order, OrderStatus.CANCELLED, order_ref=order.public_id)


def test_handlers_are_named_as_wired() -> None:
    assert {"orders.on_payment", "orders.on_lease"} <= outbox.registered()
    assert tasks.sweep_quotes.name == "orders.sweep_quotes"


def test_staff_end_before_access_opened_fails_the_order_and_money_is_due_back() -> None:
    order = scenario.order()
    scenario.pay(order)
    _lease_to(order, "preparing", "ending", "wiping", "closed")
    order.refresh_from_db()
    assert order.status == OrderStatus.FAILED
    assert [row.units for row in Refund.objects.filter(order=order)] == [order.payment.due_units]
    assert not OutgoingMail.objects.filter(key__endswith=":ended").exists()


def test_money_that_a_reorg_took_for_good_closes_the_order_without_a_refund() -> None:
    order = scenario.order()
    scenario.pay(order)
    Lease.objects.filter(order_ref=order.public_id).update(end_reason="reversed")
    _lease_to(order, "preparing", "suspended", "ending")
    order.refresh_from_db()
    assert order.status == OrderStatus.FAILED
    assert not Refund.objects.exists()
    assert OutgoingMail.objects.filter(key__endswith=":reversed").count() == 1
    assert not OutgoingMail.objects.filter(key__endswith=":failed").exists()


def test_cancel_hears_of_the_start_before_the_order_does() -> None:
    order = scenario.order()
    scenario.pay(order)
    _lease_to(order, "preparing", "testing")
    lease = Lease.objects.get(order_ref=order.public_id)
    with transaction.atomic():
        locked = fleet_locks.lease_for_update(lease.pk)
        locked.ends_at = clock.now() + timedelta(days=3)
        LEASE.advance(locked, LeaseStatus.READY, order_ref=order.public_id, also=["ends_at"])
    with pytest.raises(Conflict) as refused, transaction.atomic():
        cancel(order_id=order.public_id, actor="buyer")
    assert refused.value.code == "already_started"


def test_a_ready_lease_makes_up_for_an_event_that_was_parked() -> None:
    order = scenario.order()
    scenario.pay(order)
    lease = Lease.objects.get(order_ref=order.public_id)
    with transaction.atomic():
        LEASE.advance(
            fleet_locks.lease_for_update(lease.pk), LeaseStatus.PREPARING, order_ref=order.public_id
        )
    OutboxRow.objects.filter(event__name="lease.preparing").update(status=OutboxRow.Status.PARKED)
    _lease_to(order, "testing", "ready")
    order.refresh_from_db()
    assert order.status == OrderStatus.ACTIVE


def test_a_reversal_is_never_applied_before_the_settlement() -> None:
    order = scenario.order()
    chain = scenario.Chain()
    chain.advance()
    transfer = chain.send(order.payment, order.payment.due_units)
    chain.settle(order.payment)
    chain.drop(transfer)
    chain.advance()
    chain.look(order.payment)
    later = OutboxRow.objects.get(event__name="payment.reversed", handler="orders.on_payment")
    assert not outbox.process(later.pk)
    outbox.drain()
    assert Lease.objects.get(order_ref=order.public_id).status == LeaseStatus.SUSPENDED


def test_each_promise_of_delivery_that_is_missed_is_told() -> None:
    """Late, paused for reversed money, promised anew and late again: the second time is not silent either."""
    order = scenario.order()
    scenario.pay(order)
    lease = Lease.objects.get(order_ref=order.public_id)
    promises = []
    for _promise in range(2):
        lease.refresh_from_db()
        promises.append(lease.ready_by)
        clock.skip(lease.ready_by - clock.now())
        for _sweep in range(2):
            apply_deadlines(lease_id=lease.pk)
            outbox.drain()
        assert suspend(order_ref=order.public_id)
        clock.skip(timedelta(hours=1))
        assert Decision.objects.filter(kind="lease_late", closed_at=None).count() == 1
        assert resume(order_ref=order.public_id)
        assert not Decision.objects.filter(kind="lease_late", closed_at=None).exists()
    outbox.drain()
    (*_earlier, resumed) = OutgoingMail.objects.filter(key__contains=":resumed-").order_by("pk")
    lease.refresh_from_db()
    assert f"access works by {instant_text(lease.ready_by, style='sentence')}" in resumed.text, (
        "nothing is open yet"
    )
    mails = OutgoingMail.objects.filter(subject__contains="Delivery is late").order_by("pk")
    for mail, promise in zip(mails, promises, strict=True):
        assert instant_text(promise, style="sentence") in mail.text
