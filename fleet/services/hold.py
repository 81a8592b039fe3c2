"""Take cards off sale for one order: all or nothing, never twice (DESIGN rules 2, 3, 5; docs/locking.md)."""

import zlib
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum

from django.conf import settings
from django.db import connection

from catalog.models import Lot
from catalog.stack import driver_suffices
from core import clock
from core.locks import mark
from core.rows import insert
from core.savepoint import savepoint
from fleet import limits, locks, placement
from fleet.contention import Patience, busy, busy_on_lock_timeout, no_capacity
from fleet.free_cards import free_among, free_by_node, taken_until
from fleet.limits import HoldLimits
from fleet.models import Hold, Reservation
from fleet.periods import held_period
from fleet.services.release import release_locked
from fleet.unpaid import read_unpaid

# Looks without a lock before all cards are locked. The first one waits for nobody: where a rival is at work it goes to
# another node, to so many in all. The others wait for the node that they choose.
QUICK_ATTEMPTS = 3
QUICK_NODES = 4


class _Way(Enum):
    """How an attempt locks: cards that nobody else works on, those of the chosen nodes, or all of the accelerator."""

    SKIP = "skip"
    WAIT = "wait"
    ALL = "all"


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


class _Lost(Exception):
    """A rival was quicker: the savepoint goes back and with it the locks on these cards."""


def hold(request: HoldRequest, *, patience: Patience | None = None) -> Hold:
    """Hold real cards; must run inside the caller's transaction.

    Locks, in this order: owner, prefix, an earlier hold of the same order, the cards of the chosen nodes by key; after
    QUICK_ATTEMPTS lost races all candidate cards. Overdue holds of others on these cards are let go on the way. Raises
    Conflict(no_capacity), Conflict(busy) after LOCK_TIMEOUT_SECONDS in all, TooMany(too_many_holds). A refusal leaves
    the caller's transaction usable. `patience` is that of a caller who has waited before. `ref` may have had a hold
    that was released; it then names the new one. Not repeatable while a hold of this `ref` stands.
    """
    if not connection.in_atomic_block:
        raise RuntimeError("A hold is part of the transaction that places the order.")
    patience = patience or Patience()
    for attempt in range(QUICK_ATTEMPTS):
        try:
            return _in_savepoint(request, patience, _Way.WAIT if attempt else _Way.SKIP)
        except _Lost:
            continue
    return _in_savepoint(request, patience, _Way.ALL)


def _in_savepoint(request: HoldRequest, patience: Patience, way: _Way) -> Hold:
    limit = patience.begin()
    lock = locks.owner_and_prefix(owner=request.owner, prefix=request.prefix)
    with busy_on_lock_timeout(), savepoint("booking") as begin:
        return _Attempt(request, patience, way, first=begin + limit + lock).run()


