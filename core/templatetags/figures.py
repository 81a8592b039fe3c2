"""Figures and instants for every template, plain-text mails included. `{% load figures %}`."""

from datetime import datetime, timedelta
from decimal import Decimal

from django import template

from core import formats, units

register = template.Library()

# A variable that is missing reaches a filter as an empty string.
Number = Decimal | int | str | None


@register.filter
def amount(value: Number, places: int | str = 2) -> str:
    """Money as it is read. Components pass `places` on as an empty string where they got none."""
    shown = 2 if places == "" else int(places)
    return "" if value in (None, "") else formats.amount_text(Decimal(value or 0), places=shown)


@register.filter
def figure(value: Number) -> str:
    """A count or a measured value (block number, GB/s): grouped, with the places that it has."""
    return "" if value in (None, "") else formats.amount_text(Decimal(value or 0), places=None)


@register.filter
def in_unit(value: Number, unit: str) -> str:
    """A value of a data sheet with its unit: `{{ memory_gb|in_unit:"GB" }}`; empty where it is not known."""
    return "" if value in (None, "") else units.in_unit(Decimal(value or 0), unit)


@register.filter
def plain(value: Number, places: int = 2) -> str:
    """What is copied into a wallet: never grouped, never localised."""
    return "" if value in (None, "") else formats.plain_amount(Decimal(value or 0), places=places)


@register.filter
def token(value: Number) -> str:
    """A token amount as it is read: two places, more only where it has them."""
    return "" if value in (None, "") else formats.token_text(Decimal(value or 0))


@register.filter
def token_plain(value: Number) -> str:
    """A token amount as it is copied."""
    return "" if value in (None, "") else formats.token_plain(Decimal(value or 0))


@register.filter
def duration_text(value: timedelta | int | str | None) -> str:
    return "" if value is None or isinstance(value, str) else formats.duration_text(value)


@register.filter
def moment_text(value: datetime | str | None, style: str = "full") -> str:
    """An instant as text alone, for mails; pages use `instant`, which adds the machine form."""
    return formats.instant_text(value, style=style) if isinstance(value, datetime) else ""


@register.filter
def percent(value: Number) -> str:
    """A fraction as per cent."""
    return "" if value in (None, "") else formats.percent_text(Decimal(value or 0))
