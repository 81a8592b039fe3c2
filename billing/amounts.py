"""Shares of money in exact integers: what part of a leg goes back for an amount of the selling currency.

Pure. Rounded down to the precision that a person is shown, so that a refund is never over what was received.
"""

from decimal import ROUND_FLOOR, Context, Decimal

# Places that a page shows: six of a token, eight of a native coin, all of a bank card's currency.
TOKEN_PLACES = 6
NATIVE_PLACES = 8
_WIDE = Context(prec=120)


def shown_step(*, decimals: int, is_native: bool) -> int:
    """Base units in the smallest step that is shown."""
    places = NATIVE_PLACES if is_native else TOKEN_PLACES
    return int(10 ** max(0, decimals - places))


def share_of_units(units: int, *, part: Decimal, whole: Decimal, step: int = 1) -> int:
    """`units` x `part` / `whole`, rounded down to whole steps; the whole is given back to the last unit.

    `part` is held between nothing and `whole`. Raises ValueError where there is no whole or no step.
    """
    if whole <= 0 or step < 1:
        raise ValueError("A share needs a whole and a step above zero.")
    if part >= whole:
        return units
    exact = _WIDE.divide(_WIDE.multiply(Decimal(units), max(part, Decimal(0))), whole)
    return int(exact.to_integral_value(rounding=ROUND_FLOOR, context=_WIDE)) // step * step


def value_of_share(units: int, *, of_units: int, worth: int) -> int:
    """What `units` of `of_units` are worth where all are worth `worth`: half up, whole minor units.

    Raises ValueError where nothing is worth something.
    """
    if of_units <= 0:
        raise ValueError("A share needs a whole above zero.")
    return (2 * units * worth + of_units) // (2 * of_units)


def split_evenly(whole: int, parts: int) -> list[int]:
    """Whole units in `parts` parts that add up exactly; they differ by one at most."""
    if parts < 1:
        raise ValueError("Nothing can be split in less than one part.")
    return [whole * (number + 1) // parts - whole * number // parts for number in range(parts)]
