"""Memory at the moments of a step: stacked bars in per cent of the width, and the same figures as a table."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from core.units import figure, gib
from planner import LotVerdict, Plan
from planner.moments import COMPONENTS, Moment
from planner.verdicts import COMFORTABLE
from planner.weights import GIB
from shop.pages.plan_words import COMPONENTS as COMPONENT_WORDS
from shop.pages.plan_words import MOMENT_NOTES, MOMENTS, NOTES

FILLS: Final = {
    "weights": "weights",
    "gradients": "gradients",
    "optimizer": "optimizer",
    "copies": "temp",
    "kept": "store",
    "working": "hump",
    "buffers": "buffers",
}

# A label of four digits needs about 30 px; the narrowest chart is some 320 px wide.
_LABEL_WIDTH: Final = 11.0
_LABELLED: Final = frozenset({"weights", "gradients", "optimizer", "temp"})
_GAP: Final = 0.25
_ROOM: Final = 1.04


@dataclass(frozen=True)
class Segment:
    """`x`, `width` and `middle` in per cent, as SVG reads them."""

    fill: str
    x: str
    width: str
    middle: str
    label: str


@dataclass(frozen=True)
class Bar:
    code: str
    name: str
    total: str
    note: str
    binds: bool
    label: str
    segments: tuple[Segment, ...]


@dataclass(frozen=True)
class Limit:
    """What a program can use on one card of a lot, drawn as an upright line."""

    name: str
    usable: str
    x: str


@dataclass(frozen=True)
class Bars:
    """`legend` pairs fill and word; `rows` pair word and figures, one for each bar."""

    legend: tuple[tuple[str, str], ...]
    bars: tuple[Bar, ...]
    limits: tuple[Limit, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]
    totals: tuple[str, ...]


def memory_bars(plan: Plan) -> Bars:
    """Drawn to one scale that holds the largest bar and the limits."""
    moments = plan.budget.moments
    chosen = _limit_lots(plan)
    largest = max(moment.total / GIB for moment in moments)
    scale = _ROOM * max([largest, *(usable for _, usable in chosen)])
    present = [name for name in COMPONENTS if any(getattr(moment, name) for moment in moments)]
    return Bars(
        legend=tuple((FILLS[name], str(COMPONENT_WORDS[name])) for name in present),
        bars=tuple(_bar(moment, plan.budget.binding.code, scale) for moment in moments),
        limits=tuple(Limit(name, gib(usable), _percent(100 * usable / scale)) for name, usable in chosen),
        rows=tuple((str(COMPONENT_WORDS[name]), _figures(moments, name)) for name in present),
        totals=tuple(figure(moment.total / GIB) for moment in moments),
    )


def _limit_lots(plan: Plan) -> list[tuple[str, float]]:
    """The cards on both sides of a comfortable fit, and the one to start with."""
    sizes = {v.lot.accelerator_name: v.usable_gib for v in plan.lots if v.usable_gib is not None}
    start = recommended(plan)
    small = [(usable, name) for name, usable in sizes.items() if _left(usable, plan) < COMFORTABLE]
    large = [(usable, name) for name, usable in sizes.items() if _left(usable, plan) >= COMFORTABLE]
    chosen = {name: usable for usable, name in (*sorted(small)[-1:], *sorted(large)[:1])}
    if start is not None and start.usable_gib is not None:
        chosen[start.lot.accelerator_name] = start.usable_gib
    return sorted(chosen.items(), key=lambda item: item[1])


def _left(usable: float, plan: Plan) -> float:
    return (usable - plan.required_gib) / usable


def recommended(plan: Plan) -> LotVerdict | None:
    return next((verdict for verdict in plan.lots if verdict.lot.code == plan.recommended), None)


def _bar(moment: Moment, binding: str, scale: float) -> Bar:
    segments = []
    at = 0.0
    parts = []
    for name in COMPONENTS:
        size = getattr(moment, name) / GIB
        if not size:
            continue
        width = 100 * size / scale
        fits = width >= _LABEL_WIDTH and FILLS[name] in _LABELLED
        segments.append(
            Segment(
                fill=FILLS[name],
                x=_percent(at),
                # A hairline between neighbours, but never at the cost of a thin segment.
                width=_percent(max(width - _GAP, width / 2)),
                middle=_percent(at + width / 2),
                label=figure(size) if fits else "",
            )
        )
        parts.append(f"{COMPONENT_WORDS[name]} {figure(size)}")
        at += width
    binds = moment.code == binding
    total = gib(moment.total / GIB)
    return Bar(
        code=moment.code,
        name=str(MOMENTS[moment.code]),
        total=total,
        note=str(NOTES[f"binds_{moment.code}"] if binds else MOMENT_NOTES[moment.code]),
        binds=binds,
        label=f"{MOMENTS[moment.code]}: {total}. {', '.join(parts)}",
        segments=tuple(segments),
    )


def _figures(moments: Sequence[Moment], name: str) -> tuple[str, ...]:
    return tuple(figure(getattr(moment, name) / GIB) for moment in moments)


def _percent(value: float) -> str:
    """Two decimals with a point: SVG reads no comma."""
    return f"{value:.2f}%"
