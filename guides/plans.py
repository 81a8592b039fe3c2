"""What the planner says of a guide's examples, by name.

plan.<example>.required                  also: tensors, shown, rule, table, ours, billions, seq_len, vocab
plan.<example>.<moment>.<component>      moment: start, end, step, binding; component: weights ... or total
plan.<example>.lever.<code>              required once this lever is pulled
plan.<example>.lot.<code>.need           also: usable, free, hours
plan.<example>.lot.<code>.cost.<days>    also: results, idle; cost is of one successful result
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from django.utils.translation import gettext as _

from catalog.offers import LotSpecRow
from core.formats import amount_text
from core.units import figure, gb, gib, hours, money, share
from guides.examples import Example
from planner import LotVerdict, Plan, plan
from planner.moments import COMPONENTS
from planner.terms import TermResult, shown_amount
from planner.weights import GIB

_OVERALL: Final[Mapping[str, Callable[[Plan], str]]] = {
    "required": lambda found: gib(found.required_gib),
    "tensors": lambda found: gib(found.budget.tensors_gib),
    "shown": lambda found: gib(found.budget.shown_gib),
    "rule": lambda found: gb(round(found.rules.rule_gb, 1)),
    "table": lambda found: gb(round(found.rules.table_gb or 0.0, 1)),
    "ours": lambda found: gb(round(found.rules.ours_gb, 1)),
    "billions": lambda found: figure(found.arch.params / 1e9),
    "seq_len": lambda found: amount_text(found.request.run.seq_len, places=0),
    "vocab": lambda found: amount_text(found.arch.vocab, places=0),
}


@dataclass(frozen=True)
class _Lots:
    """Lots on sale as a key: two reads of the same table are equal."""

    key: str
    rows: tuple[LotSpecRow, ...] = field(compare=False)


@lru_cache(maxsize=64)
def _planned(example: Example, lots: _Lots) -> Plan:
    return plan(example.request, lots.rows)


class PlanFigures:
    """Figures of the examples for the lots on sale. Names that mean nothing raise KeyError or ValueError."""

    def __init__(self, examples: Mapping[str, Example], lots: Iterable[LotSpecRow]) -> None:
        rows = tuple(lots)
        self._lots = _Lots(repr(rows), rows)
        self._examples = examples

    def plan_of(self, name: str) -> Plan:
        return _planned(self._examples[name], self._lots)

    def claim(self, name: str) -> str:
        """What a text may say in words: `<example>.binding`, `.lot.<code>` (the verdict), `.best_term.<code>`."""
        example, kind, *rest = name.split(".")
        found = self.plan_of(example)
        if kind == "binding":
            return found.budget.binding.code
        (code,) = rest
        verdict = _verdicts(found)[code]
        if kind == "best_term":
            return str(verdict.best_term.days) if verdict.best_term else ""
        return verdict.verdict

    def value(self, name: str, kind: str, *rest: str) -> str:
        found = self.plan_of(name)
        if not rest:
            return _OVERALL[kind](found)
        if kind == "lever":
            return gib({lever.code: lever.required_gib for lever in found.levers}[rest[0]])
        if kind == "lot":
            return _lot(found, *rest)
        (component,) = rest
        return _moment(found, kind, component)


def _moment(found: Plan, code: str, component: str) -> str:
    moments = {moment.code: moment for moment in found.budget.moments}
    moment = found.budget.binding if code == "binding" else moments[code]
    if component not in (*COMPONENTS, "activations", "total"):
        raise KeyError(component)
    return gib(getattr(moment, component) / GIB)


def _lot(found: Plan, code: str, kind: str, days: str = "") -> str:
    verdict = _verdicts(found).get(code)
    if verdict is None:
        return _("not on sale")
    if days:
        term = {term.days: term for term in verdict.terms}.get(int(days))
        return _("not on sale") if term is None else _term(term, kind)
    if verdict.fit is None or verdict.usable_gib is None:
        return _("not found")
    if kind == "hours":
        return _("not estimated") if verdict.hours is None else hours(verdict.hours.typical)
    return {
        "need": gib(verdict.fit.required_gib),
        "usable": gib(verdict.usable_gib),
        "free": share(max(verdict.fit.free_share, 0.0)),
    }[kind]


def _term(term: TermResult, kind: str) -> str:
    if kind == "cost":
        return (
            _("no result")
            if term.per_success is None
            else money(shown_amount(term.per_success), term.currency)
        )
    if kind == "results":
        return amount_text(term.runs or 0, places=0)
    if kind == "idle":
        return hours(term.idle_hours or 0.0)
    raise KeyError(kind)


def _verdicts(found: Plan) -> dict[str, LotVerdict]:
    return {verdict.lot.code: verdict for verdict in found.lots}
