"""What stands on each card of a node and when: leases, holds, wipes, and times in which it could not be sold.

For looking at, without a lock. Times that are over are shown as they were, those ahead as the calendar has them now.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from django.core.exceptions import ObjectDoesNotExist
from django.db.backends.postgresql.psycopg_any import DateTimeTZRange
from django.db.models import Q, QuerySet

from core import clock
from fleet.lifecycle import ReservationStatus
from fleet.models import Card, Hold, Lease, Node, Reservation
from fleet.periods import turnaround
from fleet.spans import Span, common
from fleet.unfit import Unfit, Why, read_records


class What(StrEnum):
    ACTIVE = "active"
    SOLD = "sold"
    HELD = "held"
    WIPE = "wipe"
    UNHEALTHY = "unhealthy"
    OUT_OF_SERVICE = "out_of_service"
    MAINTENANCE = "maintenance"


_OF_WHY = {
    Why.UNHEALTHY: What.UNHEALTHY,
    Why.OUT_OF_SERVICE: What.OUT_OF_SERVICE,
    Why.MAINTENANCE: What.MAINTENANCE,
}


@dataclass(frozen=True)
class Stay:
    """One state of some cards of a node for one time.

    `lanes` are the places of these cards among those of the node, in order. `ends` None: nobody knows yet. `ref` is
    the order, empty where there is none; then `reason` may say why. `lease_status` where a lease stands there.
    """

    what: What
    begins: datetime
    ends: datetime | None
    lanes: tuple[int, ...]
    ref: str = ""
    lease_id: int | None = None
    username: str = ""
    lease_status: str = ""
    hold_id: int | None = None
    reason: str = ""


@dataclass(frozen=True)
class NodeRow:
    """A node, the indexes of its cards in the order of the lanes, and all that stands on them, by time."""

    node: Node
    indexes: tuple[int, ...]
    stays: tuple[Stay, ...]


def nodes_for(*, name: str = "", accelerator: str = "") -> QuerySet[Node]:
    """Nodes whose name contains this, with cards of this accelerator; empty asks for all. By name."""
    found = Node.objects.select_related("accelerator").order_by("name", "pk")
    if name:
        found = found.filter(name__icontains=name)
    return found.filter(accelerator__slug=accelerator) if accelerator else found


def occupancy(nodes: Sequence[Node], *, begins: datetime, ends: datetime) -> list[NodeRow]:
    """These nodes with what touches [begins, ends). Five queries, however many nodes and whatever stands there.

    Of holds only those are shown that still keep their cards: what was let go unpaid is nobody's time.
    """
    now = clock.now()
    cards = list(Card.objects.filter(node__in=nodes).order_by("node_id", "index"))
    lanes: dict[int, int] = {}
    by_node: dict[int, list[Card]] = defaultdict(list)
    for card in cards:
        lanes[card.pk] = len(by_node[card.node_id])
        by_node[card.node_id].append(card)
    taken = _taken(cards, lanes, (begins, ends), now)
    records = read_records(nodes=nodes, cards=cards, begins=begins, ends=ends)
    unfit = _unfit(records.unfit, by_node, lanes)
    return [
        NodeRow(
            node=node,
            indexes=tuple(card.index for card in by_node[node.pk]),
            stays=tuple(sorted([*taken[node.pk], *unfit[node.pk]], key=_by_time)),
        )
        for node in nodes
    ]


def stays_of(row: Reservation, now: datetime) -> list[tuple[What, datetime, datetime]]:
    """What one reservation means for its card, from its bounds and the times of its lease. Pure."""
    lease = lease_of(row.hold)
    lower, upper = row.period.lower, row.period.upper
    if lease is None:
        if row.status == ReservationStatus.RELEASED:
            return []
        what = What.HELD if row.status == ReservationStatus.HELD else What.SOLD
        return [(what, lower, upper)]
    over = _over_at(lease, row)
    gone = _gone_at(lease, row, over, now)
    opened = lease.ready_at if lease.ready_at is not None and lease.ready_at < over else over
    parts = [
        (What.SOLD, lower, min(opened, over)),
        (What.ACTIVE, max(lower, opened), over),
        (What.WIPE, max(lower, over), gone),
    ]
    return [(what, begins, ends) for what, begins, ends in parts if begins < ends]


def lease_of(hold: Hold) -> Lease | None:
    """The lease that a hold became, where it was read with it."""
    try:
        return hold.lease
    except ObjectDoesNotExist:
        return None


def _over_at(lease: Lease, row: Reservation) -> datetime:
    """When the lease has or will have no more use of this card: it left, ended, failed, or its term is over."""
    planned: datetime = lease.ends_at or row.period.upper - turnaround()
    known = (row.left_at, lease.ending_at, lease.failed_at)
    return min([planned, *(moment for moment in known if moment is not None)])


def _gone_at(lease: Lease, row: Reservation, over: datetime, now: datetime) -> datetime:
    """Until when the card waits for its wipe. It comes back when that is confirmed, however long it takes."""
    upper: datetime = row.period.upper
    if row.status == ReservationStatus.RELEASED:
        # A time that had not begun when it was given back was not cut.
        return min(upper, lease.wiped_at or upper)
    return max(now, min(upper, over + turnaround()))


def _taken(
    cards: Sequence[Card], lanes: Mapping[int, int], window: Span, now: datetime
) -> dict[int, list[Stay]]:
    """By node; the cards of one lease or hold in the same state and time are one."""
    node_of = {card.pk: card.node_id for card in cards}
    together: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    holds: dict[int, Hold] = {}
    for row in _reservations(list(node_of), window, now):
        holds[row.hold_id] = row.hold
        for what, begins, ends in stays_of(row, now):
            if common((begins, ends), window) is not None:
                key = (node_of[row.card_id], row.hold_id, what, begins, ends)
                together[key].append(lanes[row.card_id])
    found: dict[int, list[Stay]] = defaultdict(list)
    for (node_id, hold_id, what, begins, ends), places in together.items():
        found[node_id].append(_stay(holds[hold_id], what, begins, ends, tuple(sorted(places))))
    return found


def _stay(hold: Hold, what: What, begins: datetime, ends: datetime, places: tuple[int, ...]) -> Stay:
    lease = lease_of(hold)
    # A lease that is not wiped, or is late, goes on: the end of a wipe is known when it is confirmed.
    return Stay(
        what=what,
        begins=begins,
        ends=ends,
        lanes=places,
        ref=hold.ref,
        lease_id=lease.pk if lease else None,
        username=lease.username if lease else "",
        lease_status=lease.status if lease else "",
        hold_id=hold.pk,
    )


def _reservations(card_ids: list[int], window: Span, now: datetime) -> Iterable[Reservation]:
    touches = Q(period__overlap=DateTimeTZRange(*window, "[)"))
    not_wiped = Q(status=ReservationStatus.COMMITTED, period__endswith__lte=now)
    shown = ~Q(status=ReservationStatus.RELEASED) | Q(hold__lease__isnull=False)
    return (
        Reservation.objects.filter(touches | not_wiped, shown, card_id__in=card_ids)
        .select_related("hold__lease")
        .order_by("pk")
    )


def _unfit(
    rows: Iterable[Unfit], by_node: Mapping[int, list[Card]], lanes: Mapping[int, int]
) -> dict[int, list[Stay]]:
    found: dict[int, list[Stay]] = defaultdict(list)
    for row in rows:
        places = tuple(range(len(by_node[row.node_id]))) if row.card_id is None else (lanes[row.card_id],)
        found[row.node_id].append(
            Stay(
                what=_OF_WHY[row.why],
                begins=row.begins,
                ends=row.ends,
                lanes=places,
                reason=row.reason,
            )
        )
    return found


def _by_time(stay: Stay) -> tuple[Any, ...]:
    return (stay.begins, stay.lanes, stay.what)
