"""Every lot, judged: one row of the overview, and its terms, shape and cautions behind it."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Final
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from core import units
from core.formats import amount_text
from planner import LotVerdict, Plan
from planner.terms import TermResult, shown_amount
from planner.verdicts import ORDER
from shop.pages.plan_figures import counts
from shop.pages.plan_words import FINISH, NOT_JUDGED, SHAPES, VERDICTS, sentence

SOLD: Final = frozenset({"comfortable", "pilot"})

_BADGES: Final = {
    "comfortable": ("good", "check"),
    "pilot": ("info", "half"),
    "tight": ("warn", "warn"),
    "no": ("bad", "stop"),
}


@dataclass(frozen=True)
class TermRow:
    """One term of one lot."""

    days: int
    price: str
    finish: str
    results: str
    per_success: str
    idle: str
    largest: str
    url: str


@dataclass(frozen=True)
class LotRow:
    """`url` leads to the configurator with lot and term chosen. `results` has one text for each term."""

    code: str
    name: str
    cards: int
    anchor: str
    tone: str
    icon: str
    word: str
    sold: bool
    chosen: bool
    usable: str
    left: str
    run: str
    results: tuple[tuple[int, str], ...]
    per_success: str
    first_days: int | None
    first_price: str
    needs: str
    shape: str
    rocm: bool
    cautions: tuple[str, ...]
    terms: tuple[TermRow, ...]
    source: str
    timed_by_pilot: bool
    url: str


def first_of_each(found: Plan) -> tuple[list[LotVerdict], list[LotVerdict]]:
    """One lot of each accelerator, the one to begin with, and the rest: both best first, fewest cards first."""
    ordered = sorted(found.lots, key=lambda verdict: _place(found, verdict))
    first: dict[str, LotVerdict] = {}
    for verdict in ordered:
        first.setdefault(verdict.lot.accelerator_slug, verdict)
    shown = list(first.values())
    return shown, [verdict for verdict in ordered if verdict not in shown]


def _place(found: Plan, verdict: LotVerdict) -> tuple[bool, int, bool, bool, int]:
    """The planner's own order decides among equals, as sorting keeps it."""
    lot = verdict.lot
    timed = found.request.tokens is not None and found.request.run.trained
    return (
        lot.code != found.recommended,
        ORDER.index(verdict.verdict),
        lot.stack == "ROCm" and not found.request.rocm_ready,
        timed and verdict.best_term is None,
        lot.cards,
    )


def lot_row(verdict: LotVerdict, *, chosen: bool) -> LotRow:
    lot, fit = verdict.lot, verdict.fit
    tone, icon, word = _badge(verdict)
    sold = verdict.verdict in SOLD
    by_pilot = verdict.hours is not None and verdict.hours_source == "pilot"
    best = first_term(verdict) if sold else None
    terms = tuple(_term(verdict, term, sold) for term in verdict.terms)
    return LotRow(
        code=lot.code,
        name=lot.accelerator_name,
        cards=lot.cards,
        anchor=f"lot-{lot.code}",
        tone=tone,
        icon=icon,
        word=word,
        sold=sold,
        chosen=chosen,
        usable="" if verdict.usable_gib is None else units.figure(verdict.usable_gib),
        left=_left(verdict),
        run=_run(verdict),
        results=tuple((row.days, row.results) for row in terms),
        per_success=_per_success(best) if best else _no_result(verdict, sold),
        first_days=best.days if best else None,
        first_price=amount_text(best.price) if best else "",
        needs="" if fit is None else units.gib(fit.required_gib),
        shape="" if fit is None else str(SHAPES[fit.shape]),
        rocm=lot.stack == "ROCm",
        cautions=tuple(sentence(note) for note in verdict.cautions),
        terms=terms,
        source="" if verdict.hours is None or by_pilot else verdict.hours_source,
        timed_by_pilot=by_pilot,
        url=configure_url(verdict, best.days if best else None),
    )


def first_term(verdict: LotVerdict) -> TermResult | None:
    """The shortest term that finishes a run, a slow one if any does: longer ones cost less per result and are shown,
    but nobody is led to more days than the run needs."""
    for kind in ("yes", "likely"):
        found = [term for term in verdict.terms if term.finish == kind]
        if found:
            return found[0]
    return None


def configure_url(verdict: LotVerdict, days: int | None) -> str:
    """The configurator of the accelerator with this lot chosen; the shortest term where none is better."""
    term = days or min(verdict.lot.prices, default=None)
    query = {"lot": verdict.lot.code, "lots": 1} | ({"days": term} if term else {})
    slug = verdict.lot.accelerator_slug
    return f"{reverse('shop:accelerator', kwargs={'slug': slug})}?{urlencode(query)}"


def _badge(verdict: LotVerdict) -> tuple[str, str, str]:
    if verdict.fit is None:
        codes = [note.code for note in verdict.cautions if note.code in NOT_JUDGED]
        return "", "ring", str(NOT_JUDGED[codes[0]] if codes else VERDICTS["no"])
    tone, icon = _BADGES[verdict.verdict]
    return tone, icon, str(VERDICTS[verdict.verdict])


def _left(verdict: LotVerdict) -> str:
    if verdict.fit is None:
        return _("not known") if verdict.usable_gib is None else _("not judged")
    return units.share(verdict.fit.free_share) if verdict.fit.free_share >= 0 else pgettext("memory", "none")


def _run(verdict: LotVerdict) -> str:
    if verdict.verdict == "no":
        return pgettext("run", "none")
    if verdict.verdict == "tight":
        return _("Not sold as a fit")
    if verdict.hours is None:
        return _("not estimated")
    return units.hours_range(verdict.hours.low, verdict.hours.high)


def _term(verdict: LotVerdict, term: TermResult, sold: bool) -> TermRow:
    estimated = sold and term.runs is not None and term.runs_slow is not None
    return TermRow(
        days=term.days,
        price=amount_text(term.price),
        finish=str(FINISH[term.finish]) if sold else _("Not sold as a fit"),
        results=_results(term) if estimated else _no_result(verdict, sold),
        per_success=_per_success(term) if estimated else _no_result(verdict, sold),
        idle="" if term.idle_hours is None or not estimated else units.hours(term.idle_hours),
        largest="" if term.largest_tokens is None or not estimated else units.billions(term.largest_tokens),
        url=configure_url(verdict, term.days),
    )


def _results(term: TermResult) -> str:
    return counts(term.runs_slow or 0, term.runs or 0)


def _no_result(verdict: LotVerdict, sold: bool) -> str:
    """Unknown and none are two different things."""
    if not sold:
        return pgettext("result", "none")
    return _("not known") if verdict.hours is None else _("no result")


def _per_success(term: TermResult) -> str:
    """From a typical to a slow pace. No run is no result, which has no price."""
    if term.per_success is None:
        return _("no result")
    typical = _amount(term.per_success)
    if term.per_success_slow is None:
        return _("%(amount)s, none if slow") % {"amount": typical}
    slow = _amount(term.per_success_slow)
    return typical if typical == slow else _("%(low)s to %(high)s") % {"low": typical, "high": slow}


def _amount(exact: Fraction) -> str:
    return amount_text(shown_amount(exact))
