"""The list of accelerators as it is read: filtered, sorted, with what is free, and the comparison."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

from catalog.models import Accelerator, Term
from catalog.selectors import CatalogueEntry, ListedLot
from fleet.free_now import FreeNow

_CENTS = 100


@dataclass(frozen=True)
class Row:
    """One accelerator with the lot that is shown for it: the smallest, or the one of the asked size."""

    accelerator: Accelerator
    lot: ListedLot | None
    lot_cards: tuple[int, ...]
    amount: Decimal | None
    card_hour_amount: Decimal | None
    free: int
    of: int
    compared: bool

    @property
    def on_sale(self) -> bool:
        return self.lot is not None

    @property
    def per_gb_cents(self) -> Decimal | None:
        """Hundredths of the currency for one GB and hour, at the price of a card-hour."""
        if self.card_hour_amount is None or not self.accelerator.memory_gb:
            return None
        return self.card_hour_amount * _CENTS / self.accelerator.memory_gb

    @property
    def per_tb_s_amount(self) -> Decimal | None:
        """For one TB/s of bandwidth and hour."""
        if self.card_hour_amount is None or not self.accelerator.bandwidth_gb_s:
            return None
        return self.card_hour_amount * 1000 / self.accelerator.bandwidth_gb_s


@dataclass(frozen=True)
class CataloguePage:
    """`rows` pass the filter; `compared` are those of the comparison, whatever the filter says.

    `kept`: the filter as the form of the comparison sends it along; `take_out`: each compared row with the query of
    this page without it.
    """

    rows: tuple[Row, ...]
    compared: tuple[Row, ...]
    term: Term | None
    terms: tuple[Term, ...]
    currency: str
    as_of: datetime
    kept: tuple[tuple[str, str], ...]
    take_out: tuple[tuple[Row, str], ...]


def catalogue_page(
    entries: Sequence[CatalogueEntry],
    *,
    asked: Mapping[str, Any],
    marked: Collection[str],
    days: int,
    free: FreeNow,
) -> CataloguePage:
    """`asked`: the cleaned filter; `marked`: the boxes that are ticked, also where they are too many; `days`: the term
    that prices and free lots are for. No query."""
    terms = terms_on_sale(entries)
    compared = list(asked.get("compare") or ())
    rows = [_row(entry, asked.get("cards"), days, free, marked) for entry in entries]
    plain = [_row(entry, None, days, free, marked) for entry in entries]
    by_slug = {row.accelerator.slug: row for row in plain}
    beside = tuple(by_slug[slug] for slug in compared if slug in by_slug)
    kept = _kept(asked, days)
    return CataloguePage(
        rows=tuple(_sorted([row for row in rows if _passes(row, asked)], asked.get("sort") or "memory")),
        compared=beside,
        term=next((term for term in terms if term.days == days), None),
        terms=terms,
        currency=next((entry.currency for entry in entries if entry.currency), ""),
        as_of=free.as_of,
        kept=kept,
        take_out=_take_out(kept, beside),
    )


def terms_on_sale(entries: Sequence[CatalogueEntry]) -> tuple[Term, ...]:
    """The terms of all prices, short first."""
    found = {term.days: term for entry in entries for term in entry.terms}
    return tuple(found[days] for days in sorted(found))


def _row(entry: CatalogueEntry, cards: int | None, days: int, free: FreeNow, marked: Collection[str]) -> Row:
    accelerator = entry.accelerator
    sold = [lot for lot in entry.lots if days in lot.amounts and cards in (None, lot.cards)]
    lot = min(sold, key=lambda lot: lot.amounts[days]) if sold else None
    count, of = 0, 0
    if lot is not None:
        count, of = free.lots(
            accelerator_id=accelerator.pk, cards=lot.cards, driver_minimum=accelerator.driver_minimum or ""
        )
    return Row(
        accelerator=accelerator,
        lot=lot,
        lot_cards=entry.lot_cards,
        amount=lot.amounts[days] if lot is not None else None,
        card_hour_amount=entry.card_hour_amount,
        free=count,
        of=of,
        compared=accelerator.slug in marked,
    )


def _passes(row: Row, asked: Mapping[str, Any]) -> bool:
    """An unknown memory passes no memory filter; what is not on sale passes no filter about its lots."""
    accelerator = row.accelerator
    memory, most = asked.get("min_memory_gb"), asked.get("max_price")
    return (
        (memory is None or (accelerator.memory_gb or 0) >= memory)
        and asked.get("vendor", "") in ("", accelerator.vendor)
        and asked.get("stack", "") in ("", accelerator.stack)
        and (asked.get("cards") is None or row.on_sale)
        and (most is None or (row.amount is not None and row.amount <= most))
        and (not asked.get("free") or row.free > 0)
    )


def _sorted(rows: list[Row], sort: str) -> list[Row]:
    """Rows come by memory. What the order asks for and a row does not have puts it last."""
    last = Decimal("Infinity")
    keys = {
        "price": lambda row: last if row.amount is None else row.amount,
        "per_gb": lambda row: last if row.per_gb_cents is None else row.per_gb_cents,
        "bandwidth": lambda row: -(row.accelerator.bandwidth_gb_s or 0),
    }
    return sorted(rows, key=keys[sort]) if sort in keys else rows


def _kept(asked: Mapping[str, Any], days: int) -> tuple[tuple[str, str], ...]:
    """The filter as the form of the comparison sends it along."""
    values = {name: asked.get(name) for name in ("min_memory_gb", "vendor", "stack", "cards", "max_price")}
    values |= {"days": days, "sort": asked.get("sort"), "free": "on" if asked.get("free") else ""}
    return tuple((name, str(value)) for name, value in values.items() if value not in (None, "", "memory"))


def _take_out(kept: Sequence[tuple[str, str]], compared: Sequence[Row]) -> tuple[tuple[Row, str], ...]:
    """Each compared row with the query of the page without it."""
    slugs = [row.accelerator.slug for row in compared]
    return tuple(
        (row, urlencode([*kept, *(("compare", slug) for slug in slugs if slug != row.accelerator.slug)]))
        for row in compared
    )
