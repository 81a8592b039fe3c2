"""Cheaper ways to the same result, each with its price in speed and a link that takes it."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.urls import reverse

from core import units
from planner import Plan
from planner.levers import Lever
from shop.forms.plan import address_query, changed_values
from shop.pages.plan_words import LEVERS, SPEEDS


@dataclass(frozen=True)
class LeverRow:
    code: str
    name: str
    need: str
    saved: str
    speed: str
    helps: bool
    url: str


def lever_rows(found: Plan, values: Mapping[str, str] | None) -> tuple[LeverRow, ...]:
    """`values` are the state of the form; None where it does not fit into an address."""
    return tuple(_row(found, lever, values) for lever in found.levers)


def _row(found: Plan, lever: Lever, values: Mapping[str, str] | None) -> LeverRow:
    url = ""
    if values is not None:
        query = address_query(changed_values(values, found.request.run, lever.run))
        url = f"{reverse('shop:plan')}?{query}"
    speed = str(SPEEDS[lever.speed])
    if lever.slower is not None:
        low, high = lever.slower
        speed = speed % {"low": units.share(low), "high": units.share(high)}
    return LeverRow(
        code=lever.code,
        name=str(LEVERS[lever.code]),
        need=units.figure(lever.required_gib),
        saved=units.figure(lever.saved_gib),
        speed=speed,
        helps=lever.helps,
        url=url,
    )
