"""Extensions of a lease: hold the same cards for longer, keep them when paid, let go, undo, take along in a move.

Whoever moves a lease to other cards calls `move_extension_holds` in the same transaction, after the new cards are
locked; where it answers False the move is not made. `fleet.extensions.latest_upper` says how long new cards must be
free for that. An extension's hold is locked after its lease (docs/locking.md).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.conf import settings
from django.db import connection, transaction
from django.db.backends.postgresql.psycopg_any import DateTimeTZRange
from django.utils.translation import gettext_lazy as _

from core import clock, events, outbox
from core.errors import Conflict
from core.formats import instant_text
from core.locks import mark
from fleet import extensions, limits, locks, selectors
from fleet.contention import Patience, busy_on_lock_timeout
from fleet.lifecycle import OPEN_STATES, LeaseStatus, ReservationStatus, advance_reservations
from fleet.limits import HoldLimits
from fleet.models import Hold, Lease, Reservation
from fleet.periods import turnaround
from fleet.services.release import release_locked


@dataclass(frozen=True)
class ExtensionRequest:
    """`ref` is the order of the extension, `lease_ref` the order of the lease, `hold_for` the time to pay."""

    ref: str
    lease_ref: str
    owner: str
    prefix: str
    term_seconds: int
    hold_for: timedelta
    limits: HoldLimits


def hold_extension(request: ExtensionRequest, *, patience: Patience | None = None) -> Hold:
    """Hold the cards of an open lease for a further term, in the caller's transaction.

    Locks, in this order: owner, prefix, lease, its cards by key; overdue holds of others there are let go. Raises
    Conflict: lease_over, not_extendable, too_late_to_extend, no_capacity over a follower or a maintenance window,
    busy; TooMany(too_many_holds). The hold ends with the old end at the latest. The share of a prefix is not asked
    for: each extension stands on a lease that is paid, so nobody empties the shop with them. `patience` is that of a
    caller who has waited before.
    """
    if not connection.in_atomic_block:
        raise RuntimeError("A hold is part of the transaction that places the order.")
    patience = patience or Patience()
    with busy_on_lock_timeout(), transaction.atomic():
        locks.lock_owner_and_prefix(owner=request.owner, prefix=request.prefix, first=patience.begin())
        moment = clock.now()
        patience.renew()
        lease = locks.lease_of_order_for_update(request.lease_ref)
        ends_at = extensions.require_extendable(lease, moment)
        if lease is None:
            raise RuntimeError("What may be extended is a lease.")
        limits.check_owner(
            owner=request.owner,
            prefix=request.prefix,
            card_count=lease.hold.card_count,
            # It stands on a lease that is paid: strangers of the same network cannot keep it from growing.
            limits=replace(request.limits, orders_per_prefix=None),
            moment=moment,
        )
        patience.renew()
        rows = selectors.current_reservations(lease.hold_id)
        locks.cards_for_update([row.card_id for row in rows])
        with connection.cursor() as cursor:
            cursor.execute(patience.end())
        return _hold(request, lease, rows, ends_at, moment)


def _hold(
    request: ExtensionRequest, lease: Lease, rows: list[Reservation], ends_at: datetime, moment: datetime
) -> Hold:
    """The cards are locked: let overdue holds go, look at what follows, insert."""
    card_ids = [row.card_id for row in rows]
    for overdue in locks.overdue_holds_for_update(card_ids=card_ids, moment=moment):
        release_locked(overdue)
    upper = extensions.new_upper(ends_at, request.term_seconds)
    room = extensions.room_until(lease, moment)
    if room is not None and room < upper:
        raise Conflict(
            code="no_capacity",
            message=_("These cards are promised to somebody else from %(time)s on."),
            field="days",
            params={"time": instant_text(room, style="sentence")},
        )
    expires_at = min(moment + request.hold_for, ends_at)
    hold = mark(
        Hold.objects.create(
            ref=request.ref,
            owner=request.owner,
            prefix=request.prefix,
            lot=lease.hold.lot,
            lots=lease.hold.lots,
            card_count=lease.hold.card_count,
            driver_minimum=lease.hold.driver_minimum,
            extends=lease,
            term_seconds=request.term_seconds,
            # The old end: as with a chosen start, nothing is kept for it any longer from then on.
            starts_at=ends_at,
            placed_at=moment,
            expires_at=expires_at,
            release_at=min(expires_at + timedelta(seconds=settings.RELEASE_AFTER_EXPIRY_SECONDS), ends_at),
        )
    )
    Reservation.objects.bulk_create(
        Reservation(card_id=row.card_id, hold=hold, period=DateTimeTZRange(row.period.upper, upper, "[)"))
        for row in rows
    )
    return hold


def commit_extension(*, ref: str) -> bool:
    """Paid: the time stays ours until the worker has joined it to the lease. Safe to repeat.

    Locks the lease, then the hold and its reservations, in the caller's transaction. False where it can never join:
    the cards were let go, or the old end has come; what is left of the hold is released then.
    """
    lease, hold = _locked(ref)
    if lease is None or hold is None or hold.released_at is not None:
        return False
    if hold.committed_at is not None:
        return True
    if not extensions.may_still_join(lease):
        release_locked(hold)
        return False
    advance_reservations(locks.reservations_for_update(hold), ReservationStatus.COMMITTED)
    hold.committed_at = clock.now()
    hold.save(update_fields=["committed_at"])
    transaction.on_commit(lambda: outbox.hint("fleet.work_lease", lease.pk))
    return True


def drop_extension(*, ref: str) -> bool:
    """Let go of an extension that is not part of the term yet, paid or not; False if it is. Safe to repeat.

    Locks the lease, then the hold and its reservations, in the caller's transaction.
    """
    lease, hold = _locked(ref)
    if lease is None or hold is None or hold.released_at is not None:
        return True
    if _is_joined(hold):
        return False
    _let_go(lease, hold)
    return True


def undo_extension(*, ref: str) -> bool:
    """Take an extension whose money was taken back off the term again. Safe to repeat.

    Locks the lease, the hold, cards by key and reservations, in the caller's transaction. False where that is not
    possible: its time has begun, another extension stands behind it, or the lease is over.
    """
    lease, hold = _locked(ref)
    if lease is None or hold is None or hold.released_at is not None:
        return True
    if not _is_joined(hold):
        _let_go(lease, hold)
        return True
    if lease.ends_at is None or hold.starts_at is None or clock.now() >= hold.starts_at:
        return False
    is_last = hold.starts_at + timedelta(seconds=hold.term_seconds) == lease.ends_at
    is_running = lease.status in {*OPEN_STATES, LeaseStatus.SUSPENDED}
    if not is_running or not is_last or extensions.open_extensions(lease.pk).exists():
        return False
    upper = hold.starts_at + turnaround()
    rows = [row for row in locks.reservations_for_update(lease.hold) if row.left_at is None]
    for row in rows:
        row.period = DateTimeTZRange(row.period.lower, upper, "[)")
        row.save(update_fields=["period"])
    hold.released_at = clock.now()
    hold.save(update_fields=["released_at"])
    set_end(lease, hold.starts_at)
    # The engine still keeps the cards for longer; it is told with the next comparison.
    lease.wanted_version += 1
    lease.save(update_fields=["wanted_version"])
    events.emit(
        name="lease.shortened",
        subject=f"lease:{lease.pk}",
        order_ref=lease.order_ref,
        payload={"ends_at": hold.starts_at.isoformat(), "order": ref, "reason": "reversed"},
    )
    transaction.on_commit(lambda: outbox.hint("fleet.work_lease", lease.pk))
    return True


def release_extensions(lease: Lease) -> None:
    """A locked lease ends: what was not joined yet goes back on sale. Locks holds and reservations."""
    for found in extensions.open_extensions(lease.pk):
        hold = locks.hold_for_update(found.ref)
        if hold is not None and hold.released_at is None:
            release_locked(hold)


def set_end(lease: Lease, ends_at: datetime) -> None:
    """Move the end of a locked lease. The export window is told anew before the new one."""
    lease.ends_at = ends_at
    lease.export_window_at = None
    lease.save(update_fields=["ends_at", "export_window_at"])


def move_extension_holds(lease: Lease, old_to_new: Mapping[int, int]) -> bool:
    """Take the open extensions of a locked lease along to other cards: old card key -> new card key.

    The caller has locked the new cards. Locks the extensions' holds and reservations. False, with nothing changed,
    where a new card is not free for all of that time: then the lease does not move either.
    """
    moves: list[tuple[Reservation, int]] = []
    for found in extensions.open_extensions(lease.pk):
        hold = locks.hold_for_update(found.ref)
        if hold is None or hold.released_at is not None:
            continue
        for row in locks.reservations_for_update(hold):
            target = old_to_new.get(row.card_id, row.card_id)
            if target != row.card_id:
                moves.append((row, target))
    for row, target in moves:
        if selectors.busy_card_ids(card_ids=[target], period=row.period):
            return False
    for row, target in moves:
        status = row.status
        advance_reservations([row], ReservationStatus.RELEASED)
        Reservation.objects.create(card_id=target, hold_id=row.hold_id, period=row.period, status=status)
    return True


def _locked(ref: str) -> tuple[Lease | None, Hold | None]:
    """Lease, then hold: the order in which the worker takes them too."""
    lease_id = (
        Hold.objects.filter(ref=ref, extends__isnull=False).values_list("extends_id", flat=True).first()
    )
    if lease_id is None:
        return None, None
    return locks.lease_for_update(lease_id), locks.hold_for_update(ref)


def _is_joined(hold: Hold) -> bool:
    living = hold.reservations.exclude(status=ReservationStatus.RELEASED)
    return hold.committed_at is not None and not living.exists()


def _let_go(lease: Lease, hold: Hold) -> None:
    was_paid = hold.committed_at is not None
    release_locked(hold)
    if was_paid:
        # A worker may have told the engine already; the next comparison takes that back.
        lease.wanted_version += 1
        lease.save(update_fields=["wanted_version"])
        transaction.on_commit(lambda: outbox.hint("fleet.work_lease", lease.pk))
