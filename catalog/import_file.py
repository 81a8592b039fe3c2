"""A catalogue file as it comes from a person: bounded, decoded and read as JSON or TOML, or refused with a reason."""

import json
import tomllib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext_lazy as _

from core.errors import Invalid
from core.text import is_storable

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

# The shipped catalogue has 20 kB. A request with it must also pass a proxy that stops at 256 kB.
MAX_BYTES = 200_000
MAX_ERRORS = 50
_MAX_VALUE = 80
# The shipped files go five deep and need no number of more than 12 digits.
_MAX_DEPTH = 20
_MAX_WHOLE = 10**40
# The parser's time grows with the square of the parts of a dotted name, which stands on one line.
_MAX_DOTS = 100


@dataclass(frozen=True, slots=True)
class FileError:
    """One thing that is wrong: where in the file, what stands there, and why that cannot be."""

    place: str
    value: str
    text: "str | _StrPromise"

    def __str__(self) -> str:
        return ": ".join(str(part) for part in (self.place, self.value, self.text) if part)


class FileRefused(Invalid):
    """A file that cannot be taken; `errors` are the first MAX_ERRORS of `count`. Nothing was written."""

    def __init__(self, errors: Iterable[FileError]) -> None:
        found = list(errors)
        super().__init__(code="catalogue_file_refused", message=_("This file cannot be taken."), field="file")
        self.count = len(found)
        self.errors = tuple(found[:MAX_ERRORS])


def shown(value: object) -> str:
    """A value of the file, short and harmless, for a message about it."""
    plain = isinstance(value, str | Decimal)
    text = str(value) if plain else json.dumps(value, default=str, ensure_ascii=False)
    text = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text[: _MAX_VALUE + 1])
    return text if len(text) <= _MAX_VALUE else text[:_MAX_VALUE] + "…"


def read_document(content: bytes) -> dict[str, Any]:
    """The top level of a file: JSON if it begins with a brace, else TOML. Raises FileRefused."""
    if len(content) > MAX_BYTES:
        raise _refused(_("The file is larger than 200 kB."))
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _refused(_("The file is not UTF-8."), place=_byte(error.start)) from error
    if not text.strip():
        raise _refused(_("The file is empty."))
    if not is_storable(text):
        raise _refused(_("This text holds a character that cannot be stored."))
    try:
        document = _json(text) if text.lstrip().startswith("{") else _toml(text)
    except RecursionError as error:
        raise _refused(_("The file is nested too deep.")) from error
    _bound(document)
    return document


def _json(text: str) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(
            text, parse_float=Decimal, parse_constant=_no_constant, object_pairs_hook=_once
        )
    except json.JSONDecodeError as error:
        place = _("line %(line)s, column %(column)s") % {"line": error.lineno, "column": error.colno}
        raise _refused(_("This is not valid JSON."), place=place, value=error.msg) from error
    except ArithmeticError as error:
        raise _refused(_("A number in this file cannot be read.")) from error
    except ValueError as error:
        raise _refused(_("This is not valid JSON."), value=shown(str(error))) from error
    return found


def _toml(text: str) -> dict[str, Any]:
    if any(line.count(".") > _MAX_DOTS for line in text.splitlines()):
        raise _refused(_("The file is nested too deep."))
    try:
        return tomllib.loads(text, parse_float=Decimal)
    except ValueError as error:
        # A file that is no TOML at all is as often no JSON either; the parser's words name line and column.
        raise _refused(_("This is neither valid JSON nor valid TOML."), value=shown(str(error))) from error
    except ArithmeticError as error:
        raise _refused(_("A number in this file cannot be read.")) from error


def _bound(document: dict[str, Any]) -> None:
    """TOML has whole numbers and dotted names of any length: neither could even be shown. Walks without recursion."""
    level: list[Any] = [document]
    for _depth in range(_MAX_DEPTH):
        if any(isinstance(value, int) and abs(value) >= _MAX_WHOLE for value in level):
            raise _refused(_("A number in this file cannot be read."))
        parts = (value.values() if isinstance(value, dict) else value for value in level if _has_parts(value))
        level = [part for found in parts for part in found]
        if not level:
            return
    raise _refused(_("The file is nested too deep."))


def _has_parts(value: object) -> bool:
    return isinstance(value, dict | list)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        ((twice, _times),) = Counter(name for name, _value in pairs).most_common(1)
        raise ValueError(f'"{twice}" stands twice in one object')
    return found


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number")


def _byte(offset: int) -> str:
    return str(_("byte %(number)s") % {"number": offset})


def _refused(text: "str | _StrPromise", *, place: "str | _StrPromise" = "", value: str = "") -> FileRefused:
    return FileRefused([FileError(str(place), value, text)])
