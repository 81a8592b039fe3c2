"""Money is Decimal and integer base units, never float (DESIGN rule 12)."""

from decimal import ROUND_CEILING, ROUND_HALF_UP, Context, Decimal

CENT = Decimal("0.01")
# numeric(78,0) holds every uint256; the default context of 28 digits would round it.
_WIDE = Context(prec=100)


def quantize(amount: Decimal) -> Decimal:
    """Round half up to two places."""
    return amount.quantize(CENT, rounding=ROUND_HALF_UP)


def amount_to_units(amount: Decimal, decimals: int) -> int:
    """Base units that cover `amount`, rounded up so that what is asked is never short.

    Raises ValueError for a negative amount.
    """
    if amount < 0:
        raise ValueError("An amount cannot be negative.")
    scaled = _WIDE.multiply(amount, Decimal(10) ** decimals)
    return int(scaled.to_integral_value(rounding=ROUND_CEILING, context=_WIDE))


def units_to_amount(units: int, decimals: int) -> Decimal:
    """The exact amount of `units` base units, with `decimals` places."""
    return _WIDE.scaleb(Decimal(units), -decimals)
