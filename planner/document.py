"""A plan as plain data for JSON: codes and numbers, money as decimal strings, no sentences."""

from dataclasses import asdict
from fractions import Fraction

from planner.advise import LotVerdict, Plan
from planner.budget import Budget, Range
from planner.levers import Lever
from planner.moments import COMPONENTS, Moment
from planner.notes import Note
from planner.terms import TermResult, shown_amount
from planner.throughput import Hours
from planner.weights import GIB

Data = dict[str, object]


def as_document(plan: Plan) -> Data:
    """Keys are stable; GiB with three decimals; None is unknown."""
    return {
        "model": {
            "name": plan.arch.name,
            "params": plan.arch.params,
            "active_params": plan.arch.active_params,
            "layers": plan.arch.layers,
            "hidden": plan.arch.hidden,
            "vocab": plan.arch.vocab,
            "certain": plan.request.candidates.certain,
        },
        "run": asdict(plan.request.run),
        "memory": _memory(plan.budget, plan.required_gib),
        "levers": [_lever(lever) for lever in plan.levers],
        "rules_of_thumb": {
            "rule_gb": _short(plan.rules.rule_gb),
            "table_row": plan.rules.table_row,
            "table_gb": _short(plan.rules.table_gb),
            "ours_gb": _short(plan.rules.ours_gb),
            "reasons": [_note(note) for note in plan.rules.reasons],
        },
        "lots": [_lot(verdict) for verdict in plan.lots],
        "recommended": plan.recommended,
        "notes": [_note(note) for note in plan.notes],
        "assumptions": [_note(note) for note in plan.assumptions],
    }


def _memory(budget: Budget, required: float) -> Data:
    return {
        "moments": [_moment(moment) for moment in budget.moments],
        "binding": budget.binding.code,
        "tensors_gib": _range(budget.tensors),
        "required_gib": _range(budget.required),
        "judged_gib": _short(required),
        "shown_gib": _range(budget.shown),
    }


def _moment(moment: Moment) -> Data:
    parts = {f"{name}_gib": _short(getattr(moment, name) / GIB) for name in COMPONENTS}
    return {"moment": moment.code, **parts, "total_gib": _short(moment.total / GIB)}


def _lever(lever: Lever) -> Data:
    return {
        "code": lever.code,
        "required_gib": _short(lever.required_gib),
        "saved_gib": _short(lever.saved_gib),
        "helps": lever.helps,
        "speed": lever.speed,
        "slower": None if lever.slower is None else list(lever.slower),
    }


def _lot(verdict: LotVerdict) -> Data:
    fit = verdict.fit
    return {
        "lot": verdict.lot.code,
        "accelerator": verdict.lot.accelerator_slug,
        "cards": verdict.lot.cards,
        "verdict": verdict.verdict,
        "shape": None if fit is None else fit.shape,
        "usable_gib": _short(verdict.usable_gib),
        "usable_published": verdict.usable_published,
        "required_gib": None if fit is None else _short(fit.required_gib),
        "free_share": None if fit is None else round(fit.free_share, 4),
        "hours": _hours(verdict.hours),
        "hours_source": verdict.hours_source or None,
        "terms": [_term(term) for term in verdict.terms],
        "cautions": [_note(note) for note in verdict.cautions],
        "measured": verdict.measured,
        "cache_tokens": verdict.cache_tokens,
    }


def _term(term: TermResult) -> Data:
    return {
        "days": term.days,
        "price": f"{term.price:f}",
        "currency": term.currency,
        "usable_hours": _short(term.usable_hours),
        "finish": term.finish,
        "runs": term.runs,
        "runs_if_slow": term.runs_slow,
        "per_success": _money(term.per_success),
        "per_success_if_slow": _money(term.per_success_slow),
        "idle_hours": _short(term.idle_hours),
        "largest_tokens": term.largest_tokens,
    }


def _note(note: Note) -> Data:
    return {"code": note.code, "params": dict(note.params)}


def _range(span: Range) -> Data:
    return {"low": _short(span.low), "typical": _short(span.typical), "high": _short(span.high)}


def _hours(hours: Hours | None) -> Data | None:
    if hours is None:
        return None
    return {"low": _short(hours.low), "typical": _short(hours.typical), "high": _short(hours.high)}


def _money(amount: Fraction | None) -> str | None:
    return None if amount is None else f"{shown_amount(amount):f}"


def _short(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
