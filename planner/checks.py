"""One validation path for everything that people send: bounded, typed, with the field named."""

import math
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Final

from planner.errors import PlanError

Mapped = Mapping[str, object]

# Long enough for any number that makes sense; int() and Decimal() are slow on megabytes of digits.
MAX_NUMBER_TEXT: Final = 40

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,4})?", re.ASCII)
_SUFFIXES: Final = {"K": 10**3, "M": 10**6, "B": 10**9, "T": 10**12}


def whole(value: object, *, field: str, low: int, high: int) -> int:
    """A whole number from low to high; texts such as 4096, 8e9 or 8B are read. Booleans are no numbers."""
    if type(value) is int and low <= value <= high:  # the common case, a hundred times per plan
        return value
    number = _exact(value, field)
    if number.denominator != 1:
        raise PlanError(code="not_whole", field=field, message="Enter a whole number.")
    _require_between(number, field, low, high)
    return int(number)


def real(value: object, *, field: str, low: float, high: float) -> float:
    """A finite number from low to high."""
    number = _exact(value, field)
    _require_between(number, field, low, high)
    return float(number)


def exact(value: object, *, field: str, low: Fraction, high: Fraction) -> Fraction:
    """A finite number from low to high without rounding, so that money computed from it is exact."""
    number = _exact(value, field)
    _require_between(number, field, low, high)
    return number


def truth(value: object, *, field: str) -> bool:
    """A yes or no as forms, JSON and CSV files write it."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float | str):
        text = str(value).strip().lower()[:8]
        if text in {"1", "true", "yes", "on"}:
            return True
        if text in {"0", "false", "no", "off"}:
            return False
    raise PlanError(code="not_boolean", field=field, message="Enter yes or no.")


def choice(value: object, *, field: str, allowed: Sequence[str]) -> str:
    """One of the known words."""
    if isinstance(value, str) and value in allowed:
        return value
    raise PlanError(
        code="unknown_choice",
        field=field,
        message="Choose one of: %(allowed)s.",
        params={"allowed": ", ".join(allowed)},
    )


def mapping(value: object, *, field: str) -> Mapped:
    """An object with text keys."""
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return value
    raise PlanError(code="not_object", field=field, message="Enter an object with named fields.")


def code(value: object, *, field: str) -> str:
    """The short code of a lot."""
    if isinstance(value, str) and re.fullmatch(r"[a-z0-9][a-z0-9.-]{0,63}", value):
        return value
    raise PlanError(
        code="not_a_code", field=field, message="Enter the code of a lot, such as h200-sxm-141x1."
    )


def known_fields(data: Mapped, allowed: Sequence[str], *, prefix: str = "") -> None:
    """A misspelt field must not silently keep its default."""
    for name in data:
        if name not in allowed:
            shown = "".join(letter for letter in name if letter.isprintable())[:40]
            raise PlanError(code="unknown_field", field=f"{prefix}{shown}", message="There is no such field.")


def _exact(value: object, field: str) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal | Fraction):
        raise _not_a_number(field)
    if isinstance(value, str):
        return _read(value, field)
    if isinstance(value, int | Fraction):
        return Fraction(value)
    finite = value.is_finite() if isinstance(value, Decimal) else math.isfinite(value)
    if not finite:
        raise _not_a_number(field)
    if isinstance(value, Decimal) and not -30 <= value.adjusted() <= 30:
        # A Fraction of 1e999999 would be a number with a million digits.
        raise PlanError(code="out_of_range", field=field, message="This number is out of every range.")
    return Fraction(value) if isinstance(value, Decimal) else Fraction(repr(value))


def _read(text: str, field: str) -> Fraction:
    shown = text.strip()
    factor = _SUFFIXES.get(shown[-1:].upper(), 1)
    digits = shown[:-1] if factor > 1 else shown
    if len(shown) > MAX_NUMBER_TEXT or not _NUMBER.fullmatch(digits):
        raise _not_a_number(field)
    if abs(int(digits.lower().partition("e")[2] or 0)) > MAX_NUMBER_TEXT:
        raise PlanError(code="out_of_range", field=field, message="This number is out of every range.")
    return Fraction(digits) * factor


def _not_a_number(field: str) -> PlanError:
    return PlanError(code="not_a_number", field=field, message="Enter a number.")


def _require_between(number: Fraction, field: str, low: float | Fraction, high: float | Fraction) -> None:
    if not low <= number <= high:
        raise PlanError(
            code="out_of_range",
            field=field,
            message="Enter a number from %(low)s to %(high)s.",
            params={"low": _shown(low), "high": _shown(high)},
        )


def _shown(bound: float | Fraction) -> str:
    short = f"{float(bound):g}".replace("e+", "e")
    return str(bound) if isinstance(bound, int) and bound < 10**9 else short
