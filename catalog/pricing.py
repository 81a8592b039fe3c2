"""What an order costs: pure arithmetic on published prices, exact to the cent, no database.

Every amount is a Decimal in the selling currency. A float is refused: it would carry a hidden rounding.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.utils.translation import gettext_lazy as _

from catalog.offers import ChosenOption, LotOffer
from catalog.tax import TaxRate
from core.errors import Invalid
from core.money import CENT, quantize

HOURS_PER_DAY = 24  # a term is days of exactly 24 hours (DESIGN rule 13)
# Above any fleet that one order can ask for; keeps products far inside the 28 digits of a Decimal context.
MAX_LOTS = 1_000

KIND_LOT = "lot"
KIND_OPTION = "option"
KIND_TAX = "tax"


@dataclass(frozen=True, slots=True)
class PricedLine:
    """`amount` is `unit_amount` x `quantity`; `facts` are plain strings for a text in any language."""

    kind: str
    code: str
    facts: Mapping[str, str]
    quantity: int
    unit_amount: Decimal
    amount: Decimal


@dataclass(frozen=True, slots=True)
class PricedQuote:
    """Lines add up to `total`; `saving` is what the term takes off the list price, text and never a line.

    With prices that contain the tax (`tax_included`) `total` is the sum of the shown prices, `tax` is what it
    contains and `subtotal` the rest; the tax line then adds nothing.
    """

    lines: tuple[PricedLine, ...]
    subtotal: Decimal
    tax: Decimal
    total: Decimal
    currency: str
    price_version: int
    list_price: Decimal
    saving: Decimal
    tax_included: bool = False


def table_amount(
    *, card_hour_amount: Decimal, cards: int, days: int, discount: Decimal = Decimal(0)
) -> Decimal:
    """Price of one lot for one term: half up of card-hour price x cards x 24 x days x (1 - discount).

    `card_hour_amount` > 0, `cards` and `days` >= 1, 0 <= `discount` < 1 (a fraction). This is the only place
    where the price of a lot is rounded (DESIGN rule 12). Raises ValueError out of these ranges, TypeError for
    floats.
    """
    _require_decimal(card_hour_amount, discount)
    if card_hour_amount <= 0 or cards < 1 or days < 1 or not 0 <= discount < 1:
        raise ValueError(
            "A lot price needs a positive price, cards and days, and a discount from 0 to below 1."
        )
    return quantize(card_hour_amount * cards * HOURS_PER_DAY * days * (1 - discount))


def option_table_amount(*, unit_amount: Decimal, recurring: bool, days: int) -> Decimal:
    """Price of one unit of an option for one term: by day when recurring, else once; half up, no discount.

    `unit_amount` >= 0, `days` >= 1. Raises ValueError out of these ranges, TypeError for floats.
    """
    _require_decimal(unit_amount)
    if unit_amount < 0 or days < 1:
        raise ValueError("An option price needs an amount of at least zero and at least one day.")
    return quantize(unit_amount * days if recurring else unit_amount)


def list_price(*, lot_price: LotOffer, lots: int) -> Decimal:
    """What the lots would cost without the discount of the term; for the text about the saving only."""
    return lot_price.list_amount * lots


def price_quote(
    *, lot_price: LotOffer, lots: int, options: Sequence[ChosenOption], tax: TaxRate
) -> PricedQuote:
    """Price `lots` lots (1 to MAX_LOTS) with options and tax.

    A line is table price x quantity and is not rounded again. The tax is rounded once for the whole quote: the sum
    x rate, half up, or, where prices contain it, what is left of the sum after sum / (1 + rate), half up.
    Raises Invalid(lots_out_of_range), ValueError for option prices of another table, term or currency or with
    a quantity out of bounds (selectors.chosen_options refuses those politely), TypeError for floats.
    """
    if not 1 <= lots <= MAX_LOTS:
        raise Invalid(
            code="lots_out_of_range",
            message=_("The number of lots must be between 1 and %(maximum)s."),
            field="lots",
            params={"maximum": MAX_LOTS},
        )
    lines = [_lot_line(lot_price, lots), *(_option_line(lot_price, option) for option in options)]
    shown = sum((line.amount for line in lines), Decimal("0.00"))
    amount = _tax_amount(shown, tax)
    undiscounted = list_price(lot_price=lot_price, lots=lots)
    return PricedQuote(
        lines=(*lines, _tax_line(amount, tax)),
        subtotal=shown - amount if tax.included else shown,
        tax=amount,
        total=shown if tax.included else shown + amount,
        currency=lot_price.currency,
        price_version=lot_price.price_version,
        list_price=undiscounted,
        saving=undiscounted - lines[0].amount,
        tax_included=tax.included,
    )


def plain_amount(amount: Decimal) -> str:
    """A price as text with at least two places and no needless zeros: 6.4900 -> 6.49, 0.3525 -> 0.3525."""
    cents = amount.quantize(CENT)
    return f"{cents}" if cents == amount else f"{amount.normalize():f}"


def _lot_line(offer: LotOffer, lots: int) -> PricedLine:
    _require_cents(offer.amount, offer.list_amount)
    return PricedLine(
        kind=KIND_LOT,
        code=offer.lot_code,
        facts={
            "accelerator": offer.accelerator_slug,
            "name": offer.accelerator_name,
            "cards": str(offer.cards),
            "days": str(offer.days),
            "hours": str(offer.days * HOURS_PER_DAY),
            "card_hour_amount": plain_amount(offer.card_hour_amount),
            "discount": f"{offer.discount:f}",
            "list_amount": f"{offer.list_amount:f}",
        },
        quantity=lots,
        unit_amount=offer.amount,
        amount=offer.amount * lots,
    )


def _option_line(lot_price: LotOffer, option: ChosenOption) -> PricedLine:
    offer, quantity = option.offer, option.quantity
    _require_cents(offer.unit_amount)
    if (offer.price_version, offer.currency, offer.days) != (
        lot_price.price_version,
        lot_price.currency,
        lot_price.days,
    ):
        raise ValueError("An option is priced from the table, currency and term of its lot.")
    if not 1 <= quantity <= offer.max_quantity:
        raise ValueError("The quantity of an option lies between 1 and its bound.")
    return PricedLine(
        kind=KIND_OPTION,
        code=offer.code,
        facts={
            "name": offer.name,
            "unit": offer.unit,
            "recurring": "true" if offer.recurring else "false",
            "days": str(offer.days),
        },
        quantity=quantity,
        unit_amount=offer.unit_amount,
        amount=offer.unit_amount * quantity,
    )


def _tax_amount(shown: Decimal, tax: TaxRate) -> Decimal:
    _require_decimal(tax.rate)
    if tax.rate < 0:
        raise ValueError("A tax rate is not negative.")
    if tax.included:
        return shown - quantize(shown / (1 + tax.rate))
    return quantize(shown * tax.rate)


def _tax_line(amount: Decimal, tax: TaxRate) -> PricedLine:
    """Prices that contain the tax: the line adds nothing, `contained_amount` says what is in the others."""
    facts = {"rate": f"{tax.rate:f}", "treatment": tax.treatment}
    if tax.included:
        facts["contained_amount"] = f"{amount:.2f}"
    added = Decimal("0.00") if tax.included else amount
    return PricedLine(
        kind=KIND_TAX, code=tax.country, facts=facts, quantity=1, unit_amount=added, amount=added
    )


def _require_decimal(*amounts: Decimal) -> None:
    if not all(isinstance(amount, Decimal) for amount in amounts):
        raise TypeError("Amounts and rates are Decimal.")


def _require_cents(*amounts: Decimal) -> None:
    _require_decimal(*amounts)
    if any(amount < 0 or amount != amount.quantize(CENT) for amount in amounts):
        raise ValueError("A table price is a whole number of cents and not negative.")
