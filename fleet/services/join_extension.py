"""A step of the worker: a paid extension becomes part of its lease once the engine has agreed."""

from collections.abc import Callable

from django.db.backends.postgresql.psycopg_any import DateTimeTZRange

from core import clock, decisions, events
from fleet import extensions, locks, selectors
from fleet.lifecycle import ReservationStatus, advance_reservations
from fleet.models import Hold, Lease
from fleet.providers import get_provider
from fleet.services.extend import set_end
from fleet.services.prepare import STEP_FIELDS, fresh_step

Apply = Callable[[Lease], None]

# After so many refusals in a row staff look: 2, 4 and 8 s of pauses, long before an old end.
JOIN_FAILURES = 3
KIND = "extension_failing"


def is_due(lease: Lease) -> bool:
    """Whether a paid extension waits and the lease may take it: open, on the cards it has, before its end."""
    return (
        lease.moving_at is None
        and lease.ends_at is not None
        and clock.now() < lease.ends_at
        and extensions.next_to_join(lease.pk) is not None
    )


def join_extension(lease: Lease) -> Apply:
    """Ask the engine for the longer period, then join. A repeat asks for the same end again."""
    hold = extensions.next_to_join(lease.pk)
    if hold is None or lease.ends_at is None:
        raise RuntimeError("There is nothing to join.")
    upper = extensions.new_upper(lease.ends_at, hold.term_seconds)
    get_provider().extend(lease.pk, upper)
    return lambda locked: _join(locked, hold.ref)


def _join(lease: Lease, ref: str) -> None:
    """Widen the reservations of a locked lease over those of the extension, in one transaction.

    Locks the extension's hold, cards by key, reservations. Where it was let go meanwhile, or the old end has come
    while the engine answered, nothing is joined and the engine is told the old end again.
    """
    fresh_step(lease)
    hold = locks.hold_for_update(ref)
    ends_at = lease.ends_at
    if hold is None or ends_at is None or not _may_join(lease, hold):
        lease.wanted_version += 1
        lease.save(update_fields=[*STEP_FIELDS, "wanted_version"])
        return
    locks.cards_for_update([row.card_id for row in selectors.current_reservations(lease.hold_id)])
    more = {row.card_id: row for row in locks.reservations_for_update(hold)}
    rows = [row for row in locks.reservations_for_update(lease.hold) if row.left_at is None]
    # First the old rows go: for a moment of this transaction they would overlap with the widened ones.
    advance_reservations(more.values(), ReservationStatus.RELEASED)
    for row in rows:
        row.period = DateTimeTZRange(row.period.lower, more[row.card_id].period.upper, "[)")
        row.save(update_fields=["period"])
    set_end(lease, extensions.end_after(ends_at, hold.term_seconds))
    lease.save(update_fields=STEP_FIELDS)
    events.emit(
        name="lease.extended",
        subject=f"lease:{lease.pk}",
        order_ref=lease.order_ref,
        payload={"ends_at": lease.ends_at.isoformat() if lease.ends_at else None, "order": ref},
    )
    decisions.close_open(kind=KIND, subject=f"lease:{lease.pk}", reason="The extension is part of the term.")


def _may_join(lease: Lease, hold: Hold) -> bool:
    return (
        hold.committed_at is not None
        and hold.released_at is None
        and lease.moving_at is None
        and extensions.may_still_join(lease)
    )
