"""The result of the planner as its page shows it: verdict, memory, ways, lots, rule of thumb, assumptions."""

from dataclasses import dataclass, replace
from typing import Final

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from core import units
from core.formats import amount_text
from planner import LotVerdict, Plan, plan
from planner.lots import LotSpec
from planner.terms import TermResult, shown_amount
from planner.verdicts import COMFORTABLE, PILOT
from shop.forms.plan import PlanForm, address_query, changed_values
from shop.pages.plan_bars import Bars, memory_bars, recommended
from shop.pages.plan_figures import counts
from shop.pages.plan_levers import LeverRow, lever_rows
from shop.pages.plan_lots import SOLD, LotRow, configure_url, first_of_each, first_term, lot_row
from shop.pages.plan_words import TABLE_ROWS, sentence

_FREE_SPEEDS: Final = frozenset({"none", "faster"})


@dataclass(frozen=True)
class Ranges:
    """GiB of one card, by the instrument that reads them."""

    tensors: str
    required: str
    shown: str


@dataclass(frozen=True)
class Offer:
    """The lot to start with, for the shortest term that finishes a run."""

    row: LotRow
    days: int
    price: str
    currency: str
    note: str
    url: str
    slug: str


@dataclass(frozen=True)
class Rule:
    rule: str
    table: str
    table_row: str
    ours: str
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class PlanPage:
    """Everything below the form; texts in the active language."""

    headline: str
    model: str
    need: str
    run: str
    results: str
    result_days: int | None
    offer: Offer | None
    less: str
    less_url: str
    unfinished: str
    notes: tuple[str, ...]
    own_card: str
    ranges: Ranges
    bars: Bars
    levers: tuple[LeverRow, ...]
    useless: tuple[str, ...]
    cheaper: str
    cheaper_url: str
    lots: tuple[LotRow, ...]
    larger: tuple[LotRow, ...]
    days: tuple[int, ...]
    currency: str
    chance: str
    comfortable: str
    pilot: str
    timed: bool
    rule: Rule
    assumptions: tuple[str, ...]

    @property
    def later_columns(self) -> int:
        """Columns of the table that a lot which is not sold as a fit leaves empty."""
        return len(self.days) + 2


def plan_page(found: Plan, form: PlanForm, lots: tuple[LotSpec, ...]) -> PlanPage:
    """`found` is the plan of the form over `lots`. `larger` are further lots of accelerators already in `lots`."""
    start = recommended(found)
    best = first_term(start) if start else None
    lots_first, lots_later = first_of_each(found)
    rows = tuple(lot_row(verdict, chosen=verdict is start) for verdict in lots_first)
    shown = [note for note in found.notes if not note.code.startswith("binds_")]
    cheaper = _cheaper_way(found, form, lots)
    less = _less_to_pay(found, start)
    return PlanPage(
        headline=_headline(found, start),
        model=found.arch.name,
        need=units.gib(found.required_gib),
        run=_run_hours(start),
        results="" if best is None else counts(best.runs_slow or 0, best.runs or 0),
        result_days=None if best is None else best.days,
        offer=_offer(start, rows),
        less=less[0],
        less_url=less[1],
        unfinished=_unfinished(start) if found.request.tokens else "",
        notes=tuple(sentence(note) for note in shown if note.code != "consumer_card_enough"),
        own_card=next((sentence(n) for n in shown if n.code == "consumer_card_enough"), ""),
        ranges=_ranges(found),
        bars=memory_bars(found),
        levers=lever_rows(found, form.values if form.shareable else None),
        useless=tuple(row.name for row in lever_rows(found, None) if not row.helps),
        cheaper=cheaper[0],
        cheaper_url=cheaper[1],
        lots=rows,
        larger=tuple(lot_row(verdict, chosen=False) for verdict in lots_later),
        days=tuple(sorted({days for lot in lots for days in lot.prices})),
        currency=lots[0].currency if lots else "",
        chance=units.share(float(found.request.chance)),
        comfortable=units.share(COMFORTABLE),
        pilot=units.share(PILOT),
        timed=found.request.tokens is not None and found.request.run.trained,
        rule=_rule(found),
        assumptions=tuple(sentence(note) for note in found.assumptions),
    )


def _headline(found: Plan, start: LotVerdict | None) -> str:
    """One sentence that answers the question."""
    if start is None or start.fit is None:
        return _("No lot on sale carries this run as it stands")
    words = {"accelerator": start.lot.accelerator_name, "cards": start.lot.cards}
    if start.fit.shape == "independent":
        return (
            ngettext(
                "%(cards)s card of %(accelerator)s carries a run of its own",
                "Each of %(cards)s cards of %(accelerator)s carries a run of its own",
                start.lot.cards,
            )
            % words
        )
    if start.lot.cards > 1:
        return (
            ngettext(
                "%(cards)s card of %(accelerator)s carries this run",
                "%(cards)s cards of %(accelerator)s carry this run together",
                start.lot.cards,
            )
            % words
        )
    if start.verdict == "pilot":
        return _("One %(accelerator)s can carry this run; a pilot must confirm it") % words
    return _("One %(accelerator)s carries this run with room to spare") % words


