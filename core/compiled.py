"""A query that is asked over and over for another value: its text is made once, which takes longer than to ask."""

import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS
from django.db.models import Model, QuerySet

Row = TypeVar("Row", bound=Model)
# Stands in the text for the value; no token, id or name looks like it.
_MARK = "\x01value\x01"


class CompiledQuery(Generic[Row]):
    """`build(value)` gives the query; the value must be one parameter as it is (a text column compared with it) and
    decide nothing else. What depends on the clock or the settings has no place in it.

    Django binds a compiled query to the connection of its thread, so each thread has its own. The objects that come
    back are those of the query itself (tests/core/test_compiled.py compares them).
    """

    def __init__(self, build: Callable[[str], "QuerySet[Row, Any]"]) -> None:
        self._build = build
        self._own = threading.local()

    def first(self, value: str) -> Row | None:
        """The only row, or None. One query."""
        if not hasattr(self._own, "rows"):
            self._own.rows = self._compile()
        rows, fill = self._own.rows
        fill(value)
        return next(iter(rows._clone()), None)

    def _compile(self) -> tuple["QuerySet[Row, Any]", Callable[[str], None]]:
        rows = self._build(_MARK)
        compiler = rows.query.get_compiler(using=DEFAULT_DB_ALIAS)
        text, values = compiler.as_sql()
        current: list[Any] = list(values)

        def fill(value: str) -> None:
            current[:] = [value if parameter == _MARK else parameter for parameter in values]

        compiler.as_sql = lambda *_args, **_options: (text, tuple(current))
        rows.query.get_compiler = lambda *_args, **_options: compiler  # type: ignore[method-assign]
        return rows, fill
