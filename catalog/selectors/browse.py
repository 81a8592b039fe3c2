"""The catalogue as lists: the page, the API and the planner look at it from here."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from catalog.models import Accelerator, Image, LotPrice, Option, Term
from catalog.models.accelerator import Stack
from catalog.offers import LotListing, LotSpecRow
from catalog.selectors.current import (
    current_lot_prices,
    current_option_prices,
    is_code,
    require_code,
    terms_of,
)
from catalog.stack import check_image
from core.errors import Invalid, NotFound


@dataclass(frozen=True, slots=True)
class CheapestLot:
    """The lot with the smallest price of an accelerator for one term."""

    lot_code: str
    cards: int
    amount: Decimal


@dataclass(frozen=True, slots=True)
class ListedLot:
    """One lot on sale with its price for each term."""

    code: str
    cards: int
    amounts: Mapping[int, Decimal]


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """One accelerator of the list; without a price it is shown and not on sale. `lots`: few cards first."""

    accelerator: Accelerator
    lots: tuple[ListedLot, ...]
    card_hour_amount: Decimal | None
    cheapest: Mapping[int, CheapestLot]
    terms: tuple[Term, ...]
    currency: str | None

    @property
    def lot_cards(self) -> tuple[int, ...]:
        return tuple(lot.cards for lot in self.lots)

    @property
    def on_sale(self) -> bool:
        return bool(self.cheapest)


def catalogue(*, min_memory_gb: int | None = None, stack: str | None = None) -> tuple[CatalogueEntry, ...]:
    """Every accelerator, small memory first, with its cheapest lot by term. 2 queries.

    An accelerator whose memory is unknown passes no memory filter: to say that it suffices would be a guess.
    Raises Invalid(unknown_stack).
    """
    accelerators = Accelerator.objects.order_by("memory_gb", "name", "slug")
    if min_memory_gb is not None:
        accelerators = accelerators.filter(memory_gb__gte=min_memory_gb)
    if stack is not None:
        if stack not in Stack.values:
            raise Invalid(code="unknown_stack", message=_("Choose CUDA or ROCm."), field="stack")
        accelerators = accelerators.filter(stack=stack)
    prices: dict[int, list[LotPrice]] = defaultdict(list)
    for price in current_lot_prices().order_by("amount", "lot__cards"):
        prices[price.lot.accelerator_id].append(price)
    return tuple(_entry(accelerator, prices[accelerator.pk]) for accelerator in accelerators)


def accelerator_by_slug(*, slug: str) -> Accelerator:
    """One accelerator, on sale or not. Raises NotFound. 1 query."""
    found = Accelerator.objects.filter(slug=slug).first() if is_code(slug) else None
    if found is None:
        raise NotFound(code="not_found", message=_("There is no such accelerator."))
    return found


def lots_on_sale(
    *, accelerator: str | None = None, min_memory_gb: int | None = None
) -> tuple[LotListing, ...]:
    """Lots on sale with prices, environments that run and options, by memory and cards. 4 queries.

    Raises Invalid(invalid_text) for a filter that cannot be a slug; an unknown slug finds nothing.
    """
    prices = _ordered_prices()
    if accelerator is not None:
        prices = prices.filter(lot__accelerator__slug=require_code(accelerator, field="accelerator"))
    if min_memory_gb is not None:
        prices = prices.filter(lot__accelerator__memory_gb__gte=min_memory_gb)
    images = list(Image.objects.filter(on_sale=True).order_by("code"))
    sold = current_option_prices().values("option")
    options = list(Option.objects.filter(pk__in=sold).order_by("code").prefetch_related("lots"))
    return tuple(_listing(group, images, options) for group in _by_lot(prices))


def lot_specs() -> tuple[LotSpecRow, ...]:
    """Lots on sale as the planner reads them (planner.lots.LotSpec). 1 query."""
    return tuple(_spec(group) for group in _by_lot(_ordered_prices()))


def _ordered_prices() -> QuerySet[LotPrice]:
    return current_lot_prices().order_by(
        "lot__accelerator__memory_gb", "lot__accelerator__slug", "lot__cards", "term__days"
    )


def _by_lot(prices: Iterable[LotPrice]) -> list[list[LotPrice]]:
    groups: dict[int, list[LotPrice]] = defaultdict(list)
    for price in prices:
        groups[price.lot_id].append(price)
    return list(groups.values())


def _entry(accelerator: Accelerator, prices: Sequence[LotPrice]) -> CatalogueEntry:
    """`prices` come cheapest first; the first of each term is the cheapest."""
    cheapest: dict[int, CheapestLot] = {}
    for price in prices:
        cheapest.setdefault(price.term.days, CheapestLot(price.lot.code, price.lot.cards, price.amount))
    amounts: dict[tuple[int, str], dict[int, Decimal]] = defaultdict(dict)
    for price in prices:
        amounts[price.lot.cards, price.lot.code][price.term.days] = price.amount
    return CatalogueEntry(
        accelerator=accelerator,
        lots=tuple(ListedLot(code, cards, by_days) for (cards, code), by_days in sorted(amounts.items())),
        card_hour_amount=prices[0].card_hour_amount if prices else None,
        cheapest=dict(sorted(cheapest.items())),
        terms=terms_of(prices),
        currency=prices[0].version.currency if prices else None,
    )


def _listing(prices: Sequence[LotPrice], images: Sequence[Image], options: Sequence[Option]) -> LotListing:
    lot, version = prices[0].lot, prices[0].version
    accelerator = lot.accelerator
    return LotListing(
        code=lot.code,
        accelerator_slug=accelerator.slug,
        accelerator_name=accelerator.name,
        cards=lot.cards,
        memory_gb=accelerator.memory_gb,
        vcpu=lot.vcpu,
        ram_gb=lot.ram_gb,
        nvme_gb=lot.nvme_gb,
        uplink_gbit_s=lot.uplink_gbit_s,
        specs_are_demo=lot.specs_are_demo,
        currency=version.currency,
        price_version=version.number,
        prices={price.term.days: price.amount for price in prices},
        images=tuple(image.code for image in images if check_image(image, accelerator).runs),
        options=tuple(
            option.code
            for option in options
            if option.for_all_lots or lot.pk in {x.pk for x in option.lots.all()}
        ),
    )


def _spec(prices: Sequence[LotPrice]) -> LotSpecRow:
    lot = prices[0].lot
    accelerator = lot.accelerator
    return LotSpecRow(
        code=lot.code,
        accelerator_slug=accelerator.slug,
        accelerator_name=accelerator.name,
        cards=lot.cards,
        memory_gb=accelerator.memory_gb,
        usable_gib=None if accelerator.usable_gib is None else float(accelerator.usable_gib),
        bandwidth_gb_s=accelerator.bandwidth_gb_s,
        bf16_dense_tflops=accelerator.bf16_dense_tflops,
        fp8_dense_tflops=accelerator.fp8_dense_tflops,
        stack=accelerator.stack,
        target=accelerator.target,
        link=accelerator.link,
        link_gb_s=None if accelerator.link_gb_s is None else float(accelerator.link_gb_s),
        currency=prices[0].version.currency,
        prices={price.term.days: price.amount for price in prices},
    )
