"""Arithmetic on half-open times [from, to): what the picture of the fleet and its figures are made of. Pure."""

from collections.abc import Iterable
from datetime import datetime, timedelta

Span = tuple[datetime, datetime]


def common(one: Span, other: Span) -> Span | None:
    """The time that both have; None where one ends before or as the other begins."""
    begins, ends = max(one[0], other[0]), min(one[1], other[1])
    return (begins, ends) if begins < ends else None


def common_of(spans: Iterable[Span], other: Span) -> list[Span]:
    """What each of these has in common with the other, where it has something."""
    return [found for span in spans if (found := common(span, other)) is not None]


def merged(spans: Iterable[Span]) -> list[Span]:
    """The same time without overlaps, in its order."""
    result: list[Span] = []
    for begins, ends in sorted(spans):
        if result and begins <= result[-1][1]:
            result[-1] = (result[-1][0], max(result[-1][1], ends))
        elif begins < ends:
            result.append((begins, ends))
    return result


def length(spans: Iterable[Span]) -> timedelta:
    """How long these are together; of overlapping ones each counts."""
    return sum((ends - begins for begins, ends in spans), timedelta())
