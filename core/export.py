"""Tables that leave the shop as files: what a table is, its period, and the walk over its rows in a fixed order."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from django.db.models import Model, QuerySet

from core import clock
from core.csv_safe import Column

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

M = TypeVar("M", bound=Model)
T = TypeVar("T")

# A page of rows is what an export holds at once, however long the table is.
PAGE = 1000


@dataclass(frozen=True)
class Period:
    """Whole days in UTC, the last one included for whoever asks; as instants [begins, ends)."""

    first: date
    last: date

    @property
    def begins(self) -> datetime:
        return clock.midnight(self.first)

    @property
    def ends(self) -> datetime:
        return clock.midnight(self.last + timedelta(days=1))


@dataclass(frozen=True)
class Table(Generic[T]):
    """One kind of export. `permission` is needed beside the general one for exports; `rows` come in a total order."""

    name: str
    label: "str | _StrPromise"
    explain: "str | _StrPromise"
    permission: str
    columns: Sequence[Column[T]]
    count: Callable[[Period], int]
    rows: Callable[[Period], Iterator[T]]


def last_month() -> Period:
    """The whole month before this one: what the books are closed by."""
    last = clock.now().astimezone(UTC).date().replace(day=1) - timedelta(days=1)
    return Period(first=last.replace(day=1), last=last)


def by_key(rows: "QuerySet[M]", *, page: int = PAGE) -> Iterator[M]:
    """All rows in the order of their key, a page in memory: a total order, whatever is written meanwhile.

    No transaction is held open over a download that may take as long as the reader likes.
    """
    after: Any = 0
    while True:
        found = list(rows.filter(pk__gt=after).order_by("pk")[:page])
        yield from found
        if len(found) < page:
            return
        after = found[-1].pk
