"""Steps that only time decides: late, failed, end of term, end of a suspension, export window."""

from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.backends.postgresql.psycopg_any import DateTimeTZRange
from django.db.models import Min
from django.db.models.functions import Lower

from core import clock, decisions, events
from fleet import locks, selectors
from fleet.lifecycle import LEASE, OPEN_STATES, PREPARATION_STATES, LeaseStatus, ReservationStatus
from fleet.models import Lease, MaintenanceWindow, Reservation
from fleet.periods import export_window, turnaround
from fleet.services.end import begin_end
from fleet.services.release import release_locked

FAILED_KIND = "lease_failed"
# Questions about a delivery that will not come any more.
_OVER_WITH_FAILURE = ("lease_late", "lease_failing", "delivery_mismatch")


def apply_deadlines(*, lease_id: int) -> None:
    """Do what the product's clock asks of this lease. Locks the lease, then its cards and reservations where the
    period moves. Needs no claim: a worker in the middle of a step finds the state changed. Safe to repeat.
    """
    if not _is_due(Lease.objects.get(pk=lease_id), clock.now()):
        return
    with transaction.atomic():
        lease = locks.lease_for_update(lease_id)
        moment = clock.now()
        if lease.status in PREPARATION_STATES:
            _check_ready_by(lease, moment)
        elif lease.status in OPEN_STATES or lease.status == LeaseStatus.SUSPENDED:
            _check_term(lease, moment)


def _is_due(lease: Lease, moment: datetime) -> bool:
    if lease.status in PREPARATION_STATES:
        return moment >= lease.ready_by
    if lease.status in OPEN_STATES or lease.status == LeaseStatus.SUSPENDED:
        return _is_over(lease, moment) or _is_reversed(lease, moment) or _is_export_due(lease, moment)
    return False


def _is_over(lease: Lease, moment: datetime) -> bool:
    return lease.ends_at is not None and moment >= lease.ends_at


def reversed_until(lease: Lease) -> datetime | None:
    """Until when a suspended lease keeps its cards and data for money that may return; None where it is not paused."""
    if lease.status != LeaseStatus.SUSPENDED or lease.suspended_at is None:
        return None
    until = lease.suspended_at + timedelta(seconds=settings.REVERSED_GRACE_SECONDS)
    return until if lease.ends_at is None else min(until, lease.ends_at)


def _is_reversed(lease: Lease, moment: datetime) -> bool:
    until = reversed_until(lease)
    return until is not None and moment >= until


def _is_export_due(lease: Lease, moment: datetime) -> bool:
    return (
        lease.status in OPEN_STATES
        and lease.export_window_at is None
        and lease.ends_at is not None
        and moment >= lease.ends_at - export_window(lease.hold.term_seconds)
    )


def _check_term(lease: Lease, moment: datetime) -> None:
    # The window is told even where the end was reached in one leap of the clock: the log has no hole then.
    if _is_export_due(lease, moment) and lease.ends_at is not None:
        lease.export_window_at = moment
        lease.save(update_fields=["export_window_at"])
        events.emit(
            name="lease.export_window",
            subject=f"lease:{lease.pk}",
            order_ref=lease.order_ref,
            payload={"ends_at": lease.ends_at.isoformat()},
        )
    if _is_over(lease, moment) or _is_reversed(lease, moment):
        # A lease that ends while its money is gone ends for that reason, whichever time came first.
        unpaid = lease.status == LeaseStatus.SUSPENDED
        begin_end(lease, reason="reversed" if unpaid else "term_over")


