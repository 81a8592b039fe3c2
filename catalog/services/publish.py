"""Turn the operator's working figures into a new price table: the only place where prices are rounded."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext_lazy as _

from catalog.locks import price_table_for_update
from catalog.models import Lot, LotPrice, Option, OptionPrice, PriceVersion, Term
from catalog.pricing import option_table_amount, table_amount
from core.clock import now
from core.errors import Refusal


@dataclass(frozen=True, slots=True)
class Published:
    """`created` is False where the figures equal those of the current table, which then stands."""

    number: int
    created: bool
    lot_prices: int
    option_prices: int


@transaction.atomic
def publish_prices(*, note: str = "") -> Published:
    """Make the next price table from the working figures, or leave the current one where nothing changed.

    Locks the right to publish (locks.price_table_for_update). Raises Refusal(nothing_to_publish,
    price_too_small). May be repeated. Open quotes keep the table they were made from.
    """
    price_table_for_update()
    current = PriceVersion.objects.order_by("-number").first()
    version = PriceVersion(
        number=current.number + 1 if current else 1,
        published_at=now(),
        currency=settings.CURRENCY,
        note=note,
    )
    terms = list(Term.objects.order_by("days"))
    lot_prices = list(_lot_prices(version, terms))
    option_prices = list(_option_prices(version, terms))
    if not lot_prices:
        raise Refusal(code="nothing_to_publish", message=_("No lot has a price and a term."))
    if current and _figures(current, *_rows(current)) == _figures(version, lot_prices, option_prices):
        return Published(
            current.number, created=False, lot_prices=len(lot_prices), option_prices=len(option_prices)
        )
    version.save(force_insert=True)
    LotPrice.objects.bulk_create(lot_prices)
    OptionPrice.objects.bulk_create(option_prices)
    return Published(
        version.number, created=True, lot_prices=len(lot_prices), option_prices=len(option_prices)
    )


def _lot_prices(version: PriceVersion, terms: list[Term]) -> Iterable[LotPrice]:
    # Withdrawn lots are priced too: putting one back on sale must not need a new table.
    for lot in Lot.objects.select_related("accelerator").order_by("pk"):
        card_hour_amount = lot.accelerator.card_hour_amount
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


def _option_prices(version: PriceVersion, terms: list[Term]) -> Iterable[OptionPrice]:
    for option in Option.objects.exclude(unit_amount=None).order_by("pk"):
        for term in terms:
            amount = option_table_amount(
                unit_amount=option.unit_amount or Decimal(0), recurring=option.recurring, days=term.days
            )
            yield OptionPrice(version=version, option=option, term=term, amount=amount)


def _rows(version: PriceVersion) -> tuple[list[LotPrice], list[OptionPrice]]:
    return list(version.lot_prices.all()), list(version.option_prices.all())


def _figures(
    version: PriceVersion, lot_prices: list[LotPrice], option_prices: list[OptionPrice]
) -> tuple[str, frozenset[tuple[object, ...]], frozenset[tuple[object, ...]]]:
    return (
        version.currency,
        frozenset(
            (p.lot_id, p.term_id, p.amount, p.list_amount, p.card_hour_amount, p.discount) for p in lot_prices
        ),
        frozenset((p.option_id, p.term_id, p.amount) for p in option_prices),
    )
