"""Which day a lot can start: read without a lock in two queries, whatever the horizon. The sale looks again."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import accumulate
from typing import Any

from django.conf import settings
from django.db.models import BigIntegerField, Q, Value
from django.utils.translation import ngettext_lazy

from catalog.models import Lot
from catalog.stack import driver_suffices
from core import clock
from core.errors import Invalid
from fleet.lifecycle import ReservationStatus
from fleet.models import Card, MaintenanceWindow, Reservation
from fleet.periods import DAY_SECONDS, PREPARE_AHEAD, held_period, ready_by_delta, turnaround

HORIZON_DAYS = 90
HOUR = timedelta(hours=1)
FOREVER = datetime.max.replace(tzinfo=UTC)

Span = tuple[datetime, datetime]


@dataclass(frozen=True)
class DayFree:
    """`free_lots`: the most lots that can start at one moment of this day (UTC) and stay for the whole term;
    `start_at`: the first such moment, None where nothing is free. `offered`: a start on this day can be ordered; later
    days are shown as an outlook."""

    day: date
    free_lots: int
    start_at: datetime | None
    offered: bool


@dataclass(frozen=True)
class Availability:
    """`earliest_start`: the first offered moment at which the asked number of lots fits, `as_of` for "at once", None
    where there is none within the offered days. `at_once`: by cards of a lot, how many lots can start now."""

    as_of: datetime
    earliest_start: datetime | None
    days: tuple[DayFree, ...]
    at_once: Mapping[int, int]


def availability(
    *,
    lot: Lot,
    lots: int,
    term_days: int,
    from_day: date,
    to_day: date,
    driver_minimum: str = "",
    sizes: Iterable[int] = (),
) -> Availability:
    """Free lots by day from `from_day` to `to_day` inclusive, within HORIZON_DAYS of today. Two queries.

    `sizes`: cards of other lots of this accelerator for which `at_once` is counted too.

    A chosen start lies on a whole hour and START_LEAD_QUOTE_SECONDS ahead; the start at once belongs to today. Raises
    Invalid(invalid_period) for days outside the horizon or in the wrong order.
    """
    as_of = clock.now()
    today = as_of.astimezone(UTC).date()
    if not today <= from_day <= to_day <= today + timedelta(days=HORIZON_DAYS):
        raise Invalid(
            code="invalid_period",
            message=ngettext_lazy(
                "The days must run forward and lie between today and %(days)s day ahead.",
                "The days must run forward and lie between today and %(days)s days ahead.",
                "days",
            ),
            field="from",
            params={"days": HORIZON_DAYS},
        )
    nodes = _free_nodes(lot=lot, driver_minimum=driver_minimum, as_of=as_of)
    hours = _Hours.until(as_of, to_day)
    term = timedelta(seconds=term_days * DAY_SECONDS)
    chosen = _lots_by_hour(nodes, hours, lot.cards, term)
    at_once = {size: _lots_at_once(nodes, as_of, size, term_days) for size in {lot.cards, *sizes}}
    last_offered = as_of + timedelta(days=settings.START_AHEAD_DAYS)
    best: dict[date, tuple[int, datetime]] = {today: (at_once[lot.cards], as_of)}
    offered: set[date] = {today}
    for start, count in zip(hours.all(), chosen, strict=True):
        day = start.date()
        if day not in best or count > best[day][0]:
            best[day] = (count, start)
        if start <= last_offered:
            offered.add(day)
    return Availability(
        as_of=as_of,
        earliest_start=_earliest(as_of, at_once[lot.cards], hours, chosen, lots, last_offered),
        days=tuple(
            DayFree(
                day=day,
                free_lots=best[day][0],
                start_at=best[day][1] if best[day][0] else None,
                offered=day in offered,
            )
            for day in _days(from_day, to_day)
        ),
        at_once=at_once,
    )


def _earliest(
    as_of: datetime, at_once: int, hours: "_Hours", chosen: list[int], lots: int, last: datetime
) -> datetime | None:
    if at_once >= lots:
        return as_of
    return next(
        (start for start, count in zip(hours.all(), chosen, strict=True) if count >= lots and start <= last),
        None,
    )


def _days(from_day: date, to_day: date) -> Iterable[date]:
    return (from_day + timedelta(days=number) for number in range((to_day - from_day).days + 1))


@dataclass(frozen=True)
class _Hours:
    """The whole hours at which a chosen start may lie, as numbers from the first."""

    first: datetime
    count: int

    @classmethod
    def until(cls, as_of: datetime, to_day: date) -> "_Hours":
        lead = as_of.astimezone(UTC) + timedelta(seconds=settings.START_LEAD_QUOTE_SECONDS)
        first = lead.replace(minute=0, second=0, microsecond=0)
        if first < lead:
            first += HOUR
        end = clock.midnight(to_day + timedelta(days=1))
        return cls(first=first, count=max(0, int((end - first) / HOUR)))

    def all(self) -> Iterable[datetime]:
        return (self.first + number * HOUR for number in range(self.count))

    def first_after(self, moment: datetime) -> int:
        """The number of the first hour after this moment, within the range."""
        return min(max(0, int((moment - self.first) // HOUR) + 1), self.count)

    def first_from(self, moment: datetime) -> int:
        """The number of the first hour at or after this moment, within the range."""
        return min(max(0, -int((self.first - moment) // HOUR)), self.count)


@dataclass(frozen=True)
class _Node:
    """The cards of one node: how many there are, and when which of them are busy."""

    cards: int
    busy: Mapping[int, list[Span]]


def _lots_by_hour(nodes: Iterable[_Node], hours: _Hours, cards_per_lot: int, term: timedelta) -> list[int]:
    """For each hour how many lots can start then: on every node, whole lots of cards that are free throughout."""
    after = ready_by_delta() + term + turnaround()
    total = [0] * (hours.count + 1)
    for node in nodes:
        if not node.busy:
            total[0] += node.cards // cards_per_lot
            total[hours.count] -= node.cards // cards_per_lot
            continue
        lots_before = 0
        for number, free in enumerate(_free_cards_by_hour(node, hours, after)):
            lots = free // cards_per_lot
            total[number] += lots - lots_before
            lots_before = lots
        total[hours.count] -= lots_before
    return list(accumulate(total[: hours.count]))


def _free_cards_by_hour(node: _Node, hours: _Hours, after: timedelta) -> list[int]:
    """A start at s needs [s - PREPARE_AHEAD, s + after): it is blocked by every span that overlaps this."""
    change = [0] * (hours.count + 1)
    change[0] = node.cards
    for spans in node.busy.values():
        blocked_until = 0
        for begins, ends in sorted(spans):
            low = max(hours.first_after(begins - after), blocked_until)
            high = hours.count if ends == FOREVER else hours.first_from(ends + PREPARE_AHEAD)
            if low < high:
                change[low] -= 1
                change[high] += 1
                blocked_until = high
    return list(accumulate(change[: hours.count]))


def _lots_at_once(nodes: Iterable[_Node], as_of: datetime, cards_per_lot: int, term_days: int) -> int:
    """As an order that is placed at this moment would find it."""
    release_at = as_of + timedelta(seconds=settings.HOLD_SECONDS + settings.RELEASE_AFTER_EXPIRY_SECONDS)
    period = held_period(
        placed_at=as_of, starts_at=None, release_at=release_at, term_seconds=term_days * DAY_SECONDS
    )
    return sum(
        (
            node.cards
            - sum(
                any(begins < period.upper and ends > period.lower for begins, ends in spans)
                for spans in node.busy.values()
            )
        )
        // cards_per_lot
        for node in nodes
    )


def _free_nodes(*, lot: Lot, driver_minimum: str, as_of: datetime) -> list[_Node]:
    """Nodes with cards that may be sold, and all that keeps those busy from now on."""
    by_node: dict[int, list[int]] = defaultdict(list)
    rows = Card.objects.filter(
        node__accelerator_id=lot.accelerator_id,
        node__in_service=True,
        node__healthy=True,
        in_service=True,
        healthy=True,
    ).values_list("pk", "node_id", "node__driver_version")
    drivers: dict[str, bool] = {}
    for card_id, node_id, driver in rows:
        if driver not in drivers:
            drivers[driver] = driver_suffices(driver, driver_minimum)
        if drivers[driver]:
            by_node[node_id].append(card_id)
    busy, windows = _taken(list(by_node), as_of)
    return [
        _Node(
            cards=len(cards),
            busy={
                card: busy.get(card, []) + windows.get(node_id, [])
                for card in cards
                if card in busy or node_id in windows
            },
        )
        for node_id, cards in by_node.items()
    ]


def _taken(node_ids: list[int], as_of: datetime) -> tuple[dict[int, list[Span]], dict[int, list[Span]]]:
    """Living reservations by card, and maintenance windows by node.

    Overdue holds do not count: a sale lets them go first. A committed reservation whose time is over has not been
    wiped yet, and nobody knows how long that takes.
    """
    ahead = Q(period__endswith__gt=as_of)
    not_wiped = Q(status=ReservationStatus.COMMITTED)
    reservations = (
        Reservation.objects.filter(
            ahead | not_wiped,
            card__node_id__in=node_ids,
            status__in=[ReservationStatus.HELD, ReservationStatus.COMMITTED],
        )
        .exclude(status=ReservationStatus.HELD, hold__release_at__lte=as_of)
        .order_by()
        .values_list("card__node_id", "card_id", "period")
    )
    windows = MaintenanceWindow.objects.filter(
        node_id__in=node_ids, cancelled_at=None, period__endswith__gt=as_of
    ).order_by()
    no_card = Value(None, output_field=BigIntegerField())
    busy: dict[int, list[Span]] = defaultdict(list)
    closed: dict[int, list[Span]] = defaultdict(list)
    rows: Iterable[tuple[int, int | None, Any]] = reservations.union(
        windows.values_list("node_id", no_card, "period"), all=True
    )
    for node_id, card_id, period in rows:
        if card_id is None:
            closed[node_id].append((period.lower, period.upper))
            continue
        upper = FOREVER if period.upper <= as_of else period.upper
        busy[card_id].append((min(period.lower, as_of) if upper == FOREVER else period.lower, upper))
    return busy, closed