class _Attempt:
    """One look, lock, second look and insert, under the locks on owner and prefix."""

    def __init__(self, request: HoldRequest, patience: Patience, way: _Way, *, first: str) -> None:
        self._request = request
        self._patience = patience
        self._way = way
        self._moment = clock.now()
        self._release_at = _release_at(request)
        self._period = held_period(
            placed_at=self._moment,
            starts_at=request.starts_at,
            release_at=self._release_at,
            term_seconds=request.term_seconds,
        )
        # Rivals with seeds of their own do not all want the same one of several equal nodes.
        self._seed = zlib.crc32(request.ref.encode())
        self._unpaid = read_unpaid(
            owner=request.owner,
            prefix=request.prefix,
            accelerator_id=request.lot.accelerator_id,
            ref=request.ref,
            moment=self._moment,
            first=first,
        )

    def run(self) -> Hold:
        request, card_count = self._request, self._request.lot.cards * self._request.lots
        limits.check_unpaid(
            unpaid=self._unpaid, prefix=request.prefix, card_count=card_count, limits=request.limits
        )
        free = self._free_by_node()
        limits.check_share(
            unpaid=self._unpaid,
            prefix=request.prefix,
            card_count=card_count,
            free_cards=sum(free.values()),
            limits=request.limits,
        )
        nodes = self._choose_nodes(free)
        # One consistent look at the whole fleet: whoever hears this could not have been placed at that moment.
        if nodes is None:
            raise no_capacity()
        if self._unpaid.ref_is_known:
            _set_aside(request.ref)
        self._patience.renew()
        if self._way is _Way.SKIP:
            return self._insert(self._place_beside_rivals(free, nodes), card_count)
        return self._insert(self._place(self._lock(nodes)), card_count)

    def _place_beside_rivals(self, free: dict[int, int], nodes: dict[int, int] | None) -> list[int]:
        """On the best node that nobody works on. Nothing is waited for, so locks that stay behind harm nobody long."""
        others = dict(free)
        for _node in range(QUICK_NODES):
            if nodes is None:
                break
            try:
                return self._place(self._lock(nodes))
            except _Lost:
                others = {node: count for node, count in others.items() if node not in nodes}
                nodes = self._choose_nodes(others)
        raise _Lost

    def _free_by_node(self) -> dict[int, int]:
        return free_by_node(
            accelerator_id=self._request.lot.accelerator_id,
            period=self._period,
            driver_minimum=self._request.driver_minimum,
            moment=self._moment,
            overdue_are_free=self._unpaid.some_are_overdue,
        )

    def _choose_nodes(self, free: dict[int, int]) -> dict[int, int] | None:
        lot_cards, lots = self._request.lot.cards, self._request.lots
        short = placement.short_list(free=free, cards=lot_cards * lots, seed=self._seed)
        if len(short) < 2:
            return placement.choose_nodes(free=free, cards_per_lot=lot_cards, lots=lots, seed=self._seed)
        lower, upper, taken = self._period.lower, self._period.upper, taken_until(short)
        return placement.choose_nodes(
            free={node: free[node] for node in short},
            cards_per_lot=lot_cards,
            lots=lots,
            prolonged={
                node: max(0.0, (upper - max(lower, taken.get(node, lower))).total_seconds()) for node in short
            },
            seed=self._seed,
        )

    def _lock(self, nodes: dict[int, int]) -> list[int]:
        if self._way is not _Way.ALL:
            card_ids = locks.cards_of_nodes_for_update(nodes, skip_locked=self._way is _Way.SKIP)
        else:
            candidates = locks.candidate_cards_for_update(accelerator_id=self._request.lot.accelerator_id)
            minimum = self._request.driver_minimum
            card_ids = [card.pk for card in candidates if driver_suffices(card.node.driver_version, minimum)]
        if self._unpaid.some_are_overdue:
            for overdue in locks.overdue_holds_for_update(card_ids=card_ids, moment=self._moment):
                release_locked(overdue)
        return card_ids

    def _place(self, card_ids: list[int]) -> list[int]:
        free = free_among(
            card_ids=card_ids, period=self._period, moment=self._moment, first=self._patience.end()
        )
        chosen = placement.place(
            free=free, cards_per_lot=self._request.lot.cards, lots=self._request.lots, seed=self._seed
        )
        if chosen is not None:
            return chosen
        if self._way is not _Way.ALL:
            raise _Lost
        # Somebody is at work on an overdue hold that stands in the way; who asks again may find its cards free.
        if self._unpaid.some_are_overdue and self._choose_nodes(self._free_by_node()) is not None:
            raise busy()
        raise no_capacity()

    def _insert(self, card_ids: list[int], card_count: int) -> Hold:
        request = self._request
        row = Hold(
            ref=request.ref,
            owner=request.owner,
            prefix=request.prefix,
            lot=request.lot,
            lots=request.lots,
            card_count=card_count,
            driver_minimum=request.driver_minimum,
            term_seconds=request.term_seconds,
            starts_at=request.starts_at,
            placed_at=self._moment,
            expires_at=request.expires_at,
            release_at=self._release_at,
        )
        insert(row, *(Reservation(card_id=card_id, hold=row, period=self._period) for card_id in card_ids))
        return mark(row)


def _release_at(request: HoldRequest) -> datetime:
    release_at = request.expires_at + timedelta(seconds=settings.RELEASE_AFTER_EXPIRY_SECONDS)
    return release_at if request.starts_at is None else min(release_at, request.starts_at)


def _set_aside(ref: str) -> None:
    """An earlier hold of the order that was let go gives its name to the new one. One that stands keeps it: the unique
    constraint then refuses the new one."""
    earlier = locks.hold_for_update(ref)
    if earlier is not None and earlier.released_at is not None:
        earlier.ref = f"{ref}~{earlier.pk}"
        earlier.save(update_fields=["ref"])
