"""Utilisation and revenue of the last and the next 30 days, as tables: a row for each accelerator, a column for each
term."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal

from django.utils.translation import gettext as _

from billing.revenue import RevenueRow, revenue
from catalog.models import Accelerator, Term
from core import clock
from desk.fleet_words import days_text
from fleet.spans import Span
from fleet.utilisation import HOUR, Use, utilisation

DAYS = timedelta(days=30)
ZERO = Decimal("0.00")


@dataclass(frozen=True)
class Period:
    """Whole days in UTC, half open."""

    heading: str
    begins: datetime
    ends: datetime

    @property
    def days(self) -> str:
        return days_text((self.begins, self.ends))


@dataclass(frozen=True)
class Share:
    """`share` None: there was nothing that could be sold."""

    hours: Decimal
    share: Decimal | None


@dataclass(frozen=True)
class UseRow:
    name: str
    cards: int
    sellable_hours: Decimal
    shares: tuple[tuple[int, Share], ...]
    whole: Share


@dataclass(frozen=True)
class UseTable:
    period: Period
    terms: tuple[int, ...]
    rows: tuple[UseRow, ...]
    total: UseRow


@dataclass
class Sums:
    """Net by days of the term, and what of it was given back."""

    by_term: dict[int, Decimal] = field(default_factory=lambda: defaultdict(lambda: ZERO))
    given_back: Decimal = ZERO

    def add(self, row: RevenueRow) -> None:
        self.by_term[row.days] += row.net
        self.given_back += row.given_back


@dataclass(frozen=True)
class MoneyRow:
    name: str
    amounts: tuple[tuple[int, Decimal], ...]
    given_back: Decimal
    net: Decimal


@dataclass(frozen=True)
class MoneyTable:
    period: Period
    terms: tuple[int, ...]
    rows: tuple[MoneyRow, ...]
    total: MoneyRow


def periods(today: date) -> tuple[Period, Period]:
    """The 30 days before today, and the 30 from today on."""
    midnight = clock.midnight(today)
    return (
        Period(_("Last 30 days"), midnight - DAYS, midnight),
        Period(_("Next 30 days"), midnight, midnight + DAYS),
    )


def use_tables(of: Sequence[Period]) -> list[UseTable]:
    """Nine queries at most, whatever the fleet."""
    windows: list[Span] = [(period.begins, period.ends) for period in of]
    found = utilisation(windows)
    names = _names(key for uses in found for key in uses)
    terms = _terms(days for uses in found for use in uses.values() for days in use.sold)
    tables = []
    for period, uses in zip(of, found, strict=True):
        total = Use()
        for use in uses.values():
            total.add(use)
        tables.append(
            UseTable(
                period=period,
                terms=terms,
                rows=tuple(_use_row(name, uses[key], terms) for key, name in names.items() if key in uses),
                total=_use_row(_("All"), total, terms),
            )
        )
    return tables


def money_tables(of: Sequence[Period]) -> list[MoneyTable]:
    """For those who may see the books."""
    found = [revenue(from_day=period.begins.date(), to_day=period.ends.date()) for period in of]
    names = _names(row.accelerator_id for rows in found for row in rows)
    terms = _terms(row.days for rows in found for row in rows)
    return [_money_table(period, rows, names, terms) for period, rows in zip(of, found, strict=True)]


def _money_table(
    period: Period, rows: Iterable[RevenueRow], names: Mapping[int, str], terms: tuple[int, ...]
) -> MoneyTable:
    sums: dict[int, Sums] = defaultdict(Sums)
    total = Sums()
    for row in rows:
        sums[row.accelerator_id].add(row)
        total.add(row)
    return MoneyTable(
        period=period,
        terms=terms,
        rows=tuple(_money_row(name, sums[key], terms) for key, name in names.items() if key in sums),
        total=_money_row(_("All"), total, terms),
    )


def _use_row(name: str, use: Use, terms: Iterable[int]) -> UseRow:
    return UseRow(
        name=name,
        cards=use.cards,
        sellable_hours=_hours(use.sellable),
        shares=tuple((days, _share(use.sold.get(days, timedelta()), use.share(days))) for days in terms),
        whole=_share(use.sold_in_all, use.share()),
    )


def _share(time: timedelta, share: Decimal | None) -> Share:
    return Share(_hours(time), None if share is None else share.quantize(Decimal("0.001"), ROUND_HALF_UP))


def _hours(time: timedelta) -> Decimal:
    return (Decimal(time // timedelta(seconds=1)) / int(HOUR.total_seconds())).quantize(
        Decimal(1), ROUND_HALF_UP
    )


def _money_row(name: str, sums: Sums, terms: Iterable[int]) -> MoneyRow:
    return MoneyRow(
        name=name,
        amounts=tuple((days, sums.by_term.get(days, ZERO)) for days in terms),
        given_back=sums.given_back,
        net=sum(sums.by_term.values(), ZERO),
    )


def _names(keys: Iterable[int]) -> dict[int, str]:
    """In the order of the catalogue."""
    return dict(Accelerator.objects.filter(pk__in=set(keys)).values_list("pk", "name"))


def _terms(found: Iterable[int]) -> tuple[int, ...]:
    """Those of the catalogue, and any other that was sold."""
    return tuple(sorted({*found, *Term.objects.values_list("days", flat=True)}))
