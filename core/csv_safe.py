"""CSV for spreadsheets and for programs: nothing in it runs, and every text can be had back as it was typed.

The rule. A cell of text could be taken for a formula at its beginning, and wherever a reader that was told another
separator would begin a cell: after a comma, semicolon, tab, line end or quotation mark. Where at such a place, blanks
passed over, a sign follows that starts a formula, or an apostrophe, one apostrophe is put before it; and one before a
tab or line end at the very start. Taking them away gives the text as it was typed (`plain_text`).
"""

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Generic, TypeVar

T = TypeVar("T")
Value = str | int | Decimal | bool | datetime | date | None

# Spreadsheets guess UTF-8 from it; without it Cyrillic is rubbish on a double click.
BOM = "\ufeff"
# Comma is the form for programs. A spreadsheet set to German, French or Russian expects a semicolon.
SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t"}
# What spreadsheets take for the start of a formula, in the widths and shapes that they fold into one.
_LIVE = "=+\\-@\u2212\uff1d\uff0b\uff0d\uff20\ufe62\ufe63\ufe66\ufe6b"
# Where a cell may begin: the text's own start, any separator, a line end, a quotation mark; then what is passed over.
_BEGINNING = r"(?:\A|[,;\t\r\n\v\f\x1c-\x1e\x85\u2028\u2029|\"])[\s\"\u200b-\u200f\u2060\ufeff]*"
_LIVE_PLACE = re.compile(f"({_BEGINNING})(?=[{_LIVE}'])")
_SAFE_PLACE = re.compile(f"({_BEGINNING})'")
# A tab or a line end at the very start is taken off by some readers: it gets an apostrophe of its own.
_BREAK_FIRST = re.compile(r"\A(?=[\t\r\n])")
_SAFE_BREAK = re.compile(r"\A'(?=[\t\r\n])")


@dataclass(frozen=True)
class Column(Generic[T]):
    """A column of a table: its stable name, the same in every language, and what a row has there."""

    name: str
    value: Callable[[T], Value]


def safe_text(text: str) -> str:
    """A text that no spreadsheet takes for a formula, under any of the separators."""
    return _BREAK_FIRST.sub("'", _LIVE_PLACE.sub(r"\1'", text))


def plain_text(cell: str) -> str:
    """The text that `safe_text` was given."""
    return _SAFE_PLACE.sub(r"\1", _SAFE_BREAK.sub("", cell))


def cell(value: Value) -> str:
    """One value as it is written: numbers and times in one form for every language, texts made safe."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    return value.isoformat() if isinstance(value, date) else safe_text(value)


def lines(columns: Iterable[Column[T]], rows: Iterable[T], *, separator: str = ",") -> Iterator[str]:
    """The file line by line, the head with its mark first (RFC 4180, CRLF). Holds one row at a time."""
    columns = list(columns)
    yield BOM + _line([column.name for column in columns], separator)
    for row in rows:
        yield _line([cell(column.value(row)) for column in columns], separator)


def _line(cells: list[str], separator: str) -> str:
    # One writer per line: its buffer is all that is held.
    text = io.StringIO()
    csv.writer(text, delimiter=separator, lineterminator="\r\n").writerow(cells)
    return text.getvalue()
