"""A gauge that is read from rows when somebody scrapes: its name, its words, its labels and its query."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Model, QuerySet

from core import clock

Sample = tuple[tuple[str, ...], float]


@dataclass(frozen=True)
class RowGauge:
    """`read` gives one value per set of labels. Values of labels are names from code or settings, never a person's
    text: their number is bounded. `is_counter`: it never falls."""

    name: str
    text: str
    labels: tuple[str, ...]
    read: Callable[[], Iterable[Sample]]
    is_counter: bool = False


def counted(rows: "QuerySet[Any, Any]", field: str, values: Sequence[str]) -> list[Sample]:
    """How many rows have each value; zero is said too, so that an alert sees the series before the first row."""
    found = dict(rows.order_by().values_list(field).annotate(Count("pk")))
    return [((value,), float(found.get(value, 0))) for value in values]


def number(rows: "QuerySet[Model, Any]") -> list[Sample]:
    return [((), float(rows.count()))]


def age(moment: datetime | None) -> float:
    """Seconds since a moment of the system clock; 0 for none."""
    return max(0.0, (clock.system_now() - moment).total_seconds()) if moment is not None else 0.0


def product_age(moment: datetime | None) -> float:
    """The same by the product's clock, which only the demo moves."""
    return max(0.0, (clock.now() - moment).total_seconds()) if moment is not None else 0.0
