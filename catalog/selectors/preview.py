"""What publishing a draft would do: to each price, and to sample quotes that the very pricing code works out."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby, pairwise

from django.conf import settings
from django.utils.translation import gettext as _

from catalog.figures import Figures
from catalog.models import Lot, LotPrice, Option, OptionPrice, PriceVersion, Term
from catalog.offers import ChosenOption
from catalog.price_table import PriceTable, next_table, stored_table
from catalog.pricing import price_quote
from catalog.selectors.choice import lot_offer_of, option_offer_of
from catalog.selectors.current import current_price_version
from catalog.tax import BUSINESS, CONSUMER, BillTo, tax_for
from core.clock import now
from core.errors import Refusal
from core.formats import amount_text, percent_text

# A change of more than half is more often a slip of the keyboard than a decision.
LARGE_CHANGE = Decimal("0.5")
# One whole node of most makers: the largest order that is common.
LARGE_LOT = 8


@dataclass(frozen=True, slots=True)
class PriceChange:
    """One price that becomes another. None: not in that table, so not on sale."""

    name: str
    code: str
    days: int
    old: Decimal | None
    new: Decimal | None

    @property
    def fraction(self) -> Decimal | None:
        """By how much it changes, as a fraction of the old price with three places."""
        if not self.old or self.new is None:
            return None
        return ((self.new - self.old) / self.old).quantize(Decimal("0.001"))

    @property
    def moved(self) -> bool:
        return self.old != self.new


@dataclass(frozen=True, slots=True)
class ChangedRow:
    """A lot or an option that costs something else for at least one term: its prices, short terms first."""

    name: str
    code: str
    prices: tuple[PriceChange, ...]


@dataclass(frozen=True, slots=True)
class Sample:
    """A quote that a buyer could ask for, at the table that sells and at the one of the draft."""

    name: str
    lot: str
    days: int
    options: int
    bill_to: BillTo
    old: Decimal | None
    new: Decimal | None


@dataclass(frozen=True, slots=True)
class Preview:
    """`refusal` says why the figures make no table; `differs` whether publishing would change anything."""

    number: int
    currency: str
    terms: tuple[int, ...] = ()
    rows: tuple[ChangedRow, ...] = ()
    changed: int = 0
    unchanged: int = 0
    samples: tuple[Sample, ...] = ()
    unchanged_samples: int = 0
    warnings: tuple[str, ...] = ()
    refusal: str = ""
    differs: bool = False


def preview_of(*, figures: Figures) -> Preview:
    """The effect of some figures on the table that sells. 9 queries, whatever the size of the table."""
    current = current_price_version()
    number = current.number + 1 if current else 1
    old = stored_table(current) if current else PriceTable(PriceVersion(number=0), (), ())
    try:
        new = next_table(number=number, published_at=now(), figures=figures)
    except Refusal as refusal:
        return Preview(number, settings.CURRENCY, refusal=refusal.text)
    changes = list(_changes(old, new))
    moved = [change for change in changes if change.moved]
    terms = tuple(sorted({change.days for change in changes}))
    samples = list(_samples(old, new))
    moved_samples = tuple(sample for sample in samples if sample.old != sample.new)
    return Preview(
        number=number,
        currency=settings.CURRENCY,
        terms=terms,
        rows=tuple(_rows(changes, terms)),
        changed=len(moved),
        unchanged=len(changes) - len(moved),
        samples=moved_samples,
        unchanged_samples=len(samples) - len(moved_samples),
        warnings=(*_change_warnings(moved), *_term_warnings(new)),
        refusal="" if new.lots else _("No lot has a price and a term."),
        differs=not old.is_like(new),
    )


def _changes(old: PriceTable, new: PriceTable) -> Iterable[PriceChange]:
    """Lots by accelerator and size, then options; short terms first."""
    before = {**_by_name(old.lots), **_by_name(old.options)}
    after = {**_by_name(new.lots), **_by_name(new.options)}
    for key in sorted(before.keys() | after.keys()):
        _group, name, _cards, code, days = key
        yield PriceChange(name, code, days, old=before.get(key), new=after.get(key))


def _rows(changes: Iterable[PriceChange], terms: tuple[int, ...]) -> Iterable[ChangedRow]:
    """What changes, one row for each lot or option, with a place for every term."""
    for (name, code), group in groupby(changes, key=lambda change: (change.name, change.code)):
        by_term = {change.days: change for change in group}
        if any(change.moved for change in by_term.values()):
            nothing = (PriceChange(name, code, days, old=None, new=None) for days in terms)
            yield ChangedRow(name, code, tuple(by_term.get(none.days, none) for none in nothing))


def _by_name(prices: Iterable[LotPrice | OptionPrice]) -> dict[tuple[int, str, int, str, int], Decimal]:
    found = {}
    for price in prices:
        if isinstance(price, LotPrice):
            lot = price.lot
            found[0, lot.accelerator.name, lot.cards, lot.code, price.term.days] = price.amount
        else:
            found[1, _(price.option.name), 0, price.option.code, price.term.days] = price.amount
    return found


def _samples(old: PriceTable, new: PriceTable) -> Iterable[Sample]:
    """Three for each accelerator on sale: small and short, large and long with every option, a business."""
    lots: dict[str, list[Lot]] = {}
    for price in (*new.lots, *old.lots):
        if price.lot.on_sale and price.lot not in (known := lots.setdefault(price.lot.accelerator.name, [])):
            known.append(price.lot)
    terms = sorted({price.term.days for price in (*new.lots, *old.lots)})
    sold = {option.pk: frozenset(lot.pk for lot in option.lots.all()) for option in _options_on_sale()}
    consumer, business = (BillTo(settings.SHOP_COUNTRY, kind, None) for kind in (CONSUMER, BUSINESS))
    for name, known in sorted(lots.items()):
        known.sort(key=lambda lot: lot.cards)
        largest = [lot for lot in known if lot.cards <= LARGE_LOT][-1:] or known[:1]
        for lot, days, options, who in (
            (known[0], terms[0], False, consumer),
            (known[0], terms[len(terms) // 2], False, business),
            (largest[0], terms[-1], True, consumer),
        ):
            chosen = sold if options else {}
            yield Sample(
                name=name,
                lot=lot.code,
                days=days,
                options=sum(_fits(option, lot, of, new) for option, of in chosen.items()),
                bill_to=who,
                old=_total(old, lot, days, chosen, who),
                new=_total(new, lot, days, chosen, who),
            )


def _options_on_sale() -> Iterable[Option]:
    return Option.objects.filter(on_sale=True).prefetch_related("lots")


def _fits(option_id: int, lot: Lot, lots: frozenset[int], table: PriceTable) -> bool:
    return any(_goes_with(price, lot, lots) for price in table.options if price.option_id == option_id)


def _goes_with(price: OptionPrice, lot: Lot, lots: frozenset[int]) -> bool:
    return price.option.for_all_lots or lot.pk in lots


def _total(
    table: PriceTable, lot: Lot, days: int, sold: Mapping[int, frozenset[int]], who: BillTo
) -> Decimal | None:
    """What one lot costs with one of each option that goes with it; None where the table does not sell it."""
    prices = [price for price in table.lots if price.lot_id == lot.pk and price.term.days == days]
    if not prices:
        return None
    options = [
        ChosenOption(option_offer_of(price), 1)
        for price in table.options
        if price.term.days == days
        and price.option_id in sold
        and _goes_with(price, lot, sold[price.option_id])
    ]
    return price_quote(lot_price=lot_offer_of(prices[0]), lots=1, options=options, tax=tax_for(who)).total


def _change_warnings(changes: Iterable[PriceChange]) -> Iterable[str]:
    """One sentence for each thing, not for each term: the first price that shows it stands for the rest."""
    met: set[tuple[str, str]] = set()
    for change in changes:
        kind, text = _warning_of(change)
        if kind and (kind, change.name) not in met:
            met.add((kind, change.name))
            yield text


def _warning_of(change: PriceChange) -> tuple[str, str]:
    facts = {"name": change.name, "code": change.code, "days": change.days}
    if change.new is None:
        return "gone", _("%(name)s has no price any more: it will not be on sale.") % facts
    if change.new == 0:
        return "free", _("%(name)s will cost nothing.") % facts
    fraction = change.fraction
    if fraction is None or abs(fraction) <= LARGE_CHANGE:
        return "", ""
    facts |= {
        "percent": percent_text(abs(fraction)),
        "old": amount_text(change.old or Decimal(0)),
        "new": amount_text(change.new),
    }
    if fraction > 0:
        text = _("%(name)s rises by %(percent)s: %(code)s from %(old)s to %(new)s. Term in days: %(days)s.")
    else:
        text = _("%(name)s falls by %(percent)s: %(code)s from %(old)s to %(new)s. Term in days: %(days)s.")
    return "large", text % facts


def _term_warnings(table: PriceTable) -> Iterable[str]:
    """Discounts that a buyer would walk around: nobody takes a long term that a short one undercuts."""
    terms = sorted({price.term for price in table.lots}, key=lambda term: term.days)
    for short, long in pairwise(terms):
        facts = {"short": short.days, "long": long.days}
        if _whole(long) <= _whole(short):
            yield _("%(long)s days will cost no more than %(short)s days in all.") % facts
        elif long.discount < short.discount:
            yield _("%(long)s days have a smaller discount than %(short)s days.") % facts


def _whole(term: Term) -> Decimal:
    return term.days * (1 - term.discount)
