"""The quote that the start page shows as an example: a real lot at its published price, priced as a quote is."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings

from catalog import selectors as catalog
from catalog.models import Accelerator
from catalog.offers import LotOffer
from catalog.pricing import PricedQuote, price_quote
from catalog.selectors import CatalogueEntry
from catalog.tax import bill_to, tax_for


@dataclass(frozen=True)
class Example:
    accelerator: Accelerator
    offer: LotOffer
    priced: PricedQuote

    @property
    def hours(self) -> int:
        return self.offer.days * 24


def example_of(entries: Sequence[CatalogueEntry]) -> Example | None:
    """The largest card that is sold alone, for the middle term; None where nothing is on sale. 1 query."""
    entry = next(
        (e for e in reversed(entries) if e.lot_cards[:1] == (1,) and e.accelerator.stack == "CUDA"), None
    )
    entry = entry or next((e for e in entries if e.on_sale), None)
    if entry is None:
        return None
    lot, terms = entry.lots[0], entry.terms
    offer = catalog.lot_offer(lot=lot.code, days=terms[len(terms) // 2].days)
    priced = price_quote(
        lot_price=offer, lots=1, options=(), tax=tax_for(bill_to(country=settings.SHOP_COUNTRY))
    )
    return Example(entry.accelerator, offer, priced)
