"""Whole rows in and out with statements whose text is built once: a checkout writes ten rows while it holds its locks.

The ORM builds each statement anew, and one for each row. Values are prepared by the fields themselves, as `save` does;
nothing is told by signals. For plain models whose keys the database gives.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, DatabaseError, connection, connections, models

M = TypeVar("M", bound=models.Model)


@dataclass(frozen=True)
class _Table:
    """What never changes about a model: its names, the head of its INSERT, its fields and their places."""

    name: str
    head: str
    fields: tuple[tuple[Any, str], ...]
    relations: tuple[Any, ...]
    key: str


@dataclass(frozen=True)
class Change:
    """Fields of one row to write together with new rows."""

    row: models.Model
    names: Sequence[str]


def insert(*rows: models.Model, change: Change | None = None) -> None:
    """Insert these new rows, in one statement and in this order; each gets its key. `change` is written with them.

    A row may point to an earlier one of the same call, which has no key before. Neighbours of one model are one part
    of the statement. Raises what the database refuses (IntegrityError), DatabaseError where the changed row is gone.
    """
    database = connections[DEFAULT_DB_ALIAS]
    parts = [list(part) for _model, part in groupby(rows, key=type)]
    places: dict[int, str] = {}
    statement: list[str] = []
    values: list[Any] = []
    if change is not None:
        text, values = _update(change, database)
        statement.append(f"changed AS ({text} RETURNING 1)")
    for number, part in enumerate(parts):
        table = _table(type(part[0]))
        lines = ", ".join(_line(row, table, places, values, database) for row in part)
        statement.append(f'r{number} AS ({table.head} VALUES {lines} RETURNING "{table.key}" AS key)')
        if len(part) == 1:
            places[id(part[0])] = f"(SELECT key FROM r{number})"  # noqa: S608  # nosec B608 # a name of this function
    # The keys of one INSERT count up, so in their order they are those of the rows in theirs.
    keys = [f"ARRAY(SELECT key FROM r{number} ORDER BY key)" for number in range(len(parts))]  # noqa: S608  # nosec B608
    keys.append("(SELECT count(*) FROM changed)" if change is not None else "1")
    with database.cursor() as cursor:
        cursor.execute(f"WITH {', '.join(statement)} SELECT {', '.join(keys)}", values)
        *found, changed = cursor.fetchone()
    if changed != 1:
        raise DatabaseError("A row that was to be changed is gone.")
    for part, part_keys in zip(parts, found, strict=True):
        for row, key in zip(part, part_keys, strict=True):
            row.pk = key
            row._state.adding, row._state.db = False, database.alias
    for row in rows:
        _point(row)


def update(change: Change) -> None:
    """Write a change alone. Raises DatabaseError where the row is gone, as `save` does."""
    database = connections[DEFAULT_DB_ALIAS]
    text, values = _update(change, database)
    with database.cursor() as cursor:
        cursor.execute(text, values)
        if cursor.rowcount != 1:
            raise DatabaseError("A row that was to be changed is gone.")


def _update(change: Change, database: Any) -> tuple[str, list[Any]]:
    table = _table(type(change.row))
    pairs = [(field, mark) for field, mark in table.fields if field.name in change.names]
    if len(pairs) != len(change.names):
        raise ValueError(f"{table.name} has not all of {', '.join(change.names)}.")
    columns = ", ".join(f'"{field.column}" = {mark}' for field, mark in pairs)
    values = [field.get_db_prep_save(field.pre_save(change.row, False), database) for field, _mark in pairs]
    text = f'UPDATE "{table.name}" SET {columns} WHERE "{table.key}" = %s'  # noqa: S608  # nosec B608 # our own names
    return text, [*values, change.row.pk]


def _line(row: models.Model, table: _Table, places: dict[int, str], values: list[Any], database: Any) -> str:
    """The places of one row's values. What points to an earlier row asks that part of the statement for its key."""
    marks: list[str] = []
    for field, mark in table.fields:
        value = field.pre_save(row, True)
        if value is None and field.is_relation and field.is_cached(row):
            related = field.get_cached_value(row)
            if id(related) in places:
                marks.append(places[id(related)])
                continue
            value = getattr(related, field.target_field.attname) if related is not None else None
        if value is None:  # in the text: a third of a new order's columns wait for what comes later
            marks.append("NULL")
            continue
        marks.append(mark)
        values.append(field.get_db_prep_save(value, database))
    return f"({', '.join(marks)})"


def _point(row: models.Model) -> None:
    """Take over the key of a related row that got it after it was set here."""
    for field in _table(type(row)).relations:
        if getattr(row, field.attname) is None and field.is_cached(row):
            related = field.get_cached_value(row)
            if related is not None:
                setattr(row, field.attname, getattr(related, field.target_field.attname))


@cache
def _table(model: type[models.Model]) -> _Table:
    options = model._meta
    fields = tuple((field, _mark(field)) for field in options.local_concrete_fields if not field.primary_key)
    names = ", ".join(f'"{field.column}"' for field, _place in fields)
    return _Table(
        name=options.db_table,
        head=f'INSERT INTO "{options.db_table}" ({names})',
        fields=fields,
        relations=tuple(field for field, _place in fields if field.is_relation),
        key=str(options.pk.column),
    )


def _mark(field: Any) -> str:
    """Some fields name their type beside the value: ranges and arrays."""
    return str(field.get_placeholder(None, None, connection)) if hasattr(field, "get_placeholder") else "%s"


class Columns(Generic[M]):
    """Columns of a model under an alias, for a statement that joins several, and rows made of their values.

    What is left out is read when somebody asks for it.
    """

    def __init__(self, model: type[M], alias: str, *, without: Collection[str] = ()) -> None:
        self._model = model
        self._fields: tuple[Any, ...] = tuple(
            field for field in model._meta.concrete_fields if field.name not in without
        )
        self._names = [field.attname for field in self._fields]
        self._readers = [
            (place, field.from_db_value)
            for place, field in enumerate(self._fields)
            if hasattr(field, "from_db_value")
        ]
        self.sql = ", ".join(f'{alias}."{field.column}"' for field in self._fields)

    def take(self, values: Sequence[Any]) -> tuple[M, Sequence[Any]]:
        """The row that these values begin with, and the values after it."""
        own = list(values[: len(self._fields)])
        for place, read in self._readers:
            own[place] = read(own[place], None, connection)
        return self._model.from_db(connection.alias, self._names, own), values[len(self._fields) :]
