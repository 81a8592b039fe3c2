"""What the configurator of one accelerator offers: lots, what is free, terms, environments, options."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.conf import settings

from catalog import selectors as catalog
from catalog.models import Accelerator, Lot, Term
from catalog.offers import LotOffer, OptionOffer
from catalog.selectors import ImageVerdict
from core import clock
from fleet.periods import DAY_SECONDS, held_period
from fleet.selectors import free_lots


@dataclass(frozen=True)
class LotChoice:
    """A lot with its price per term and how many of it were free when it was read."""

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
    """`days` is the term for which free lots were counted, at `as_of`."""

    accelerator: Accelerator
    lots: tuple[LotChoice, ...]
    terms: tuple[Term, ...]
    images: tuple[ImageVerdict, ...]
    options: tuple[OptionChoiceRow, ...]
    currency: str
    days: int
    as_of: datetime

    @property
    def on_sale(self) -> bool:
        return bool(self.lots)

    @property
    def option_fields(self) -> list[tuple[str, str, int]]:
        return [(row.offer.code, row.offer.name, row.offer.max_quantity) for row in self.options]


def configurator(*, accelerator: Accelerator, days: int | None) -> Configurator:
    """Four queries, and three for each lot (what is free) and one for each term (options)."""
    offers = catalog.lot_offers(accelerator=accelerator)
    terms = catalog.terms()
    known = [term.days for term in terms]
    chosen = days if days in known else (known[0] if known else 3)
    lots = {lot.code: lot for lot in Lot.objects.filter(code__in={offer.lot_code for offer in offers})}
    codes = list(dict.fromkeys(offer.lot_code for offer in offers))
    for lot in lots.values():
        lot.accelerator = accelerator
    return Configurator(
        accelerator=accelerator,
        lots=tuple(
            LotChoice(
                lot=lots[code],
                prices={offer.days: offer for offer in offers if offer.lot_code == code},
                free=_free(lots[code], chosen),
            )
            for code in codes
            if code in lots
        ),
        terms=terms,
        images=catalog.images_for(accelerator=accelerator),
        options=_options(codes[0], known) if codes else (),
        currency=offers[0].currency if offers else settings.CURRENCY,
        days=chosen,
        as_of=clock.now(),
    )


def _free(lot: Lot, days: int) -> int:
    """As a sale that starts now would find it; the sale itself looks again under locks."""
    moment = clock.now()
    period = held_period(
        placed_at=moment,
        starts_at=None,
        release_at=moment + timedelta(seconds=settings.HOLD_SECONDS + settings.RELEASE_AFTER_EXPIRY_SECONDS),
        term_seconds=days * DAY_SECONDS,
    )
    driver = lot.accelerator.driver_minimum or ""
    return free_lots(lot=lot, period=period, driver_minimum=driver).lots


def _options(lot_code: str, terms: list[int]) -> tuple[OptionChoiceRow, ...]:
    """Options are sold by accelerator, so the first lot speaks for all of them."""
    by_term = {days: catalog.option_offers(lot=lot_code, days=days) for days in terms}
    rows: dict[str, dict[int, OptionOffer]] = {}
    for days, offers in by_term.items():
        for offer in offers:
            rows.setdefault(offer.code, {})[days] = offer
    return tuple(
        OptionChoiceRow(
            offer=next(iter(found.values())),
            prices={days: offer.unit_amount for days, offer in found.items()},
        )
        for found in rows.values()
    )
