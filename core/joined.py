"""Rows of other tables as one column of a query: a page about one thing asks once, not once for each list on it."""

import json
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any, TypeVar

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import BinaryField, F, Field, ForeignKey, Func, JSONField, Model, QuerySet
from django.db.models.functions import JSONObject

Row = TypeVar("Row", bound=Model)
_ROW = "row"


class _Exact(json.JSONDecoder):
    """Decimals stay decimals: a float would lose money."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options | {"parse_float": Decimal})


class _WholeRow(Func):
    """A row with all its columns, by the path to any column of it."""

    def __init__(self, path: str) -> None:
        super().__init__(F(path), output_field=JSONField())

    def as_sql(self, compiler: Any, connection: Any, **_context: Any) -> tuple[str, list[Any]]:  # type: ignore[override]
        (column,) = self.get_source_expressions()
        return f"to_jsonb({compiler.quote_name_unless_alias(column.alias)})", []


class _ExactObject(JSONObject):
    output_field = JSONField(decoder=_Exact)


def rows_of(queryset: QuerySet[Any, Any], *, also: Sequence[str] = ()) -> ArraySubquery:
    """The rows of a query that refers to the outer one, for `annotate`; `read_rows` makes instances of them.

    `also`: foreign keys whose row comes along, and names of annotations. Binary columns stay away.
    """
    model = queryset.model
    keys = _foreign_keys(model)
    columns: dict[str, Any] = {
        name: _WholeRow(f"{name}__{_own_column(keys[name])}") if name in keys else F(name) for name in also
    }
    if any(isinstance(field, BinaryField) for field in model._meta.concrete_fields):
        columns[_ROW] = JSONObject(**{field.attname: F(field.attname) for field in _plain_fields(model)})
    else:
        columns[_ROW] = _WholeRow("pk")
    return ArraySubquery(queryset.values(joined_row=_ExactObject(**columns)))


def read_rows(model: type[Row], found: Iterable[dict[str, Any]] | None) -> list[Row]:
    """Instances of `model` from a column that `rows_of` made."""
    return [_read(model, columns) for columns in found or ()]


def _read(model: type[Row], columns: dict[str, Any]) -> Row:
    row = _instance(model, columns[_ROW])
    keys = _foreign_keys(model)
    for name, value in columns.items():
        if name in keys:
            setattr(row, name, None if value is None else _instance(_model_of(keys[name]), value))
        elif name != _ROW:
            setattr(row, name, value)
    return row


def _instance(model: type[Row], values: dict[str, Any]) -> Row:
    fields = _plain_fields(model)
    row = model(**{field.attname: _to_python(field, values[field.attname]) for field in fields})
    row._state.adding, row._state.db = False, "default"
    return row


def _to_python(field: "Field[Any, Any]", value: Any) -> Any:
    return None if value is None else field.to_python(value)


def _plain_fields(model: type[Model]) -> "list[Field[Any, Any]]":
    return [field for field in model._meta.concrete_fields if not isinstance(field, BinaryField)]


def _foreign_keys(model: type[Model]) -> "dict[str, ForeignKey[Any, Any]]":
    return {field.name: field for field in model._meta.concrete_fields if isinstance(field, ForeignKey)}


def _own_column(key: "ForeignKey[Any, Any]") -> str:
    """One that only the other table has: the key itself is read from this side, without a join."""
    return next(
        field.name
        for field in _plain_fields(_model_of(key))
        if not field.is_relation and not field.primary_key
    )


def _model_of(field: "ForeignKey[Any, Any]") -> type[Model]:
    model = field.related_model
    if isinstance(model, str):
        raise TypeError(f"{field} is not bound to its model.")
    return model
