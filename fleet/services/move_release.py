"""Keep cards longer while a full payment is seen and not settled yet."""

from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Min
from django.db.models.functions import Lower

from fleet import locks
from fleet.lifecycle import ReservationStatus
from fleet.models import Hold, MaintenanceWindow, Reservation
from fleet.periods import held_period, ready_by_delta, turnaround


def move_release(*, ref: str, until: datetime) -> datetime | None:
    """Move the release of an open hold to `until` and the upper bound of a start-now period with it.

    Never over RELEASE_LIMIT_SECONDS after `expires_at`, never past a chosen start; where a follower or a maintenance
    window stands, it stops at the last moment that still fits. Locks hold, cards by key, reservations. Returns the new
    release time or None where nothing is held. Safe to repeat; never moves back.
    """
    hold = locks.hold_for_update(ref)
    if hold is None or not hold.is_open:
        return None
    limit = hold.expires_at + timedelta(seconds=settings.RELEASE_LIMIT_SECONDS)
    wanted = min(until, limit)
    if hold.starts_at is not None:
        wanted = min(wanted, hold.starts_at)
    if wanted <= hold.release_at:
        return hold.release_at
    if hold.starts_at is None:
        rows = list(Reservation.objects.filter(hold=hold).values_list("card_id", flat=True))
        locks.cards_for_update(rows)
        locked = locks.reservations_for_update(hold)
        wanted = max(hold.release_at, min(wanted, _latest_that_fits(hold, rows, wanted)))
        for row in locked:
            row.period = held_period(
                placed_at=row.period.lower,
                starts_at=None,
                release_at=wanted,
                term_seconds=hold.term_seconds,
            )
            row.save(update_fields=["period"])
    hold.release_at = wanted
    hold.save(update_fields=["release_at"])
    return wanted


def _latest_that_fits(hold: Hold, card_ids: list[int], wanted: datetime) -> datetime:
    """The last release time whose term, ready-by and turnaround end before the cards are wanted for something else:
    the next reservation, or a maintenance window of their nodes. Both are made under the locks of these cards."""
    follower = (
        Reservation.objects.filter(
            card_id__in=card_ids,
            status__in=[ReservationStatus.HELD, ReservationStatus.COMMITTED],
            period__startswith__gt=hold.placed_at,
        )
        .exclude(hold=hold)
        .aggregate(first=Min(Lower("period")))["first"]
    )
    window = MaintenanceWindow.objects.filter(
        node__cards__in=card_ids, cancelled_at=None, period__startswith__gt=hold.placed_at
    ).aggregate(first=Min(Lower("period")))["first"]
    ends = [moment for moment in (follower, window) if moment is not None]
    if not ends:
        return wanted
    last: datetime = min(ends) - ready_by_delta() - timedelta(seconds=hold.term_seconds) - turnaround()
    return min(wanted, last)


def extend_expiry(*, ref: str, until: datetime) -> bool:
    """Give the buyer until `until` to pay: the hold's expiry moves, and its release with it as far as it can.

    Never beyond what the cards can be kept for. Locks hold, cards by key, reservations. False where nothing is held
    or `until` cannot be kept; then nothing has changed. Safe to repeat; never moves back.
    """
    hold = locks.hold_for_update(ref)
    if hold is None or not hold.is_open:
        return False
    if until <= hold.expires_at:
        return True
    if until > hold.release_at or (hold.starts_at is not None and until > hold.starts_at):
        return False
    hold.expires_at = until
    hold.save(update_fields=["expires_at"])
    move_release(ref=ref, until=until + timedelta(seconds=settings.RELEASE_AFTER_EXPIRY_SECONDS))
    return True
