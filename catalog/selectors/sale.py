"""What the configurator of one accelerator offers, in as few looks as possible."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Q

from catalog.models import Accelerator, Lot, Option, Term
from catalog.offers import LotOffer, OptionOffer
from catalog.selectors.browse import accelerator_by_slug
from catalog.selectors.choice import lot_offer_of, option_offer_of
from catalog.selectors.current import current_lot_prices, current_option_prices, is_code, terms_of


@dataclass(frozen=True, slots=True)
class Sale:
    """One accelerator; without lots it is shown and not on sale. Lots with few cards and short terms come first."""

    accelerator: Accelerator
    lots: tuple[Lot, ...]
    terms: tuple[Term, ...]
    offers: tuple[LotOffer, ...]


def sale_of(*, slug: str) -> Sale:
    """An accelerator with its lots, terms and prices. Raises NotFound. 1 query, 2 where it is not on sale."""
    prices = []
    if is_code(slug):
        found = current_lot_prices().filter(lot__accelerator__slug=slug)
        prices = list(found.order_by("lot__cards", "term__days"))
    if not prices:
        return Sale(accelerator=accelerator_by_slug(slug=slug), lots=(), terms=(), offers=())
    return Sale(
        accelerator=prices[0].lot.accelerator,
        lots=tuple({price.lot_id: price.lot for price in prices}.values()),
        terms=terms_of(prices),
        offers=tuple(lot_offer_of(price) for price in prices),
    )


def options_by_term(*, lot: str) -> Mapping[str, Mapping[int, OptionOffer]]:
    """The options that are sold with a lot, by code and term, in the order of their names. 1 query."""
    limited = Option.objects.filter(lots__code=lot).values("pk")
    prices = current_option_prices().filter(Q(option__for_all_lots=True) | Q(option__in=limited))
    found: dict[str, dict[int, OptionOffer]] = defaultdict(dict)
    for price in prices.order_by("option__name", "option__code", "term__days"):
        found[price.option.code][price.term.days] = option_offer_of(price)
    return found
