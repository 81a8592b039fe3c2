"""Figures in the texts of the guides are never typed: names in double braces, resolved from a whitelist.

{{ policy.hold }}                        a number of the policy table, with its unit
{{ limit.comfortable }}                  a bound of the planner's verdicts
{{ recipe.bf16 }}                        bytes per trained parameter
{{ spec.b200-180.memory }}               of the catalogue: memory, usable, name
{{ price.b200-180x2.7 }}                 today's price of a lot for a term; hour.… the same per card-hour
{{ export.500.100 }}                     how long 500 GB take at 100 MB/s
{{ plan.full.required }}                 of the planner, for an example of the guide's head (guides.plans)
"""

import re
from collections.abc import Callable, Iterable, Mapping
from decimal import ROUND_HALF_UP, Decimal
from functools import cached_property
from typing import Final

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from billing.early_end_amount import SHARE as EARLY_END_SHARE
from catalog.offers import LotSpecRow
from core.formats import NO_BREAK, amount_text, duration_text, percent_text
from core.units import gb, gib, money
from fleet.export import export_time
from guides.examples import Example
from guides.plans import PlanFigures
from planner import terms, verdicts
from planner.request import DEFAULT_CHANCE
from planner.rules import LADDER

PLACEHOLDER: Final = re.compile(r"\{\{\s*([a-z0-9_.-]+)\s*\}\}")
_MARKDOWN: Final = re.compile(r"([\\`*_\[\]<>|])")

_HOUR, _DAY = 3600, 86_400
_GB, _MB = 10**9, 10**6

# Names of policy numbers that are lengths of time, and the settings that hold them.
_SPANS: Final = {
    "quote": "QUOTE_VALID_SECONDS",
    "hold": "HOLD_SECONDS",
    "release": "RELEASE_AFTER_EXPIRY_SECONDS",
    "ready_by": "READY_BY_SECONDS",
    "late_grace": "LATE_GRACE_SECONDS",
    "turnaround": "TURNAROUND_SECONDS",
    "extend_lead": "EXTEND_LEAD_SECONDS",
    "late_offer": "LATE_OFFER_SECONDS",
    "no_capacity": "NO_CAPACITY_REFUND_SECONDS",
    "export_margin": "EXPORT_VERIFY_MARGIN_SECONDS",
    "reversed_grace": "REVERSED_GRACE_SECONDS",
    "claim_interval": "CLAIM_INTERVAL_SECONDS",
}
_LIMITS: Final[Mapping[str, Decimal]] = {
    "comfortable": Decimal(str(verdicts.COMFORTABLE)),
    "pilot": Decimal(str(verdicts.PILOT)),
    "usable": Decimal(str(terms.USABLE_SHARE)),
    "chance": Decimal(DEFAULT_CHANCE.numerator) / DEFAULT_CHANCE.denominator,
}
_RECIPES: Final = dict(LADDER)


class UnknownFigure(KeyError):
    """A name that stands for no figure: a slip in a text, found by its test."""


class Figures:
    """The figures of one page, in the active language. `lots` is called once, and only where a text needs it."""

    def __init__(self, examples: Mapping[str, Example], lots: Callable[[], Iterable[LotSpecRow]]) -> None:
        self._examples = examples
        self._read_lots = lots

    @cached_property
    def lots(self) -> tuple[LotSpecRow, ...]:
        return tuple(self._read_lots())

    @cached_property
    def by_code(self) -> dict[str, LotSpecRow]:
        return {lot.code: lot for lot in self.lots}

    @cached_property
    def plans(self) -> PlanFigures:
        return PlanFigures(self._examples, self.lots)

    def fill(self, text: str) -> str:
        """Markdown with every placeholder replaced. Raises UnknownFigure."""
        return PLACEHOLDER.sub(lambda found: _MARKDOWN.sub(r"\\\1", self.value(found[1])), text)

    def value(self, name: str) -> str:
        """One figure as it is read. Raises UnknownFigure."""
        kind, *parts = name.split(".")
        kinds: dict[str, Callable[..., str]] = {
            "policy": _policy,
            "limit": lambda key: percent_text(_LIMITS[key]),
            "recipe": lambda key: amount_text(_RECIPES[key], places=0),
            "export": _export,
            "spec": self._spec,
            "price": self._price,
            "hour": self._card_hour,
            "plan": self._plan,
        }
        try:
            return kinds[kind](*parts)
        except (KeyError, TypeError, ValueError) as error:
            raise UnknownFigure(name) from error

    def _plan(self, *parts: str) -> str:
        return self.plans.value(*parts)

    def _spec(self, slug: str, key: str) -> str:
        lot = next((lot for lot in self.lots if lot.accelerator_slug == slug), None)
        if lot is None:
            return _("not on sale")
        if key == "name":
            return lot.accelerator_name
        usable = verdicts.usable_gib(lot)
        if usable is None or lot.memory_gb is None:
            return _("not found")
        return {"memory": gb(lot.memory_gb), "usable": gib(usable[0])}[key]

    def _price(self, code: str, days: str) -> str:
        amount = self._amount(code, int(days))
        return _("not on sale") if amount is None else money(amount, self.by_code[code].currency)

    def _card_hour(self, code: str, days: str) -> str:
        amount = self._amount(code, int(days))
        if amount is None:
            return _("not on sale")
        hours = self.by_code[code].cards * int(days) * 24
        each = (amount / hours).quantize(Decimal("0.01"), rounding=ROUND_HALF_UP)
        return money(each, self.by_code[code].currency)

    def _amount(self, code: str, days: int) -> Decimal | None:
        lot = self.by_code.get(code)
        return None if lot is None else lot.prices.get(days)


def _policy(key: str) -> str:
    if key == "early_end_share":
        return percent_text(Decimal(EARLY_END_SHARE.numerator) / EARLY_END_SHARE.denominator)
    if key == "claim_hourly":
        return amount_text(settings.CLAIM_HOURLY_LIMIT, places=0)
    return _span(int(getattr(settings, _SPANS[key])))


def _span(seconds: int) -> str:
    """In one unit where one will do: 60 min, 24 h, 3 d are what people say, not 1 h, 1 d."""
    if seconds < 2 * _HOUR and seconds % 60 == 0 and seconds:
        text = pgettext("minutes, abbreviated", "%(count)d min") % {"count": seconds // 60}
    elif seconds < 2 * _DAY and seconds % _HOUR == 0 and seconds:
        text = pgettext("hours, abbreviated", "%(count)d h") % {"count": seconds // _HOUR}
    elif seconds % _DAY == 0 and seconds:
        days = seconds // _DAY
        text = ngettext("%(count)d d", "%(count)d d", days) % {"count": days}
    else:
        return duration_text(seconds)
    return text.replace(" ", NO_BREAK)


def _export(size_gb: str, rate_mb_s: str) -> str:
    takes = export_time(size_bytes=int(size_gb) * _GB, rate_bytes_s=int(rate_mb_s) * _MB)
    return duration_text(takes)
