"""The one entry: a request and the lots on sale become a plan, ranked, with every figure's reason."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from planner import assumptions, cautions, terms
from planner.architecture import Architecture
from planner.budget import Budget
from planner.errors import PlanError
from planner.levers import Lever, levers
from planner.lots import LotSpec
from planner.notes import Note
from planner.request import PlanRequest
from planner.rules import Rules, rules_of_thumb
from planner.serving import cache_tokens
from planner.terms import TermResult
from planner.throughput import Hours, training_hours, utilisation
from planner.verdicts import COMFORTABLE, Budgets, Fit, best_fit, usable_gib
from planner.weights import GIB

PILOT_SPREAD: Final = 0.05
"""Steps of one run on one machine vary by a few per cent after warm-up. An assumption."""


@dataclass(frozen=True, slots=True)
class LotVerdict:
    """One lot judged. `fit` is None where the memory of the card is unknown.

    `cache_tokens`, when serving: tokens of all conversations together at which 20 % of the card is still free.
    """

    lot: LotSpec
    verdict: str
    fit: Fit | None
    usable_gib: float | None
    usable_published: bool
    hours: Hours | None
    hours_source: str
    terms: tuple[TermResult, ...]
    cautions: tuple[Note, ...]
    measured: bool = False
    cache_tokens: int | None = None

    @property
    def best_term(self) -> TermResult | None:
        """The term whose successful result costs least, where one succeeds at all."""
        costed = [(t.per_success, t.days, t) for t in self.terms if t.per_success is not None]
        return min(costed, key=lambda item: item[:2])[2] if costed else None


@dataclass(frozen=True, slots=True)
class Plan:
    """`lots` come best first, by cost per result among equals; `recommended` is the code of the lot to start with:
    the smallest single card that is comfortable, else the first that is sold as a fit."""

    request: PlanRequest
    arch: Architecture
    budget: Budget
    required_gib: float
    levers: tuple[Lever, ...]
    rules: Rules
    lots: tuple[LotVerdict, ...]
    recommended: str | None
    notes: tuple[Note, ...]
    assumptions: tuple[Note, ...]


def plan(request: PlanRequest, lots: Iterable[LotSpec]) -> Plan:
    """Memory, time and cost of a run on every lot. Pure; raises PlanError for unknown lot codes."""
    offered = _chosen(request, list(lots))
    memory_factor, time_factor = _pilot_factors(request, offered)
    budgets = Budgets(request.candidates, memory_factor)
    judged = [_judge(request, budgets, lot, time_factor) for lot in offered]
    ranked = sorted(judged, key=lambda verdict: _rank(request, verdict))
    start = _start(request, ranked)
    own, required = budgets.of(request.run)
    arch = request.candidates.likely
    return Plan(
        request=request,
        arch=arch,
        budget=own,
        required_gib=required,
        levers=levers(budgets, request.run),
        rules=rules_of_thumb(arch, request.run, own),
        lots=tuple(ranked),
        recommended=None if start is None else start.lot.code,
        notes=_notes(request, own, required, ranked, start),
        assumptions=assumptions.assumptions(request),
    )


def _chosen(request: PlanRequest, lots: list[LotSpec]) -> list[LotSpec]:
    codes = {lot.code for lot in lots}
    wanted = [*request.lots, *([request.pilot.lot] if request.pilot else [])]
    for code in wanted:
        if code not in codes:
            field = "pilot.lot" if request.pilot and code == request.pilot.lot else "lots"
            raise PlanError(
                code="unknown_lot",
                field=field,
                message="There is no lot %(lot)s on sale.",
                params={"lot": code},
            )
    return [lot for lot in lots if not request.lots or lot.code in wanted]


def _judge(request: PlanRequest, budgets: Budgets, lot: LotSpec, time_factor: float) -> LotVerdict:
    size = usable_gib(lot)
    run = request.run
    measured = request.pilot is not None and request.pilot.lot == lot.code
    if size is None or (request.shape_given and run.n_cards > lot.cards):
        code = "size_unknown" if size is None else "too_few_cards"
        note = Note(code, {"cards": lot.cards, "wanted": run.n_cards})
        gib, published = size or (None, False)
        return LotVerdict(lot, "no", None, gib, published, None, "", (), (note,), measured)
    usable, published = size
    fit = best_fit(budgets, run, lot, usable, shape_given=request.shape_given)
    hours = _hours(request, lot, fit, time_factor, measured)
    return LotVerdict(
        lot=lot,
        verdict=fit.verdict,
        fit=fit,
        usable_gib=usable,
        usable_published=published,
        hours=hours,
        hours_source="pilot" if measured and time_factor != 1.0 else utilisation(lot, run).source,
        terms=_terms(request, lot, fit, hours),
        cautions=cautions.cautions(lot, run, fit, published_size=published),
        measured=measured,
        cache_tokens=None if run.trained else _cache_tokens(fit, usable),
    )


def _cache_tokens(fit: Fit, usable: float) -> int:
    moment = fit.budget.binding
    beside = fit.required_gib - moment.kept / GIB
    return cache_tokens(moment, fit.run, free_gib=usable * (1 - COMFORTABLE) - beside)


def _hours(request: PlanRequest, lot: LotSpec, fit: Fit, time_factor: float, measured: bool) -> Hours | None:
    tokens = request.trained_tokens
    if tokens is None or not fit.run.trained:
        return None
    together = fit.run.n_cards if fit.shape not in {"single", "independent"} else 1
    hours = training_hours(request.candidates.likely, fit.run, lot, tokens=tokens, cards=together)
    if hours is None:
        return None
    hours = hours.scaled(time_factor)
    if measured and time_factor != 1.0:
        typical = hours.typical
        return Hours(typical * (1 - PILOT_SPREAD), typical, typical * (1 + PILOT_SPREAD))
    return hours


def _terms(request: PlanRequest, lot: LotSpec, fit: Fit, hours: Hours | None) -> tuple[TermResult, ...]:
    # What does not fit has no cost per result; its terms would read as an offer.
    if fit.verdict in {"no", "tight"}:
        hours = None
    pilot = request.pilot
    restart = terms.RESTART_HOURS
    if pilot is not None and pilot.restore_minutes is not None:
        restart = terms.LOAD_HOURS + pilot.restore_minutes / 60
    together = fit.run.n_cards if fit.shape not in {"single", "independent"} else 1
    return tuple(
        terms.term_result(
            days=days,
            price=price,
            currency=lot.currency,
            hours=hours,
            tokens=request.trained_tokens,
            chance=request.chance,
            separate=lot.cards // together,
            restart_hours=restart,
        )
        for days, price in sorted(lot.prices.items())
    )


def _pilot_factors(request: PlanRequest, lots: list[LotSpec]) -> tuple[float, float]:
    """Measured / predicted for memory and time, on the lot of the pilot; 1 where it says nothing."""
    pilot = request.pilot
    if pilot is None:
        return 1.0, 1.0
    lot = next(lot for lot in lots if lot.code == pilot.lot)
    size = usable_gib(lot)
    if size is None:
        return 1.0, 1.0
    fit = best_fit(Budgets(request.candidates), request.run, lot, size[0], shape_given=request.shape_given)
    memory = pilot.peak_gib / fit.budget.tensors_gib if pilot.peak_gib is not None else 1.0
    return memory, _time_factor(request, lot, fit)


def _time_factor(request: PlanRequest, lot: LotSpec, fit: Fit) -> float:
    pilot = request.pilot
    if pilot is None or pilot.step_seconds is None:
        return 1.0
    together = fit.run.n_cards if fit.shape not in {"single", "independent"} else 1
    batches = 1 if fit.run.tensor_parallel else together
    per_step = float(fit.run.tokens * fit.run.accumulation * batches)
    predicted = training_hours(request.candidates.likely, fit.run, lot, tokens=per_step, cards=together)
    return 1.0 if predicted is None else pilot.step_seconds / 3600 / predicted.typical


def _rank(request: PlanRequest, verdict: LotVerdict) -> tuple[int, int, int, float, float, str]:
    """Fit first, then a stack that the buyer is ready for, one card, cost per result, size of the card."""
    sold = {"comfortable": 0, "pilot": 1, "tight": 2, "no": 3}[verdict.verdict]
    foreign = int(verdict.lot.stack == "ROCm" and not request.rocm_ready)
    unfinished = int(request.tokens is not None and verdict.best_term is None)
    best = verdict.best_term
    cost = float(best.per_success) if best is not None and best.per_success is not None else 0.0
    size = (verdict.usable_gib or 0.0) * verdict.lot.cards
    return sold, foreign, unfinished, cost, size, verdict.lot.code


def _start(request: PlanRequest, ranked: list[LotVerdict]) -> LotVerdict | None:
    """One card first, the smallest that is comfortable; a stack that the buyer is ready for."""
    sold = [v for v in ranked if v.verdict in {"comfortable", "pilot"}]
    able = [v for v in sold if request.tokens is None or v.best_term is not None] or sold
    native = [v for v in able if v.lot.stack != "ROCm" or request.rocm_ready] or able
    alone = [v for v in native if v.verdict == "comfortable" and v.lot.cards == 1]
    if alone:
        return min(alone, key=lambda v: (v.usable_gib or 0.0, sum(v.lot.prices.values()), v.lot.code))
    return native[0] if native else None


def _notes(
    request: PlanRequest, own: Budget, required: float, ranked: list[LotVerdict], start: LotVerdict | None
) -> tuple[Note, ...]:
    notes = [Note(f"binds_{own.binding.code}")]
    hint = cautions.consumer_hint(required) if request.run.n_cards == 1 else None
    if hint is not None:
        notes.append(hint)
    if start is not None and start.lot.cards == 1 and any(v.lot.cards > 1 for v in ranked):
        names = {"lot": start.lot.code, "accelerator": start.lot.accelerator_name}
        notes.append(Note("one_card_first", names))
    if request.run.method == "qlora" and request.run.weights in {"nf4", "nf4dq", "int8"}:
        notes.append(Note("load_peak", {"gib": 2 * request.candidates.likely.params / GIB}))
    if not request.run.packing:
        notes.append(Note("uneven_lengths"))
    if ranked and start is None:
        notes.append(Note("nothing_fits"))
    return tuple(notes)
