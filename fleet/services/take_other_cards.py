"""Move a lease that is not delivered yet to other cards."""

import uuid
from collections import defaultdict

from django.db import transaction
from django.db.backends.postgresql.psycopg_any import DateTimeTZRange
from django.utils.translation import gettext_lazy as _

from catalog.stack import driver_suffices
from core import audit, clock, outbox
from core.errors import Conflict
from core.locks import limit_lock_wait
from fleet import locks, placement, selectors
from fleet.contention import busy_on_lock_timeout, no_capacity
from fleet.lifecycle import LEASE, PREPARATION_STATES, LeaseStatus, ReservationStatus
from fleet.models import Card, Lease, Reservation
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
        if not move_to_other_cards(lease, candidates=candidates):
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


def move_to_other_cards(lease: Lease, *, candidates: list[Card]) -> bool:
    """The same for a locked lease and locked candidate cards; False where nothing fits.

    Cards of its own that are sound are kept only where the lease cannot be placed without them.
    """
    current = locks.reservations_for_update(lease.hold)
    own = {row.card_id: row for row in current if row.left_at is None}
    period = _rest_of(list(own.values()))
    usable = Card.objects.filter(
        pk__in=[card.pk for card in candidates], in_service=True, healthy=True, node__in_service=True
    ).select_related("node")
    cards = [
        card
        for card in usable.order_by("pk")
        if driver_suffices(card.node.driver_version, lease.hold.driver_minimum)
    ]
    busy = selectors.busy_card_ids(card_ids=[card.pk for card in cards], period=period)
    chosen = _place(lease, [card for card in cards if card.pk not in busy])
    if chosen is None and not set(own) <= {card.pk for card in cards}:
        chosen = _place(lease, [card for card in cards if card.pk not in busy or card.pk in own])
    if chosen is None:
        return False
    moment = clock.now()
    for card_id, row in own.items():
        if card_id not in chosen:
            row.left_at = moment
            row.save(update_fields=["left_at"])
    Reservation.objects.bulk_create(
        Reservation(card_id=card_id, hold=lease.hold, period=period, status=ReservationStatus.COMMITTED)
        for card_id in chosen
        if card_id not in own
    )
    _start_anew(lease)
    return True


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
    if lease.status == LeaseStatus.RESERVED:
        lease.save(update_fields=fields)
    else:
        LEASE.advance(
            lease, LeaseStatus.RESERVED, order_ref=lease.order_ref, at=lease.reserved_at, also=fields
        )
    transaction.on_commit(lambda: outbox.hint("fleet.work_lease", lease.pk))
