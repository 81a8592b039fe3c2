"""The price table that some figures make, not yet stored: published as it is, or compared with the one that sells."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.utils.translation import gettext_lazy as _

from catalog.figures import ACCELERATOR, OPTION, TERM, Figures
from catalog.models import Lot, LotPrice, Option, OptionPrice, PriceVersion, Term
from catalog.pricing import option_table_amount, table_amount
from core.errors import Refusal


@dataclass(frozen=True, slots=True)
class PriceTable:
    version: PriceVersion
    lots: tuple[LotPrice, ...]
    options: tuple[OptionPrice, ...]

    def is_like(self, other: "PriceTable") -> bool:
        """Whether both sell the same things at the same prices."""
        return self._content() == other._content()

    def _content(self) -> tuple[str, frozenset[tuple[object, ...]], frozenset[tuple[object, ...]]]:
        return (
            self.version.currency,
            frozenset(
                (p.lot_id, p.term_id, p.amount, p.list_amount, p.card_hour_amount, p.discount)
                for p in self.lots
            ),
            frozenset((p.option_id, p.term_id, p.amount) for p in self.options),
        )


def stored_table(version: PriceVersion) -> PriceTable:
    """A published table. 2 queries."""
    lots = version.lot_prices.select_related("lot__accelerator", "term", "version")
    options = version.option_prices.select_related("option", "term", "version")
    return PriceTable(version, tuple(lots), tuple(options))


def next_table(
    *, number: int, published_at: datetime, figures: Figures, note: str = "", published_by: str = ""
) -> PriceTable:
    """The table that the live figures make, with `figures` in the place of some. 4 queries; nothing is written.

    Raises Refusal(price_too_small).
    """
    version = PriceVersion(
        number=number,
        published_at=published_at,
        currency=settings.CURRENCY,
        note=note,
        published_by=published_by,
    )
    terms = list(Term.objects.order_by("days"))
    for term in terms:
        discount = figures.get((TERM, str(term.days)))
        if discount is not None:
            term.discount = discount
    return PriceTable(
        version,
        tuple(_lot_prices(version, terms, figures)),
        tuple(_option_prices(version, terms, figures)),
    )


def _lot_prices(version: PriceVersion, terms: list[Term], figures: Figures) -> Iterable[LotPrice]:
    # Withdrawn lots are priced too: putting one back on sale must not need a new table.
    for lot in Lot.objects.select_related("accelerator").order_by("pk"):
        card_hour_amount = figures.get((ACCELERATOR, lot.accelerator.slug), lot.accelerator.card_hour_amount)
        if card_hour_amount is None:
            continue
        for term in terms:
            amount = table_amount(
                card_hour_amount=card_hour_amount, cards=lot.cards, days=term.days, discount=term.discount
            )
            if amount <= 0:
                raise Refusal(
                    code="price_too_small",
                    message=_("The price of %(lot)s rounds to nothing. Term in days: %(days)s."),
                    params={"lot": lot.code, "days": term.days},
                )
            yield LotPrice(
                version=version,
                lot=lot,
                term=term,
                amount=amount,
                list_amount=table_amount(card_hour_amount=card_hour_amount, cards=lot.cards, days=term.days),
                card_hour_amount=card_hour_amount,
                discount=term.discount,
            )


def _option_prices(version: PriceVersion, terms: list[Term], figures: Figures) -> Iterable[OptionPrice]:
    for option in Option.objects.order_by("pk"):
        unit_amount = figures.get((OPTION, option.code), option.unit_amount)
        if unit_amount is None:
            continue
        for term in terms:
            amount = option_table_amount(unit_amount=unit_amount, recurring=option.recurring, days=term.days)
            yield OptionPrice(version=version, option=option, term=term, amount=amount)
