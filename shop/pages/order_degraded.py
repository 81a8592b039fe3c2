"""What the page of an order says of cards that are or were missing, and of a move to whole ones."""

from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _

from core import clock
from fleet.lease_rows import LeaseRows
from fleet.lifecycle import LeaseStatus
from fleet.models import Outage
from orders.card_words import problem_text


@dataclass(frozen=True)
class MissingCard:
    """A card that the lease does not have now."""

    serial: str
    text: str
    since: datetime


@dataclass(frozen=True)
class PastOutage:
    """A time on record; `minutes` are the started ones, as they are credited."""

    serial: str
    why: str
    began_at: datetime
    ended_at: datetime
    minutes: int


@dataclass(frozen=True)
class DegradedPart:
    """`moving_since`: access is closed and the lease is on its way; `may_move`: the button is offered."""

    missing: tuple[MissingCard, ...]
    past: tuple[PastOutage, ...]
    moving_since: datetime | None
    may_move: bool


def degraded_part(found: LeaseRows) -> DegradedPart | None:
    """The part, or None where no card was ever missing. No query."""
    lease, rows = found.lease, found.outages
    if lease.ready_at is None:
        return None
    is_degraded = lease.status == LeaseStatus.DEGRADED
    if not rows and not is_degraded:
        return None
    is_running = lease.ends_at is not None and clock.now() < lease.ends_at
    return DegradedPart(
        missing=tuple(
            MissingCard(serial=row.card.serial, text=problem_text(row.note), since=row.began_at)
            for row in rows
            if row.ended_at is None
        ),
        past=tuple(
            PastOutage(
                serial=row.card.serial,
                why=_why(row.cause),
                began_at=row.began_at,
                ended_at=row.ended_at,
                minutes=row.minutes,
            )
            for row in rows
            if row.ended_at is not None
        ),
        moving_since=lease.moving_at if is_degraded else None,
        may_move=is_degraded and is_running and lease.moving_at is None,
    )


def _why(cause: str) -> str:
    return {
        Outage.Cause.CARD: _("card missing"),
        Outage.Cause.NODE: _("machine away"),
        Outage.Cause.MOVING: _("move to other cards"),
        Outage.Cause.LATE: _("late delivery"),
    }[Outage.Cause(cause)]
