"""Measured values with their unit in the active language, one way for pages and guides.

The sentences hold an ordinary space, because xgettext writes \\u00a0 into a catalogue as six characters that no
running program asks for; the space becomes one that does not break afterwards.
"""

from datetime import date
from decimal import Decimal
from typing import Final

from django.utils.dateformat import format as format_date
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from core.formats import NO_BREAK, amount_text, current_locale, percent_text

_BILLION = 10**9

# Units of data sheets, by their English sign: some are written otherwise elsewhere (fr Go, ru Вт).
_SHEET: Final = {
    "GB": gettext_noop("%(figure)s GB"),
    "GiB": gettext_noop("%(figure)s GiB"),
    "GB/s": gettext_noop("%(figure)s GB/s"),
    "Gbit/s": gettext_noop("%(figure)s Gbit/s"),
    "TFLOPS": gettext_noop("%(figure)s TFLOPS"),
    "W": gettext_noop("%(figure)s W"),
}


def figure(value: float, *, places: int = 1) -> str:
    """One decimal, and more where a value is so small that it would read as nothing."""
    if value and abs(value) < 10**-places / 2:
        places = min(places + 2, 6)
    return amount_text(Decimal(repr(float(value))), places=places)


def whole_or_one(value: float) -> str:
    """A count stays a count; a measured value gets one decimal unless it is whole."""
    return amount_text(int(value), places=0) if float(value).is_integer() else figure(value)


def gib(value: float) -> str:
    return _together(_("%(figure)s GiB") % {"figure": figure(value)})


def gb(value: float) -> str:
    """The vendor's unit."""
    return _together(_("%(figure)s GB") % {"figure": whole_or_one(round(value, 1))})


def in_unit(value: int | Decimal, unit: str) -> str:
    """A value of a data sheet with the places that it has; `unit` is one of `_SHEET`."""
    shown = value.normalize() if isinstance(value, Decimal) else value
    return _together(_(_SHEET[unit]) % {"figure": amount_text(shown, places=None)})


def hours(value: float) -> str:
    return _together(_("%(figure)s h") % {"figure": figure(value)})


def gib_range(low: float, high: float) -> str:
    if figure(low) == figure(high):
        return gib(low)
    return _last_together(_("%(low)s to %(high)s GiB") % {"low": figure(low), "high": figure(high)})


def hours_range(low: float, high: float) -> str:
    if figure(low) == figure(high):
        return hours(low)
    return _last_together(_("%(low)s to %(high)s h") % {"low": figure(low), "high": figure(high)})


def billions(count: float) -> str:
    return _together(_("%(figure)s billion") % {"figure": figure(count / _BILLION, places=2)})


def share(value: float) -> str:
    """A fraction as per cent, whole unless under one per cent."""
    places = 2 if abs(value) >= 0.01 or not value else 4
    return percent_text(round(Decimal(repr(float(value))), places))


def money(amount: Decimal, currency: str) -> str:
    return f"{amount_text(amount)}{NO_BREAK}{currency}"


def day(value: date) -> str:
    return format_date(value, current_locale().day)


def day_short(value: date) -> str:
    """Day and month alone, for a narrow cell of a calendar whose year is plain."""
    return format_date(value, current_locale().day_tight)


def _together(text: str) -> str:
    return text.replace(" ", NO_BREAK)


def _last_together(text: str) -> str:
    """The unit stays with the figure before it."""
    head, _space, unit = text.rpartition(" ")
    return f"{head}{NO_BREAK}{unit}" if head else text
