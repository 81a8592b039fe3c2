"""Figures of the planner's notes as they are read: each parameter with the unit that its name tells."""

from collections.abc import Mapping

from django.utils.translation import gettext as _

from core.formats import amount_text
from core.units import gb, gib, hours, share, whole_or_one
from planner.notes import Value

_SHOWN = {
    "gib": gib,
    "usable_gib": gib,
    "cache_gib": gib,
    "required_gib": gib,
    "memory_gb": gb,
    "hours": hours,
}


def counts(low: int, high: int) -> str:
    """Whole results from a slow to a typical pace."""
    if low == high:
        return amount_text(high, places=0)
    return _("%(low)s to %(high)s") % {
        "low": amount_text(low, places=0),
        "high": amount_text(high, places=0),
    }


def shown(params: Mapping[str, Value]) -> dict[str, str]:
    """Parameters of a note, each with its unit by its name."""
    return {name: _one(name, value) for name, value in params.items()}


def _one(name: str, value: Value) -> str:
    if isinstance(value, str):
        return value
    if name.endswith("percent"):
        return share(value / 100)
    return _SHOWN.get(name, whole_or_one)(value)
