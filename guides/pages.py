"""One guide as its page shows it: the text with its figures filled in, and what stands beside it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal

from django.urls import reverse
from django.utils import translation
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from catalog import selectors as catalog
from catalog.offers import LotSpecRow
from core.units import day, gb
from guides.figures import Figures
from guides.library import Guide, guide_in
from guides.prose import Links, Prose, configure_address, rendered, rendered_line


@dataclass(frozen=True)
class TermPrice:
    days: int
    amount: Decimal
    url: str


@dataclass(frozen=True)
class LotPrices:
    """A related lot with today's price of each term."""

    code: str
    name: str
    cards: int
    memory: str
    prices: tuple[TermPrice, ...]


@dataclass(frozen=True)
class GuidePage:
    guide: Guide
    updated: str
    prose: Prose
    method: SafeString
    lots: tuple[LotPrices, ...]
    days: tuple[int, ...]
    currency: str
    planner_url: str
    read_next: tuple[Guide, ...]


def guide_page(guide: Guide, language: str) -> GuidePage:
    """One query where the text or the list of lots needs the catalogue, else none."""
    head = guide.head
    links = links_of(guide, language)
    figures = Figures(head.examples, catalog.lot_specs)
    # A text that stands in for a missing translation has the figures of its own language, and links to this one's.
    with translation.override(guide.language):
        body, method = figures.fill(guide.body), figures.fill(head.method)
    related = tuple(_lots(figures, head.lots)) if head.lots else ()
    return GuidePage(
        guide=guide,
        updated=day(head.updated),
        prose=rendered(body, links),
        method=rendered_line(method, links),
        lots=related,
        days=tuple(sorted({price.days for lot in related for price in lot.prices})),
        currency=figures.by_code[related[0].code].currency if related else "",
        planner_url=f"{reverse('shop:plan')}?{head.examples[head.planner].query}" if head.planner else "",
        read_next=tuple(_named(head.read_next, language)),
    )


def links_of(guide: Guide, language: str) -> Links:
    """What links of this guide may name, on a page in this language."""
    examples = guide.head.examples.items()
    return Links(language, tuple((name, example.query) for name, example in examples))


def _named(slugs: Iterable[str], language: str) -> Iterator[Guide]:
    for slug in slugs:
        found = guide_in(slug, language)
        if found is not None:
            yield found


def _lots(figures: Figures, codes: Iterable[str]) -> Iterator[LotPrices]:
    for code in codes:
        lot = figures.by_code.get(code)
        if lot is not None:
            yield _prices(lot)


def _prices(lot: LotSpecRow) -> LotPrices:
    return LotPrices(
        code=lot.code,
        name=lot.accelerator_name,
        cards=lot.cards,
        memory=_("not found") if lot.memory_gb is None else gb(lot.memory_gb),
        prices=tuple(
            TermPrice(days, amount, configure_address(lot.accelerator_slug, lot.code, days))
            for days, amount in sorted(lot.prices.items())
        ),
    )
