"""What a reservation covers (DESIGN rule 3). Pure arithmetic on instants; a term is days of exactly 24 hours."""

from datetime import datetime, timedelta

from django.conf import settings
from django.db.backends.postgresql.psycopg_any import DateTimeTZRange

DAY_SECONDS = 24 * 3600
# Cards are taken this long before a chosen start, so that preparation and test can be done by then.
PREPARE_AHEAD = timedelta(minutes=30)


def ready_by_delta() -> timedelta:
    return timedelta(seconds=settings.READY_BY_SECONDS)


def turnaround() -> timedelta:
    return timedelta(seconds=settings.TURNAROUND_SECONDS)


def held_period(
    *, placed_at: datetime, starts_at: datetime | None, release_at: datetime, term_seconds: int
) -> DateTimeTZRange:
    """[from, from + slack + term + turnaround).

    Start now: from the placement, slack until the last moment of payment plus ready-by. Chosen start: from half an
    hour before it, slack half an hour plus ready-by.
    """
    term = timedelta(seconds=term_seconds)
    if starts_at is None:
        return DateTimeTZRange(placed_at, release_at + ready_by_delta() + term + turnaround(), "[)")
    return DateTimeTZRange(
        starts_at - PREPARE_AHEAD, starts_at + ready_by_delta() + term + turnaround(), "[)"
    )


def ready_by(*, settled_at: datetime, starts_at: datetime | None) -> datetime:
    """The promise of delivery: two hours from settled or from the chosen start, whichever is later."""
    origin = settled_at if starts_at is None else max(settled_at, starts_at)
    return origin + ready_by_delta()


def term_begins(
    *, ready_at: datetime | None, starts_at: datetime | None, is_over: bool, now: datetime
) -> datetime | None:
    """When the term of a paid lease began, or will at the earliest; None where it ended before access opened."""
    if ready_at is not None or is_over:
        return ready_at
    return max(now, starts_at or now)


def export_verify_margin() -> timedelta:
    """Kept free after an export: to check what arrived, or for a second try of what did not."""
    return timedelta(seconds=settings.EXPORT_VERIFY_MARGIN_SECONDS)


def export_window(term_seconds: int) -> timedelta:
    """How long before the end the buyer is told to take results away: a day, or half of a term under two days."""
    return min(timedelta(days=1), timedelta(seconds=term_seconds) / 2)
