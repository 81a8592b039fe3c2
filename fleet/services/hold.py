"""Take cards off sale for one order: all or nothing, never twice (DESIGN rules 2, 3, 5)."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import connection, transaction
from django.db.backends.postgresql.psycopg_any import DateTimeTZRange

from catalog.models import Lot
from catalog.stack import driver_suffices
from core import clock
from core.locks import limit_lock_wait, mark
from fleet import limits, locks, placement
from fleet.contention import busy_on_lock_timeout, no_capacity
from fleet.limits import HoldLimits
from fleet.models import Card, Hold, Reservation
from fleet.periods import held_period
from fleet.selectors import busy_card_ids
from fleet.services.release import release_locked


@dataclass(frozen=True)
class HoldRequest:
    """What an order asks for. `ref` is the order, `owner` an opaque key, `prefix` a network prefix or empty."""

    ref: str
    owner: str
    prefix: str
    lot: Lot
    lots: int
    term_seconds: int
    starts_at: datetime | None
    expires_at: datetime
    driver_minimum: str
    limits: HoldLimits


def hold(request: HoldRequest) -> Hold:
    """Hold real cards; must run inside the caller's transaction.

    Locks, in this order: owner, prefix, all candidate cards of the accelerator by key. Overdue holds of others on
    these cards are let go on the way. Raises Conflict(no_capacity), Conflict(busy) after LOCK_TIMEOUT_SECONDS,
    TooMany(too_many_holds). Not repeatable for the same `ref`.
    """
    if not connection.in_atomic_block:
        raise RuntimeError("A hold is part of the transaction that places the order.")
    with busy_on_lock_timeout(), transaction.atomic():
        return _hold(request)


def _hold(request: HoldRequest) -> Hold:
    limit_lock_wait()
    locks.lock_owner(request.owner)
    if request.prefix:
        locks.lock_prefix(request.prefix)
    moment = clock.now()
    card_count = request.lot.cards * request.lots
    limits.check_owner(
        owner=request.owner,
        prefix=request.prefix,
        card_count=card_count,
        limits=request.limits,
        moment=moment,
    )
    cards = [
        card
        for card in locks.candidate_cards_for_update(accelerator_id=request.lot.accelerator_id)
        if driver_suffices(card.node.driver_version, request.driver_minimum)
    ]
    for overdue in locks.overdue_holds_for_update(card_ids=[card.pk for card in cards], moment=moment):
        release_locked(overdue)
    release_at = request.expires_at + timedelta(seconds=settings.RELEASE_AFTER_EXPIRY_SECONDS)
    if request.starts_at is not None:
        release_at = min(release_at, request.starts_at)
    period = held_period(
        placed_at=moment,
        starts_at=request.starts_at,
        release_at=release_at,
        term_seconds=request.term_seconds,
    )
    chosen = _choose(cards, period, request, moment)
    row = mark(
        Hold.objects.create(
            ref=request.ref,
            owner=request.owner,
            prefix=request.prefix,
            lot=request.lot,
            lots=request.lots,
            card_count=card_count,
            driver_minimum=request.driver_minimum,
            term_seconds=request.term_seconds,
            starts_at=request.starts_at,
            placed_at=moment,
            expires_at=request.expires_at,
            release_at=release_at,
        )
    )
    Reservation.objects.bulk_create(
        Reservation(card_id=card_id, hold=row, period=period) for card_id in chosen
    )
    return row


def _choose(cards: list[Card], period: DateTimeTZRange, request: HoldRequest, moment: datetime) -> list[int]:
    busy = busy_card_ids(card_ids=[card.pk for card in cards], period=period)
    free: dict[int, list[int]] = defaultdict(list)
    for card in cards:
        if card.pk not in busy:
            free[card.node_id].append(card.pk)
    limits.check_share(
        prefix=request.prefix,
        accelerator_id=request.lot.accelerator_id,
        card_count=request.lot.cards * request.lots,
        free_cards=sum(len(ids) for ids in free.values()),
        moment=moment,
        limits=request.limits,
    )
    chosen = placement.place(free=free, cards_per_lot=request.lot.cards, lots=request.lots)
    if chosen is None:
        raise no_capacity()
    return chosen
