"""What the configurator of one accelerator offers: lots, what is free, terms, environments, options."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from django.conf import settings

from catalog import selectors as catalog
from catalog.models import Accelerator, Lot, Term
from catalog.offers import LotOffer, OptionOffer
from catalog.selectors import ImageVerdict, Sale
from shop.pages.calendar import Calendar, calendar


@dataclass(frozen=True)
class LotChoice:
    """A lot with its price per term and how many of it were free when the calendar was read."""

    lot: Lot
    prices: Mapping[int, LotOffer]
    free: int


@dataclass(frozen=True)
class OptionChoiceRow:
    """An option with the price of one unit per term."""

    offer: OptionOffer
    prices: Mapping[int, Decimal]


@dataclass(frozen=True)
class Configurator:
    """`days` is the term for which free lots were counted; `calendar` is of the chosen lot, else of the smallest."""

    accelerator: Accelerator
    lots: tuple[LotChoice, ...]
    terms: tuple[Term, ...]
    images: tuple[ImageVerdict, ...]
    options: tuple[OptionChoiceRow, ...]
    currency: str
    days: int
    calendar: Calendar | None

    @property
    def on_sale(self) -> bool:
        return bool(self.lots)

    @property
    def option_fields(self) -> list[tuple[str, str, int]]:
        return [(row.offer.code, row.offer.name, row.offer.max_quantity) for row in self.options]

    @property
    def shared(self) -> Lot | None:
        """The smallest lot of several cards, which are not one memory."""
        return next((row.lot for row in self.lots if row.lot.cards > 1), None)

    def offer_for(self, lot_code: str, days: int) -> LotOffer | None:
        """The price of one lot for one term, or None where it is not sold."""
        return next((row.prices.get(days) for row in self.lots if row.lot.code == lot_code), None)


def configurator(
    *, sale: Sale, days: int | None, lot_code: str = "", first_day: date | None = None
) -> Configurator:
    """Four queries where it is on sale: environments, options and two for the calendar. Else none."""
    accelerator, terms = sale.accelerator, sale.terms
    known = [term.days for term in terms]
    chosen = days if days in known else (known[0] if known else 3)
    if not sale.lots:
        return Configurator(accelerator, (), (), (), (), settings.CURRENCY, chosen, None)
    shown = calendar(
        lot=next((lot for lot in sale.lots if lot.code == lot_code), sale.lots[0]),
        days=chosen,
        first_day=first_day,
        sizes=[lot.cards for lot in sale.lots],
    )
    return Configurator(
        accelerator=accelerator,
        lots=tuple(
            LotChoice(
                lot=lot,
                prices={offer.days: offer for offer in sale.offers if offer.lot_code == lot.code},
                free=shown.at_once[lot.cards],
            )
            for lot in sale.lots
        ),
        terms=terms,
        images=catalog.images_for(accelerator=accelerator),
        options=_options(sale.lots[0].code),
        currency=sale.offers[0].currency,
        days=chosen,
        calendar=shown,
    )


def _options(lot_code: str) -> tuple[OptionChoiceRow, ...]:
    """Options are sold by accelerator, so the first lot speaks for all of them."""
    return tuple(
        OptionChoiceRow(
            offer=next(iter(offers.values())),
            prices={days: offer.unit_amount for days, offer in offers.items()},
        )
        for offers in catalog.options_by_term(lot=lot_code).values()
    )
