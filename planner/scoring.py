"""How far the model lies from rows of measurements and verdicts, for anybody with rows of their own."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from planner.budget import Budget, budget
from planner.errors import PlanError
from planner.measurements import Row, case_from_row, measured_gib, ran, usable_gib

MARGINS: Final = (0, 5, 10, 15, 20)
"""Free share of the usable memory, per cent, from which a run is said to fit."""

UNDER: Final = 0.05

UNCOUNTED: Final = "caveat"
"""Split of rows whose configuration is not fully stated."""


@dataclass(frozen=True, slots=True)
class Scored:
    """One row: `error` is predicted / measured - 1."""

    name: str
    split: str
    error: float


@dataclass(frozen=True, slots=True)
class SplitScore:
    """Errors are absolute and relative, as fractions; `under_5` is the share under-predicted by over 5 %."""

    rows: int
    median: float
    p90: float
    under_5: float


@dataclass(frozen=True, slots=True)
class MarginScore:
    """Shares over all rows: `right` = the verdict equals `ran`, `unsafe` = said to fit and died."""

    rows: int
    right: float
    unsafe: float


def score_measurements(rows: Iterable[Row]) -> tuple[list[Scored], list[str]]:
    """Every readable row with its error, and a line for each row that is not counted."""
    scored: list[Scored] = []
    problems: list[str] = []
    for number, row in enumerate(rows, start=1):
        try:
            case = case_from_row(row)
            if case.split == UNCOUNTED:
                problems.append(f"{case.name}: not counted, its configuration is not fully stated.")
                continue
            error = predicted_gib(budget(case.arch, case.run), case.tier) / measured_gib(row) - 1
            scored.append(Scored(case.name, case.split, error))
        except PlanError as refused:
            problems.append(f"{_label(row, number)}: {refused}")
    return scored, problems


def predicted_gib(found: Budget, tier: str) -> float:
    """What the instrument of a tier would read, GiB."""
    return {"alloc": found.tensors_gib, "reserved": found.reserved_gib, "device": found.shown_gib}[tier]


def by_split(scored: Iterable[Scored]) -> dict[str, SplitScore]:
    """Scores of each split, in the order in which the splits first appear."""
    groups: dict[str, list[float]] = {}
    for item in scored:
        groups.setdefault(item.split, []).append(item.error)
    return {
        split: SplitScore(
            rows=len(errors),
            median=quantile([abs(error) for error in errors], 0.5),
            p90=quantile([abs(error) for error in errors], 0.9),
            under_5=sum(error < -UNDER for error in errors) / len(errors),
        )
        for split, errors in groups.items()
    }


def score_verdicts(rows: Iterable[Row]) -> tuple[dict[int, MarginScore], list[str]]:
    """Scores by margin in per cent, and a line for each row that cannot be read."""
    judged: list[tuple[float, bool]] = []
    problems: list[str] = []
    for number, row in enumerate(rows, start=1):
        try:
            case = case_from_row(row)
            usable = usable_gib(row)
            judged.append(((usable - budget(case.arch, case.run).required_gib) / usable, ran(row)))
        except PlanError as refused:
            problems.append(f"{_label(row, number)}: {refused}")
    return {margin: _at_margin(judged, margin / 100) for margin in MARGINS}, problems


def _at_margin(judged: list[tuple[float, bool]], margin: float) -> MarginScore:
    count = len(judged)
    right = sum((free >= margin) == finished for free, finished in judged)
    unsafe = sum(free >= margin and not finished for free, finished in judged)
    return MarginScore(count, right / max(count, 1), unsafe / max(count, 1))


def quantile(values: list[float], share: float) -> float:
    """Linear between neighbours; values must not be empty."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def _label(row: Row, number: int) -> str:
    return f"row {number} ({(row.get('id') or '').strip()[:60] or 'no id'})"