def _check_ready_by(lease: Lease, moment: datetime) -> None:
    if moment < lease.ready_by:
        return
    if lease.late_at is None:
        make_room(lease)
        until = last_ready_moment(lease)
        lease.late_at = moment
        lease.save(update_fields=["late_at"])
        events.emit(
            name="lease.late",
            subject=f"lease:{lease.pk}",
            order_ref=lease.order_ref,
            payload={"ready_by": lease.ready_by.isoformat(), "until": until.isoformat()},
        )
        decisions.open_decision(
            kind="lease_late",
            subject=f"lease:{lease.pk}",
            order_ref=lease.order_ref,
            facts={
                "ready_by": lease.ready_by.isoformat(),
                "until": until.isoformat(),
                "last_error": lease.last_error,
                "waits_for": selectors.predecessors(lease),
            },
            due_at=until,
        )
    if moment >= last_ready_moment(lease):
        fail_late(lease)


def fail_late(lease: Lease) -> None:
    """A locked lease did not come in time: the order fails, its refund follows, and staff hear why."""
    why = {"ready_by": lease.ready_by.isoformat(), "last_error": lease.last_error, "state": lease.status}
    fail(lease, reason="late")
    subject = f"lease:{lease.pk}"
    for kind in _OVER_WITH_FAILURE:
        decisions.close_open(kind=kind, subject=subject, reason="The lease has failed.")
    decisions.open_decision(kind=FAILED_KIND, subject=subject, order_ref=lease.order_ref, facts=why)


def fail(lease: Lease, *, reason: str) -> None:
    """A locked lease will not be delivered. Its machine is taken down and its cards given back by the worker."""
    lease.end_reason = reason
    lease.next_at = clock.system_now()
    lease.attempts = 0
    LEASE.advance(
        lease,
        LeaseStatus.FAILED,
        order_ref=lease.order_ref,
        payload={"reason": reason},
        also=["end_reason", "next_at", "attempts"],
    )


def last_ready_moment(lease: Lease) -> datetime:
    """Until when the term can still start: ready-by and the grace after it, but never so late that term and
    turnaround run into the next reservation."""
    promised = lease.ready_by + timedelta(seconds=settings.LATE_GRACE_SECONDS)
    uppers: list[datetime] = [row.period.upper for row in selectors.current_reservations(lease.hold_id)]
    if not uppers:
        return lease.ready_by
    return min(promised, min(uppers) - timedelta(seconds=lease.hold.term_seconds) - turnaround())


def make_room(lease: Lease) -> None:
    """Move the upper bound of a locked lease so that ready-by and the grace fit, as far as the calendar lets it.

    Locks its cards by key, lets overdue holds of others there go, locks its reservations. What ends the room: the next
    reservation of a card, or a maintenance window of its node. Repeating changes nothing.
    """
    wanted = (
        lease.ready_by
        + timedelta(seconds=settings.LATE_GRACE_SECONDS + lease.hold.term_seconds)
        + turnaround()
    )
    card_ids = [row.card_id for row in selectors.current_reservations(lease.hold_id)]
    locks.cards_for_update(card_ids)
    for overdue in locks.overdue_holds_for_update(card_ids=card_ids, moment=clock.now()):
        release_locked(overdue)
    rows = [row for row in locks.reservations_for_update(lease.hold) if row.left_at is None]
    for row in rows:
        upper = min([wanted, *_taken_from(row)])
        if upper > row.period.upper:
            row.period = DateTimeTZRange(row.period.lower, upper, "[)")
            row.save(update_fields=["period"])


def _taken_from(row: Reservation) -> list[datetime]:
    """From when on the card of a reservation is wanted for something else after it."""
    follower = (
        Reservation.objects.filter(
            card_id=row.card_id,
            status__in=[ReservationStatus.HELD, ReservationStatus.COMMITTED],
            period__startswith__gte=row.period.upper,
        )
        .exclude(hold_id=row.hold_id)
        .aggregate(first=Min(Lower("period")))["first"]
    )
    window = MaintenanceWindow.objects.filter(
        node__cards=row.card_id, cancelled_at=None, period__endswith__gt=row.period.upper
    ).aggregate(first=Min(Lower("period")))["first"]
    return [moment for moment in (follower, window) if moment is not None]
