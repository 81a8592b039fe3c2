"""Reminders before the end of a term: each once for each end, never late as if on time (DESIGN, policy table)."""

from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog
from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from core import clock, events
from core.models import Event
from fleet import locks
from fleet.lifecycle import OPEN_STATES
from fleet.models import Lease, Reminder

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Kind:
    """One reminder: how long before the end, and how late it may still be told (with the time that is truly left)."""

    name: str
    before: timedelta
    tolerance: timedelta


# After an outage the newest reminder that is due is still worth telling until half of the way to the next one: later
# two would come close after each other. The last one is told until ten minutes before the end; by then the terminal
# warns, and a mail no longer helps.
KINDS = (
    Kind("7d", timedelta(days=7), timedelta(days=2)),
    Kind("3d", timedelta(days=3), timedelta(days=1)),
    Kind("24h", timedelta(hours=24), timedelta(hours=9)),
    Kind("6h", timedelta(hours=6), timedelta(hours=2, minutes=30)),
    Kind("1h", timedelta(hours=1), timedelta(minutes=50)),
)


def due_leases(limit: int = 200) -> list[int]:
    """Open leases with a reminder whose moment has come and that has no row yet, nearest end first."""
    moment = clock.now()
    due = Q()
    for kind in KINDS:
        told = Reminder.objects.filter(lease=OuterRef("pk"), ends_at=OuterRef("ends_at"), kind=kind.name)
        due = due | (Q(ends_at__lte=moment + kind.before) & ~Q(Exists(told)))
    leases = Lease.objects.filter(due, status__in=OPEN_STATES, ends_at__gt=moment)
    return list(leases.order_by("ends_at", "pk").values_list("pk", flat=True)[:limit])


def sweep_reminders() -> None:
    """Settle what is due. A lease that breaks holds up no other."""
    for lease_id in due_leases():
        try:
            remind(lease_id=lease_id)
        except Exception:
            log.exception("reminder_failed", lease=lease_id)


def remind(*, lease_id: int) -> str:
    """Tell the one reminder that is due now and pass over the others; its name, or "" where none is told.

    Locks the lease. Safe to repeat and to run twice at once: a row for each (lease, end, kind) is the proof. A lease
    that is over or not open is left alone. The row and the event are one transaction; the mail follows the event.
    """
    with transaction.atomic():
        lease = locks.lease_for_update(lease_id)
        moment = clock.now()
        if lease.status not in OPEN_STATES or lease.ends_at is None or moment >= lease.ends_at:
            return ""
        settled = set(
            Reminder.objects.filter(lease=lease, ends_at=lease.ends_at).values_list("kind", flat=True)
        )
        due = [k for k in KINDS if lease.ends_at - k.before <= moment and k.name not in settled]
        if not due:
            return ""
        told = _worth_telling(lease, lease.ends_at, moment, due)
        Reminder.objects.bulk_create(
            Reminder(
                lease=lease,
                kind=kind.name,
                ends_at=lease.ends_at,
                told_at=moment if kind is told else None,
                passed_over_at=None if kind is told else moment,
            )
            for kind in due
        )
        if told is None:
            return ""
        events.emit(
            name="lease.reminder",
            subject=f"lease:{lease.pk}",
            order_ref=lease.order_ref,
            payload={"kind": told.name, "ends_at": lease.ends_at.isoformat()},
        )
        return told.name


def _worth_telling(lease: Lease, ends_at: datetime, moment: datetime, due: list[Kind]) -> Kind | None:
    """The one nearest to the end, if its moment lay inside the term and is not gone for too long."""
    kind = min(due, key=lambda one: one.before)
    since = ends_at - kind.before
    began = _known_since(lease)
    if began is None or since <= began or moment - since > kind.tolerance:
        return None
    return kind


def _known_since(lease: Lease) -> datetime | None:
    """When this end became the end: the start of the term, or the last extension."""
    extended = Event.objects.filter(name="lease.extended", order_ref=lease.order_ref).order_by("-pk").first()
    return lease.ready_at if extended is None else extended.at
