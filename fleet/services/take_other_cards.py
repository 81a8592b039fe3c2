"""Move a lease that is not delivered yet to other cards."""

import uuid
from collections import defaultdict

from django.db import transaction
from django.db.backends.postgresql.psycopg_any import DateTimeTZRange
from django.utils.translation import gettext_lazy as _

from catalog.stack import driver_suffices
from core import audit, clock, events, outbox
from core.errors import Conflict
from core.locks import limit_lock_wait
from fleet import extensions, locks, placement, selectors
from fleet.contention import busy_on_lock_timeout, no_capacity
from fleet.lifecycle import LEASE, PREPARATION_STATES, LeaseStatus, ReservationStatus
from fleet.models import Card, Lease, Reservation
from fleet.services.extend import move_extension_holds
from fleet.services.release import release_locked
from fleet.services.teardown import has_left_cards


def take_other_cards(*, lease_id: int, actor: str, reason: str = "") -> Lease:
    """Put a lease on other free cards of the same accelerator; the worker takes the old machine down first.

    Locks the lease, all cards of the accelerator by key, then reservations. The old cards stay off sale until their
    wipe is confirmed. Raises Conflict: not_movable after access has opened or the lease has ended, already_done for
    a second click while the first move is under way, no_capacity where nothing else is free, busy.
    """
    with busy_on_lock_timeout(), transaction.atomic():
        limit_lock_wait()
        lease = locks.lease_for_update(lease_id)
        if lease.status not in PREPARATION_STATES:
            raise Conflict(
                code="not_movable", message=_("Cards can be changed only before access has opened.")
            )
        if has_left_cards(lease):
            raise Conflict(code="already_done", message=_("This lease is already moving to other cards."))
        before = [card.serial for card in selectors.cards_of_hold(lease.hold_id)]
        candidates = locks.candidate_cards_for_update(accelerator_id=lease.hold.lot.accelerator_id)
        if not move_to_other_cards(lease, candidates=candidates, why="staff"):
            raise no_capacity()
        audit.record(
            actor=actor,
            action="lease.take_other_cards",
            subject=f"lease:{lease.pk}",
            reason=reason,
            before={"cards": before},
            after={"cards": [card.serial for card in selectors.cards_of_hold(lease.hold_id)]},
        )
        return lease


def move_to_other_cards(
    lease: Lease, *, candidates: list[Card], why: str, untried_nodes_only: bool = False
) -> bool:
    """The same for a locked lease and locked candidate cards; False, and the lease as it was, where nothing fits.

    Overdue holds of others on these cards are let go first, as a booking does: the sweep may wait for a chain. Nodes
    that this lease never had come first, then any; cards of its own that are sound are kept only where the lease
    cannot be placed without them. Extensions that are not joined yet come along, or it does not move. Locks
    reservations. `why` is preparation, mismatch, staff or repair.
    """
    card_ids = [card.pk for card in candidates]
    for overdue in locks.overdue_holds_for_update(card_ids=card_ids, moment=clock.now()):
        if overdue.extends_id != lease.pk:
            release_locked(overdue)
    own = {row.card_id: row for row in locks.reservations_for_update(lease.hold) if row.left_at is None}
    period = _rest_of(list(own.values()))
    chosen = _choose(lease, set(own), period, candidates, untried_nodes_only=untried_nodes_only)
    if chosen is None:
        return False
    left, taken = sorted(set(own) - chosen), sorted(chosen - set(own))
    if not move_extension_holds(lease, dict(zip(left, taken, strict=True))):
        return False
    moment = clock.now()
    for card_id in left:
        own[card_id].left_at = moment
        own[card_id].save(update_fields=["left_at"])
    Reservation.objects.bulk_create(
        Reservation(card_id=card_id, hold=lease.hold, period=period, status=ReservationStatus.COMMITTED)
        for card_id in taken
    )
    events.emit(
        name="lease.moved",
        subject=f"lease:{lease.pk}",
        order_ref=lease.order_ref,
        payload={
            "why": why,
            "from": _node_names(left),
            "to": _node_names(taken),
            "at": moment.isoformat(),
        },
    )
    _start_anew(lease)
    return True


def _choose(
    lease: Lease, own: set[int], period: DateTimeTZRange, candidates: list[Card], *, untried_nodes_only: bool
) -> set[int] | None:
    needed = DateTimeTZRange(period.lower, max(period.upper, extensions.latest_upper(lease)), "[)")
    usable = (
        Card.objects.filter(
            pk__in=[card.pk for card in candidates],
            in_service=True,
            healthy=True,
            node__in_service=True,
            node__healthy=True,
        )
        .exclude(node_id__in=selectors.nodes_under_maintenance(period=needed))
        .select_related("node")
    )
    cards = [
        card
        for card in usable.order_by("pk")
        if driver_suffices(card.node.driver_version, lease.hold.driver_minimum)
    ]
    busy = selectors.busy_card_ids(card_ids=[card.pk for card in cards], period=needed)
    free = [card for card in cards if card.pk not in busy]
    tried = set(Reservation.objects.filter(hold=lease.hold).values_list("card__node_id", flat=True))
    chosen = _place(lease, [card for card in free if card.node_id not in tried])
    if chosen is not None or untried_nodes_only:
        return chosen
    chosen = _place(lease, free)
    if chosen is None and not own <= {card.pk for card in cards}:
        chosen = _place(lease, [card for card in cards if card.pk not in busy or card.pk in own])
    return chosen


def _node_names(card_ids: list[int]) -> list[str]:
    names = Card.objects.filter(pk__in=card_ids).values_list("node__name", flat=True)
    return sorted(set(names))


def _rest_of(rows: list[Reservation]) -> DateTimeTZRange:
    lower = max(clock.now(), *(row.period.lower for row in rows))
    return DateTimeTZRange(lower, min(row.period.upper for row in rows), "[)")


def _place(lease: Lease, cards: list[Card]) -> set[int] | None:
    free: dict[int, list[int]] = defaultdict(list)
    for card in cards:
        free[card.node_id].append(card.pk)
    chosen = placement.place(free=free, cards_per_lot=lease.hold.lot.cards, lots=lease.hold.lots)
    return None if chosen is None else set(chosen)


def _start_anew(lease: Lease) -> None:
    lease.attempts = 0
    lease.last_error = ""
    lease.next_at = clock.system_now()
    lease.test_report = {}
    if lease.claim_token is not None:
        # A worker that is in the middle of a step for the old cards must not record it. Its time limit stays, so
        # that nobody begins on the new cards while its call may still be under way.
        lease.claim_token = uuid.uuid4()
    fields = ["attempts", "last_error", "next_at", "test_report", "claim_token"]
    # A degraded lease keeps its state while it moves: the term runs, and the page says what is missing.
    if lease.status in {LeaseStatus.RESERVED, LeaseStatus.DEGRADED}:
        lease.save(update_fields=fields)
    else:
        LEASE.advance(
            lease, LeaseStatus.RESERVED, order_ref=lease.order_ref, at=lease.reserved_at, also=fields
        )
    transaction.on_commit(lambda: outbox.hint("fleet.work_lease", lease.pk))
