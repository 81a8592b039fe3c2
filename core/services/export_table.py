"""Hand out a table as CSV, and note who took what before the first byte leaves."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from django.utils.translation import gettext_lazy as _

from core import audit
from core.csv_safe import SEPARATORS, lines
from core.errors import Invalid
from core.export import Period, Table

# Lines per piece: few enough for memory, many enough that a piece is worth a write to the socket.
_LINES = 500
_YEARS = (2000, 2200)


def export_table(
    *, table: Table[Any], period: Period, separator: str, actor: str, reason: str = ""
) -> Iterator[bytes]:
    """The file in pieces. Locks nothing; writes one audit entry per call. Raises Invalid (period, separator).

    The entry names the rows as counted at that moment: it stands even where the reader breaks off.
    """
    if period.first > period.last:
        raise Invalid(code="invalid_period", message=_("The period ends before it begins."), field="last")
    if period.first.year < _YEARS[0] or period.last.year > _YEARS[1]:
        raise Invalid(code="invalid_period", message=_("The shop has no such days."), field="first")
    if separator not in SEPARATORS:
        raise Invalid(code="invalid_separator", message=_("There is no such separator."), field="separator")
    audit.record(
        actor=actor,
        action=f"export.{table.name}",
        subject=f"export:{table.name}",
        reason=reason,
        after={
            "from": period.first.isoformat(),
            "to": period.last.isoformat(),
            "rows": table.count(period),
        },
    )
    return _pieces(table, period, SEPARATORS[separator])


def _pieces(table: Table[Any], period: Period, separator: str) -> Iterator[bytes]:
    text = lines(table.columns, table.rows(period), separator=separator)
    while piece := list(islice(text, _LINES)):
        yield "".join(piece).encode()
