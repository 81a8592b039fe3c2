"""The calendar of free lots on the page of an accelerator: four weeks at a time, Monday first, days in UTC."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from urllib.parse import urlencode

from catalog.models import Lot
from core import clock, units
from fleet.availability import HORIZON_DAYS, DayFree, availability

WEEKS = 4


@dataclass(frozen=True)
class Cell:
    """One day; `free` None: it lies before today or beyond the horizon. `query` starts the configurator there."""

    day: date
    free: DayFree | None
    query: str

    @property
    def level(self) -> str:
        """none, some or ahead (not offered yet), for the look; the words say the same."""
        if self.free is None:
            return "outside"
        if not self.free.free_lots:
            return "none"
        return "some" if self.free.offered else "ahead"

    @property
    def day_and_month(self) -> str:
        return units.day_short(self.day)

    @property
    def is_month_start(self) -> bool:
        return self.day.day == 1


@dataclass(frozen=True)
class Calendar:
    """`at_once`: by cards of a lot, how many can start now.

    `earlier` and `later` are queries of the neighbouring pages, empty where there is none.
    """

    lot: Lot
    days: int
    weeks: tuple[tuple[Cell, ...], ...]
    as_of: datetime
    earliest_start: datetime | None
    starts_at_once: bool
    at_once: Mapping[int, int]
    earlier: str
    later: str


def calendar(*, lot: Lot, days: int, first_day: date | None, sizes: Iterable[int] = ()) -> Calendar:
    """Free lots by day for one lot and term, from the week of `first_day` on. Two queries.

    `sizes`: cards of the other lots of this accelerator, for `at_once`.
    """
    today = clock.now().astimezone(UTC).date()
    last = today + timedelta(days=HORIZON_DAYS)
    monday = _monday(min(max(first_day or today, today), last))
    end = min(monday + timedelta(days=7 * WEEKS - 1), last)
    found = availability(
        lot=lot,
        lots=1,
        term_days=days,
        from_day=max(monday, today),
        to_day=end,
        driver_minimum=lot.accelerator.driver_minimum or "",
        sizes=sizes,
    )
    by_day = {row.day: row for row in found.days}
    shown = (monday + timedelta(days=number) for number in range(7 * WEEKS))
    cells = [_cell(lot, days, day, by_day.get(day), found.as_of) for day in shown]
    return Calendar(
        lot=lot,
        days=days,
        weeks=tuple(tuple(cells[week * 7 : week * 7 + 7]) for week in range(WEEKS)),
        as_of=found.as_of,
        earliest_start=found.earliest_start,
        starts_at_once=found.earliest_start == found.as_of,
        at_once=found.at_once,
        earlier=_page(lot, days, monday - timedelta(weeks=WEEKS)) if monday > today else "",
        later=_page(lot, days, end + timedelta(days=1)) if end < last else "",
    )


def _monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def _page(lot: Lot, days: int, first: date) -> str:
    return urlencode({"lot": lot.code, "days": days, "from": first.isoformat()})


def _cell(lot: Lot, days: int, day: date, free: DayFree | None, as_of: datetime) -> Cell:
    query = ""
    if free is not None and free.offered and free.start_at is not None:
        chosen = {"lot": lot.code, "days": days}
        if free.start_at != as_of:
            chosen |= {"start": "chosen", "start_date": day.isoformat(), "start_hour": free.start_at.hour}
        query = urlencode(chosen)
    return Cell(day=day, free=free, query=query)
