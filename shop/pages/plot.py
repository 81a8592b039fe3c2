"""Points and bearings of the catalogue's plots. Pure geometry: across in per cent, down in CSS pixels."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

# The field: left and right edge in per cent of the width, upper and lower edge in pixels.
LEFT, RIGHT, TOP, BOTTOM = 6.0, 97.0, 34.0, 392.0
_ROUND_STEPS: Final = tuple(step * 10.0**power for power in range(-4, 8) for step in (1, 2, 2.5, 5))
_MOST_TICKS = 7
# Labels are placed for a wide page and dropped on a narrow one where they would lie on each other.
_WIDE, _NARROW = 1050.0, 330.0
_LETTER, _LINE, _GAP = 6.8, 13.0, 10.0
_BEARINGS: Final = 4


@dataclass(frozen=True)
class Item:
    """One accelerator: what it is called, where it lies, how it is drawn."""

    name: str
    x: float
    y: float
    rocm: bool
    marked: bool


@dataclass(frozen=True)
class Tick:
    at: float
    value: Decimal


@dataclass(frozen=True)
class Point:
    """`anchor` is the side of the label: end (left of the point) or empty; `wide` hides it on a narrow page."""

    item: Item
    x: float
    y: float
    label: str
    anchor: str
    dy: float
    wide: bool


@dataclass(frozen=True)
class Bearing:
    """All places with the same ratio of y to x."""

    ratio: Decimal
    x: float
    y: float


@dataclass(frozen=True)
class Plot:
    points: tuple[Point, ...]
    bearings: tuple[Bearing, ...]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]


def plot(items: Sequence[Item]) -> Plot | None:
    """Where everything lies. None for fewer than two points: there is nothing to compare."""
    if len(items) < 2:
        return None
    x_step, x_max = _scale(max(item.x for item in items))
    y_step, y_max = _scale(max(item.y for item in items))
    field = _Field(x_max, y_max)
    return Plot(
        points=_points(items, field),
        bearings=_bearings(items, field),
        x_ticks=_ticks(x_step, x_max, field.across),
        y_ticks=_ticks(y_step, y_max, field.down)[1:],
    )


@dataclass(frozen=True)
class _Field:
    x_max: float
    y_max: float

    def across(self, x: float) -> float:
        return round(LEFT + (RIGHT - LEFT) * x / self.x_max, 2)

    def down(self, y: float) -> float:
        return round(BOTTOM - (BOTTOM - TOP) * y / self.y_max, 1)


def _scale(largest: float) -> tuple[float, float]:
    """A round step, and the end of the axis: the first step at or above the largest value."""
    step = next(step for step in _ROUND_STEPS if largest / step <= _MOST_TICKS)
    return step, step * -(-largest // step)


def _ticks(step: float, end: float, place: Callable[[float], float]) -> tuple[Tick, ...]:
    values = [step * number for number in range(round(end / step) + 1)]
    return tuple(Tick(place(value), Decimal(f"{value:g}")) for value in values)


def _bearings(items: Sequence[Item], field: _Field) -> tuple[Bearing, ...]:
    """Round ratios within what the items have, at most four."""
    ratios = sorted(item.y / item.x for item in items)
    round_ones = [step * 10.0**power for power in range(-6, 4) for step in (1, 2, 3, 5)]
    within = [ratio for ratio in round_ones if ratios[0] * 0.9 <= ratio <= ratios[-1] * 1.1]
    while len(within) > _BEARINGS:
        within = within[::2]
    return tuple(_bearing(ratio, field) for ratio in within)


def _bearing(ratio: float, field: _Field) -> Bearing:
    """From the origin to where it leaves the field, on the right or at the top."""
    x = min(field.x_max, field.y_max / ratio)
    return Bearing(ratio=Decimal(f"{ratio:.3g}"), x=field.across(x), y=field.down(ratio * x))


@dataclass(frozen=True)
class _Box:
    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: "_Box") -> bool:
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )


def _points(items: Sequence[Item], field: _Field) -> tuple[Point, ...]:
    """The marked ones take their places first, then the dearest, which stand alone most often."""
    order = sorted(items, key=lambda item: (not item.marked, -item.y))
    dots = {item: (field.across(item.x), field.down(item.y)) for item in items}
    wide: list[_Box] = [_dot(place, _WIDE) for place in dots.values()]
    narrow: list[_Box] = [_dot(place, _NARROW) for place in dots.values()]
    found = {item: _labelled(item, dots[item], wide, narrow) for item in order}
    return tuple(found[item] for item in items)


def _labelled(item: Item, place: tuple[float, float], wide: list[_Box], narrow: list[_Box]) -> Point:
    for anchor, dy in (("", 4.0), ("end", 4.0), ("", -5.0), ("end", -5.0), ("", 14.0), ("end", 14.0)):
        box = _label(item.name, place, anchor, dy, _WIDE)
        if _is_free(box, wide, _WIDE):
            wide.append(box)
            small = _label(item.name, place, anchor, dy, _NARROW)
            fits = _is_free(small, narrow, _NARROW)
            if fits:
                narrow.append(small)
            return Point(item, *place, label=item.name, anchor=anchor, dy=dy, wide=not fits)
    return Point(item, *place, label="", anchor="", dy=0, wide=True)


def _dot(place: tuple[float, float], width: float) -> _Box:
    x = place[0] * width / 100
    return _Box(x - 6, place[1] - 6, x + 6, place[1] + 6)


def _label(name: str, place: tuple[float, float], anchor: str, dy: float, width: float) -> _Box:
    x, length = place[0] * width / 100, len(name) * _LETTER
    left = x - _GAP - length if anchor == "end" else x + _GAP
    return _Box(left, place[1] + dy - _LINE + 3, left + length, place[1] + dy + 3)


def _is_free(box: _Box, taken: Sequence[_Box], width: float) -> bool:
    inside = box.left >= 0 and box.right <= width
    return inside and not any(box.meets(other) for other in taken)
