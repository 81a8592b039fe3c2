"""A preparation that is stuck where it is goes on at another node, if there is one: same price, told to the buyer."""

import structlog
from django.db import transaction
from django.db.backends.postgresql.psycopg_any import DateTimeTZRange

from core import clock
from core.errors import Conflict
from core.locks import limit_lock_wait
from fleet import locks, placement, selectors
from fleet.contention import busy_on_lock_timeout
from fleet.free_cards import free_by_node
from fleet.lifecycle import PREPARATION_STATES, LeaseStatus
from fleet.models import Lease, Reservation
from fleet.services.moving import begin_moving
from fleet.services.take_other_cards import move_to_other_cards
from fleet.services.teardown import has_left_cards

log = structlog.get_logger(__name__)


def leave_taken_cards(*, lease_id: int) -> bool:
    """The chosen start has come and the lease before still has these cards: the same as a refusal (DESIGN rule 3).

    The turnaround and the half hour before the start were not enough for its end and wipe, and nobody knows how long
    they take. Locks the lease, then as `try_another_node`; nothing where no other node has room. Safe to repeat.
    """
    lease = Lease.objects.select_related("hold__lot").get(pk=lease_id)
    if not _waits_for_cards(lease) or not _another_has_room(lease):
        return False
    with transaction.atomic():
        lease = locks.lease_for_update(lease_id)
        return _waits_for_cards(lease) and try_another_node(lease)


def _waits_for_cards(lease: Lease) -> bool:
    return (
        lease.status == LeaseStatus.RESERVED
        and lease.hold.starts_at is not None
        and clock.now() >= lease.hold.starts_at
        and bool(selectors.predecessors(lease))
    )


def _another_has_room(lease: Lease) -> bool:
    """One look without a lock, so that a lease that has to wait does not lock the whole fleet in each round."""
    rows = Reservation.objects.filter(hold_id=lease.hold_id).select_related("card")
    free = free_by_node(
        accelerator_id=lease.hold.lot.accelerator_id,
        period=DateTimeTZRange(
            clock.now(), min(row.period.upper for row in rows if row.left_at is None), "[)"
        ),
        driver_minimum=lease.hold.driver_minimum,
        moment=clock.now(),
        overdue_are_free=True,
    )
    untried = {node: count for node, count in free.items() if node not in {row.card.node_id for row in rows}}
    lot_cards, lots = lease.hold.lot.cards, lease.hold.lots
    return placement.choose_nodes(free=untried, cards_per_lot=lot_cards, lots=lots) is not None


def try_another_node(lease: Lease) -> bool:
    """Move a locked lease that failed so often for its cards to a node that it never had; True if it moves.

    Only to an untried one: otherwise two bad nodes would send it to and fro, with a mail each time. Locks all cards
    of the accelerator by key, then reservations. Where they are busy, or nothing fits, it goes on where it is, and
    the next failure asks again.
    """
    moving = lease.status == LeaseStatus.DEGRADED and lease.moving_at is not None
    if not moving and lease.status not in PREPARATION_STATES:
        return False
    if has_left_cards(lease):
        # What fails is the end of the machine on the cards before: these ones have not had their turn.
        return False
    try:
        with busy_on_lock_timeout(), transaction.atomic():
            limit_lock_wait()
            candidates = locks.candidate_cards_for_update(accelerator_id=lease.hold.lot.accelerator_id)
            moved = move_to_other_cards(
                lease, candidates=candidates, why="preparation", untried_nodes_only=True
            )
            if moved and moving:
                begin_moving(lease)
            return moved
    except Conflict as refusal:
        log.warning("another_node_refused", lease=lease.pk, code=refusal.code)
        return False
