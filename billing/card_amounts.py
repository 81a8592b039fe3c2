"""Amounts as a card processor takes them: whole minor units, bounded below and above. Exact, never float.

Figures: Stripe's pages "Supported currencies" (zero- and three-decimal currencies, minimum and maximum charge).
"""

from decimal import ROUND_HALF_UP, Context, Decimal

from core.money import units_to_amount

_WIDE = Context(prec=100)
_ZERO_DECIMALS = frozenset(
    ["BIF", "CLP", "DJF", "GNF", "JPY", "KMF", "KRW", "MGA", "PYG", "RWF", "VND", "VUV", "XAF", "XOF", "XPF"]
)
_THREE_DECIMALS = frozenset(["BHD", "JOD", "KWD", "OMR", "TND"])
# Written with two decimals at the processor although only whole units exist.
_WHOLE_UNITS = frozenset(["ISK", "UGX"])
# The smallest charge. A currency that is not here is not offered: its bound is not known, and an order must not be
# placed that the processor refuses afterwards.
_MINIMUM = {
    "AED": "2.00", "AUD": "0.50", "BGN": "1.00", "BRL": "0.50", "CAD": "0.50", "CHF": "0.50", "CZK": "15.00",
    "DKK": "2.50", "EUR": "0.50", "GBP": "0.30", "HKD": "4.00", "HUF": "175.00", "INR": "0.50", "JPY": "50",
    "MXN": "10.00", "MYR": "2.00", "NOK": "3.00", "NZD": "0.50", "PLN": "2.00", "RON": "2.00", "SEK": "3.00",
    "SGD": "0.50", "THB": "10.00", "USD": "0.50",
    # Settled by way of another currency: about one dollar, above any bound of that currency.
    "BHD": "0.500", "JOD": "1.000", "KRW": "2000", "KWD": "0.500", "OMR": "0.500", "TND": "4.000",
}  # fmt: skip
# Eight digits, whatever the currency.
_MAXIMUM_MINOR = 99_999_999


def decimals_of(currency: str) -> int:
    """How many decimals the processor's minor unit has."""
    if currency in _ZERO_DECIMALS:
        return 0
    return 3 if currency in _THREE_DECIMALS else 2


def to_minor(amount: Decimal, currency: str) -> int:
    """Whole minor units, rounded half up: 13.9974 EUR are 1400. Raises ValueError for a negative amount."""
    if amount < 0:
        raise ValueError("An amount cannot be negative.")
    return int(_scaled(amount, currency).to_integral_value(rounding=ROUND_HALF_UP, context=_WIDE))


def to_amount(minor: int, currency: str) -> Decimal:
    """The exact amount of so many minor units."""
    return units_to_amount(minor, decimals_of(currency))


def is_chargeable(amount: Decimal, currency: str) -> bool:
    """Whether a card can be charged exactly this: within the processor's bounds, and nothing lost by rounding."""
    if currency not in _MINIMUM:
        return False
    minor = to_minor(amount, currency)
    is_exact = _scaled(amount, currency) == minor and minor % _step(currency) == 0
    return is_exact and to_minor(Decimal(_MINIMUM[currency]), currency) <= minor <= _MAXIMUM_MINOR


def minimum(currency: str) -> Decimal | None:
    """The smallest amount that a card can be charged, or None where cards cannot be charged in that currency."""
    return Decimal(_MINIMUM[currency]) if currency in _MINIMUM else None


def _step(currency: str) -> int:
    """A three-decimal amount ends in 0 at the card networks; some currencies have whole units only."""
    if currency in _WHOLE_UNITS:
        return 100
    return 10 if currency in _THREE_DECIMALS else 1


def _scaled(amount: Decimal, currency: str) -> Decimal:
    return _WIDE.multiply(amount, Decimal(10) ** decimals_of(currency))
