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
from fleet.models import Lease, Reservation
from fleet.periods import export_window, turnaround
from fleet.services.end import begin_end


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


def _is_reversed(lease: Lease, moment: datetime) -> bool:
    grace = timedelta(seconds=settings.REVERSED_GRACE_SECONDS)
    return (
        lease.status == LeaseStatus.SUSPENDED
        and lease.suspended_at is not None
        and moment >= lease.suspended_at + grace
    )


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
        _make_room(lease)
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
        fail(lease, reason="late")


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


def _make_room(lease: Lease) -> None:
    """Move the upper bound so that the grace fits, as far as the calendar lets it."""
    wanted = (
        lease.ready_by
        + timedelta(seconds=settings.LATE_GRACE_SECONDS + lease.hold.term_seconds)
        + turnaround()
    )
    card_ids = [row.card_id for row in selectors.current_reservations(lease.hold_id)]
    locks.cards_for_update(card_ids)
    rows = [row for row in locks.reservations_for_update(lease.hold) if row.left_at is None]
    for row in rows:
        follower = (
            Reservation.objects.filter(
                card_id=row.card_id,
                status__in=[ReservationStatus.HELD, ReservationStatus.COMMITTED],
                period__startswith__gte=row.period.upper,
            )
            .exclude(hold=lease.hold)
            .aggregate(first=Min(Lower("period")))["first"]
        )
        upper = wanted if follower is None else min(wanted, follower)
        if upper > row.period.upper:
            row.period = DateTimeTZRange(row.period.lower, upper, "[)")
            row.save(update_fields=["period"])
