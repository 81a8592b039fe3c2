"""Let go of held cards."""

from core import clock
from fleet import locks
from fleet.lifecycle import ReservationStatus, advance_reservations
from fleet.models import Hold


def release(*, ref: str) -> bool:
    """Let go of the cards of an unpaid order. True if this call did it; safe to repeat.

    Locks the hold, then its reservations. A committed hold is not touched: a lease ends by its own rules.
    """
    hold = locks.hold_for_update(ref)
    if hold is None or not hold.is_open:
        return False
    release_locked(hold)
    return True


def release_locked(hold: Hold) -> None:
    """The same for a hold that the caller has locked and knows to be open."""
    advance_reservations(locks.reservations_for_update(hold), ReservationStatus.RELEASED)
    hold.released_at = clock.now()
    hold.save(update_fields=["released_at"])