def _run_hours(start: LotVerdict | None) -> str:
    if start is None or start.hours is None:
        return ""
    return units.hours_range(start.hours.low, start.hours.high)


def _offer(start: LotVerdict | None, rows: tuple[LotRow, ...]) -> Offer | None:
    if start is None or not start.lot.prices:
        return None
    row = next(row for row in rows if row.code == start.lot.code)
    best = first_term(start)
    days = best.days if best else min(start.lot.prices)
    return Offer(
        row=row,
        days=days,
        price=amount_text(start.lot.prices[days]),
        currency=start.lot.currency,
        note=_offer_note(best),
        url=row.url,
        slug=start.lot.accelerator_slug,
    )


def _offer_note(best: TermResult | None) -> str:
    if best is None or best.per_success is None:
        return ""
    words = {"typical": amount_text(shown_amount(best.per_success))}
    if best.per_success_slow is None:
        return _("%(typical)s per successful result at a typical pace; a slow run would not finish.") % words
    words["slow"] = amount_text(shown_amount(best.per_success_slow))
    if words["slow"] == words["typical"]:
        return _("%(typical)s per successful result, at a slow pace as well.") % words
    return _("%(typical)s per successful result at a typical pace, %(slow)s at a slow one.") % words


def _less_to_pay(found: Plan, start: LotVerdict | None) -> tuple[str, str]:
    """The lot on which one result costs least in all, where that is another one; a sentence and its address.

    The planner starts with the smallest card; a small card that needs a long term can cost more than a fast one.
    """
    ready = found.request.rocm_ready
    able = [
        (term, verdict)
        for verdict in found.lots
        if verdict.verdict in SOLD and (ready or verdict.lot.stack != "ROCm")
        for term in [first_term(verdict)]
        if term is not None
    ]
    if start is None or not able:
        return "", ""
    term, verdict = min(able, key=lambda item: (item[0].price, item[0].days, item[1].lot.code))
    own = first_term(start)
    if own is not None and own.price <= term.price:
        return "", ""
    words = {
        "accelerator": verdict.lot.accelerator_name,
        "cards": verdict.lot.cards,
        "days": term.days,
        "price": units.money(term.price, verdict.lot.currency),
    }
    text = ngettext(
        "Less to pay for one result: %(accelerator)s × %(cards)s for %(days)s day, %(price)s.",
        "Less to pay for one result: %(accelerator)s × %(cards)s for %(days)s days, %(price)s.",
        term.days,
    )
    return text % words, configure_url(verdict, term.days)


def _unfinished(start: LotVerdict | None) -> str:
    """Where no term holds a whole run: how much of it the longest one holds."""
    if start is None or start.best_term is not None:
        return ""
    known = [term for term in start.terms if term.largest_tokens is not None]
    if not known:
        return ""
    longest = known[-1]
    text = ngettext(
        "The largest run that surely fits %(days)s day on it has %(tokens)s tokens.",
        "The largest run that surely fits %(days)s days on it has %(tokens)s tokens.",
        longest.days,
    )
    return text % {"days": longest.days, "tokens": units.billions(longest.largest_tokens or 0)}


def _ranges(found: Plan) -> Ranges:
    spans = (found.budget.tensors, found.budget.required, found.budget.shown)
    return Ranges(*(units.gib_range(span.low, span.high) for span in spans))


def _rule(found: Plan) -> Rule:
    rules = found.rules
    return Rule(
        rule=units.gb(rules.rule_gb),
        table="" if rules.table_gb is None else units.gb(rules.table_gb),
        table_row="" if rules.table_row is None else str(TABLE_ROWS[rules.table_row]),
        ours=units.gb(rules.ours_gb),
        reasons=tuple(sentence(note) for note in rules.reasons),
    )


def _cheaper_way(found: Plan, form: PlanForm, lots: tuple[LotSpec, ...]) -> tuple[str, str]:
    """The lever that costs no speed and saves most, if it leads to a cheaper lot; a sentence and its address."""
    lever = next((way for way in found.levers if way.helps and way.speed in _FREE_SPEEDS), None)
    if lever is None or found.request.pilot is not None:
        return "", ""
    other = plan(replace(found.request, run=lever.run), lots)
    start, instead = recommended(found), recommended(other)
    if instead is None or (start is not None and instead.lot.code == start.lot.code):
        return "", ""
    row = next(row for row in lever_rows(found, None) if row.code == lever.code)
    words = {
        "way": row.name,
        "need": units.gib(other.required_gib),
        "accelerator": instead.lot.accelerator_name,
        "cards": instead.lot.cards,
    }
    text = _("%(way)s: the need becomes %(need)s, and %(cards)s × %(accelerator)s is enough.") % words
    query = address_query(changed_values(form.values, found.request.run, lever.run))
    return text, f"{reverse('shop:plan')}?{query}" if form.shareable else ""
