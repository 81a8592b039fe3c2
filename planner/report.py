"""A plan as plain English text for a terminal."""

from collections.abc import Iterator

from planner.advise import LotVerdict, Plan
from planner.budget import Range
from planner.levers import Lever
from planner.moments import COMPONENTS
from planner.terms import TermResult, shown_amount
from planner.texts import COMPONENTS as COMPONENT_TEXTS
from planner.texts import (
    FINISH,
    LEVERS,
    MOMENTS,
    SHAPES,
    SPEEDS,
    TABLE_ROWS,
    TEXTS,
    VERDICTS,
    fill,
    sentence,
)
from planner.weights import GIB, weights_gib


def report(plan: Plan) -> str:
    """The whole plan; every line ends with a newline."""
    sections = [_head(plan), _moments(plan), _rules(plan), _levers(plan.levers), _lots(plan)]
    closing = [sentence(note) for note in (*plan.notes[1:], *plan.assumptions)]
    sections.append(iter(["", *closing]))
    return "".join(f"{line}\n" for section in sections for line in section)


def _head(plan: Plan) -> Iterator[str]:
    run = plan.request.run
    yield f"{plan.arch.name}: {plan.arch.params:,} parameters, {plan.arch.layers} layers."
    stored = run.param_dtype if run.method == "full" else run.weights
    bound = weights_gib(plan.arch.params, stored)
    yield f"Weights alone, {stored}: {bound:,.2f} GiB. This is a lower bound; no run needs less."
    yield f"Tensors: {_span(plan.budget.tensors)} GiB."
    yield f"Required on the card: {_span(plan.budget.required)} GiB."
    yield f"nvidia-smi will show: {_span(plan.budget.shown)} GiB."
    yield TEXTS[f"binds_{plan.budget.binding.code}"]


def _span(span: Range) -> str:
    return f"{span.typical:,.1f} ({span.low:,.1f} to {span.high:,.1f})"


def _moments(plan: Plan) -> Iterator[str]:
    moments = plan.budget.moments
    yield ""
    yield f"{'GiB':<30}" + "".join(f"{MOMENTS[moment.code]:>28}" for moment in moments)
    for name in COMPONENTS:
        values = [getattr(moment, name) / GIB for moment in moments]
        if any(values):
            yield f"{COMPONENT_TEXTS[name]:<30}" + "".join(f"{value:>28,.2f}" for value in values)
    yield f"{'Sum':<30}" + "".join(f"{moment.total / GIB:>28,.2f}" for moment in moments)


def _rules(plan: Plan) -> Iterator[str]:
    rules = plan.rules
    yield ""
    yield f"The rule of thumb says {rules.rule_gb:,.1f} GB for full fine-tuning (16 GB per billion parameters)."
    if rules.table_row is not None and rules.table_gb is not None:
        yield f"The circulating table says {rules.table_gb:,.1f} GB ({TABLE_ROWS[rules.table_row]})."
    yield f"Our budget: {rules.ours_gb:,.1f} GB."
    for note in rules.reasons:
        yield f"  {sentence(note)}"


def _levers(found: tuple[Lever, ...]) -> Iterator[str]:
    yield ""
    for lever in found:
        price = SPEEDS[lever.speed]
        if lever.slower is not None:
            low, high = (round(100 * share) for share in lever.slower)
            price = fill(price, {"low": low, "high": high})
        effect = f"needs {lever.required_gib:,.1f} GiB" if lever.helps else "does not help here"
        yield f"{LEVERS[lever.code]}: {effect}; {price}."


def _lots(plan: Plan) -> Iterator[str]:
    for verdict in plan.lots:
        yield ""
        yield from _lot(verdict)
    if plan.recommended is not None:
        yield ""
        yield f"Start with: {plan.recommended}."


def _lot(verdict: LotVerdict) -> Iterator[str]:
    lot, fit = verdict.lot, verdict.fit
    yield f"{lot.code} ({lot.accelerator_name}, {lot.cards} x {lot.memory_gb} GB): {VERDICTS[verdict.verdict]}."
    if fit is not None:
        left = f"{100 * fit.free_share:.0f} % left" if fit.free_share >= 0 else "too small"
        yield f"  {fit.required_gib:,.1f} of {verdict.usable_gib or 0:,.1f} GiB a card: {left}. {SHAPES[fit.shape]}"
    if verdict.cache_tokens:
        yield f"  Up to {verdict.cache_tokens:,} tokens of all conversations together stay comfortable."
    if verdict.hours is not None:
        hours = verdict.hours
        yield f"  One run: {hours.low:,.1f}, {hours.typical:,.1f} or {hours.high:,.1f} h (fast, typical, slow)."
    for term in verdict.terms:
        if term.finish != "unknown":
            yield f"  {_term(term)}"
    for note in verdict.cautions:
        yield f"  {sentence(note)}"


def _term(term: TermResult) -> str:
    text = f"{term.days} days, {term.price:,.2f} {term.currency}: {FINISH[term.finish]}"
    text += f", results: {term.runs_slow} to {term.runs}"
    if term.per_success is not None:
        text += f", {shown_amount(term.per_success):,.2f} per success"
    if term.finish == "no" and term.largest_tokens is not None:
        text += f"; {term.largest_tokens / 1e9:,.2f} billion tokens would fit"
    return text + f"; {term.idle_hours or 0:,.0f} h idle."
