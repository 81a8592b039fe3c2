"""Orders that are paid: on their way to the term, in it, and at its end."""

from datetime import timedelta

from django.db import transaction

from billing.services.early_end import early_end
from core import clock, outbox
from fleet import locks
from fleet.lifecycle import LEASE, LeaseStatus
from fleet.models import Lease
from fleet.services.deadlines import apply_deadlines
from fleet.services.export import declare
from fleet.services.repair import move_degraded
from fleet.services.sweep import advance_lease
from fleet.services.watch_health import watch_health
from orders.models import Order
from tests import cards, scenario
from tests.fleet.open_leases import drop_card, mend
from tests.terms import extension, lease_of


def paid() -> Order:
    row = scenario.order()
    scenario.pay(row)
    row.refresh_from_db()
    return row


def paid_by_card() -> Order:
    row = cards.order()
    cards.pay(row)
    return row


def over() -> Order:
    row = scenario.order()
    scenario.pay(row, units=row.payment.crypto.due_units + 4_500_000)
    return row


def _step(row: Order, *states: LeaseStatus) -> Lease:
    with transaction.atomic():
        lease = locks.lease_of_order_for_update(row.public_id)
        assert lease is not None
        for state in states:
            LEASE.advance(lease, state, order_ref=row.public_id)
    outbox.drain()
    return lease


def preparing() -> Order:
    row = paid()
    _step(row, LeaseStatus.PREPARING)
    return row


def testing() -> Order:
    row = paid()
    _step(row, LeaseStatus.PREPARING, LeaseStatus.TESTING)
    return row


def late_delivery() -> Order:
    row = preparing()
    lease = lease_of(row)
    lease.ready_by = clock.now() - timedelta(minutes=2)
    lease.save()
    apply_deadlines(lease_id=lease.pk)
    outbox.drain()
    return row


def suspended() -> Order:
    row = scenario.order()
    chain = scenario.Chain()
    chain.advance()
    transfer = chain.send(row.payment, row.payment.crypto.due_units)
    chain.look(row.payment)
    chain.settle(row.payment)
    outbox.drain()
    advance_lease(lease_id=lease_of(row).pk)
    chain.drop(transfer)
    chain.advance(blocks=3)
    chain.look(row.payment)
    outbox.drain()
    return row


# The term.


def active(row: Order | None = None) -> Order:
    row = row or scenario.order(scenario.quote(options=[("nvme-extra", 1), ("priority-support", 1)]))
    scenario.pay(row)
    advance_lease(lease_id=lease_of(row).pk)
    outbox.drain()
    row.refresh_from_db()
    assert row.status == "active"
    return row


def degraded() -> Order:
    row = active()
    drop_card(lease_of(row))
    watch_health()
    outbox.drain()
    return row


def moving() -> Order:
    row = degraded()
    move_degraded(order_ref=row.public_id, actor="buyer")
    outbox.drain()
    return row


def repaired() -> Order:
    """Whole again; the minutes without a card are on record."""
    row = active()
    fault = drop_card(lease_of(row))
    watch_health()
    lease_of(row).outages.update(began_at=clock.now() - timedelta(minutes=61))
    mend(fault)
    watch_health()
    outbox.drain()
    return row


def export_window() -> Order:
    row = active()
    declare(order_ref=row.public_id, size_bytes=1_200_000_000_000, rate_bytes_s=250_000_000)
    _ends_in(row, timedelta(hours=5))
    return row


def past_last_safe_start() -> Order:
    row = active()
    declare(order_ref=row.public_id, size_bytes=9_000_000_000_000, rate_bytes_s=250_000_000)
    _ends_in(row, timedelta(minutes=50))
    return row


def _ends_in(row: Order, left: timedelta) -> None:
    lease = lease_of(row)
    lease.ends_at = clock.now() + left
    lease.ready_at = lease.ends_at - timedelta(days=3)
    lease.save()
    apply_deadlines(lease_id=lease.pk)
    outbox.drain()


def extension_open() -> Order:
    row = active()
    extension(row)
    return row


def extension_joined() -> Order:
    row = active()
    _join(row)
    return row


def _join(row: Order) -> Order:
    more = extension(row)
    scenario.pay(more)
    advance_lease(lease_id=lease_of(row).pk)
    outbox.drain()
    more.refresh_from_db()
    assert more.status == "active"
    return more


def extension_failed() -> Order:
    """Paid for and not joined before the lease ended."""
    row = active()
    more = extension(row)
    scenario.pay(more)
    with transaction.atomic():
        lease = locks.lease_of_order_for_update(row.public_id)
        assert lease is not None
        LEASE.advance(lease, LeaseStatus.ENDING, order_ref=row.public_id, payload={"reason": "term_over"})
    outbox.drain()
    more.refresh_from_db()
    assert more.status == "failed"
    return more


# The end.


def ending() -> Order:
    row = active()
    _step(row, LeaseStatus.ENDING)
    return row


def wiping() -> Order:
    row = active()
    _step(row, LeaseStatus.ENDING, LeaseStatus.WIPING)
    return row


def ended_early() -> Order:
    row = active()
    early_end(order_id=row.public_id, actor="buyer")
    advance_lease(lease_id=lease_of(row).pk)
    outbox.drain()
    return row


def ended() -> Order:
    row = active()
    lease = lease_of(row)
    lease.ready_at = clock.now() - timedelta(days=3, minutes=1)
    lease.ends_at = clock.now() - timedelta(minutes=1)
    lease.save()
    advance_lease(lease_id=lease.pk)
    outbox.drain()
    row.refresh_from_db()
    assert row.status == "ended"
    return row
