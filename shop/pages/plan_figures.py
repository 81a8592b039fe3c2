"""Figures of the planner as they are read: GiB, hours, shares, billions, and ranges of each."""

from collections.abc import Mapping
from decimal import Decimal

from django.utils.translation import gettext as _

from core.formats import NO_BREAK, amount_text, percent_text
from planner.notes import Value

_BILLION = 10**9


def figure(value: float, *, places: int = 1) -> str:
    """One decimal, and more where a value is so small that it would read as nothing."""
    if value and abs(value) < 10**-places / 2:
        places = min(places + 2, 6)
    return amount_text(Decimal(repr(float(value))), places=places)


def whole_or_one(value: Value) -> str:
    """A count stays a count; a measured value gets one decimal unless it is whole."""
    if isinstance(value, str):
        return value
    if isinstance(value, int) or float(value).is_integer():
        return amount_text(int(value), places=0)
    return figure(value)


def gib(value: float) -> str:
    return _("%(figure)s\u00a0GiB") % {"figure": figure(value)}


def gb(value: float) -> str:
    return _("%(figure)s\u00a0GB") % {"figure": whole_or_one(round(value, 1))}


def share(value: float) -> str:
    """0.42 as per cent, whole unless under one per cent."""
    places = 2 if abs(value) >= 0.01 or not value else 4
    return percent_text(round(Decimal(repr(float(value))), places))


def hours(value: float) -> str:
    return _("%(figure)s\u00a0h") % {"figure": figure(value)}


def hours_range(low: float, high: float) -> str:
    if figure(low) == figure(high):
        return hours(low)
    return _("%(low)s to %(high)s\u00a0h") % {"low": figure(low), "high": figure(high)}


def gib_range(low: float, high: float) -> str:
    if figure(low) == figure(high):
        return gib(low)
    return _("%(low)s to %(high)s\u00a0GiB") % {"low": figure(low), "high": figure(high)}


def counts(low: int, high: int) -> str:
    """Whole results from a slow to a typical pace."""
    if low == high:
        return amount_text(high, places=0)
    return _("%(low)s to %(high)s") % {
        "low": amount_text(low, places=0),
        "high": amount_text(high, places=0),
    }


def billions(tokens: float) -> str:
    return _("%(figure)s\u00a0billion") % {"figure": figure(tokens / _BILLION, places=2)}


def money(amount: Decimal, currency: str) -> str:
    return f"{amount_text(amount)}{NO_BREAK}{currency}"


_SHOWN = {
    "gib": gib,
    "usable_gib": gib,
    "cache_gib": gib,
    "required_gib": gib,
    "memory_gb": gb,
    "hours": hours,
}


def shown(params: Mapping[str, Value]) -> dict[str, str]:
    """Parameters of a note, each with its unit by its name."""
    return {name: _one(name, value) for name, value in params.items()}


def _one(name: str, value: Value) -> str:
    if isinstance(value, str):
        return value
    if name.endswith("percent"):
        return share(value / 100)
    write = _SHOWN.get(name)
    return write(value) if write else whole_or_one(value)
