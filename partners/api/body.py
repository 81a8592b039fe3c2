"""Bodies of writing calls: one serializer describes each for the document, and the same one is what it is held to.

The framework's own validation reads "7" as a number and 1 as a text; here a value has the type that the document gives.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar

from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from drf_spectacular.extensions import OpenApiSerializerExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import Direction
from rest_framework import serializers

from core.errors import Invalid
from partners.api.problems import DETAILS, FieldError

MAX_SHOWN_NAME = 60
# As many as a person reads; a body of 64 KB could name thousands.
MAX_ERRORS = 20
_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,6})?([Zz]|[+-]\d\d:\d\d)?")

Field = serializers.Field[Any, Any, Any, Any]
Faults = list[FieldError]
B = TypeVar("B", bound="Body")


class Body(serializers.Serializer[Any]):
    """An object with these fields and no others."""


class Metadata(serializers.DictField):
    """The partner's own names and texts, kept beside the order and shown only to him."""

    MAX_NAMES, MAX_NAME, MAX_TEXT = 20, 40, 500


class InvalidBody(Invalid):
    """The schema refuses the body; `errors` names every field at fault. Nothing was looked up yet."""

    def __init__(self, errors: Faults) -> None:
        only = errors[0] if len(errors) == 1 else None
        super().__init__(
            code=only.code if only else "invalid",
            message=only.detail if only else DETAILS["invalid"],
        )
        self.errors = tuple(errors[:MAX_ERRORS])


def read(body: Body, data: Any) -> dict[str, Any]:
    """The values by field name, with defaults for what is left out. `data` is an object, as the parser sees to.

    Raises InvalidBody."""
    faults: Faults = []
    found = _object(body, data, "", faults)
    if faults:
        raise InvalidBody(faults)
    return found


def _object(body: Body, data: Mapping[str, Any], path: str, faults: Faults) -> dict[str, Any]:
    found: dict[str, Any] = {}
    fields = body.fields
    for name in data:
        if name not in fields:
            shown = "".join(sign for sign in name if sign.isprintable())[:MAX_SHOWN_NAME]
            faults.append(FieldError(_join(path, shown), "unknown_field", _("There is no such field.")))
    for name, field in fields.items():
        here = _join(path, name)
        if name not in data:
            if field.required:
                faults.append(_required(here))
            elif field.default is not serializers.empty:
                found[name] = field.default() if callable(field.default) else field.default
        elif data[name] is None:
            if field.allow_null:
                found[name] = None
            else:
                faults.append(_required(here))
        else:
            found[name] = _value(field, data[name], here, faults)
    return found


def _value(field: Field, value: Any, path: str, faults: Faults) -> Any:
    for kind, check in _CHECKS:
        if isinstance(field, kind):
            return check(field, value, path, faults)
    raise TypeError(f"{path}: no check for {type(field).__name__}.")


def _nested(field: Any, value: Any, path: str, faults: Faults) -> Any:
    if isinstance(value, dict):
        return _object(field, value, path, faults)
    return _refuse(faults, path, "not_object", _("Enter an object with named fields."))


def _list(field: Any, value: Any, path: str, faults: Faults) -> Any:
    if not isinstance(value, list):
        return _refuse(faults, path, "not_a_list", _("This must be a list."))
    if field.max_length is not None and len(value) > field.max_length:
        return _too_many(faults, path, field.max_length)
    found = []
    for number, item in enumerate(value):
        here = f"{path}.{number}"
        if item is None:
            faults.append(_required(here))
        else:
            found.append(_value(field.child, item, here, faults))
    return found


def _metadata(field: Metadata, value: Any, path: str, faults: Faults) -> Any:
    if not isinstance(value, dict):
        return _refuse(faults, path, "not_object", _("Enter an object with named fields."))
    if len(value) > field.MAX_NAMES:
        return _too_many(faults, path, field.MAX_NAMES)
    for name, text in value.items():
        shown = "".join(sign for sign in name if sign.isprintable())[: field.MAX_NAME]
        here = _join(path, shown)
        if not name or len(name) > field.MAX_NAME or not name.isprintable():
            said = _("A name has 1 to %(maximum)s printable characters.") % {"maximum": field.MAX_NAME}
            _refuse(faults, here, "invalid_name", said)
        elif not isinstance(text, str):
            _refuse(faults, here, "not_a_text", _("This must be a text."))
        elif len(text) > field.MAX_TEXT:
            _too_long(faults, here, field.MAX_TEXT)
    return value


def _choice(field: Any, value: Any, path: str, faults: Faults) -> Any:
    if isinstance(value, str) and value in field.choices:
        return value
    allowed = ", ".join(str(choice) for choice in field.choices)
    return _refuse(faults, path, "unknown_choice", _("Choose one of: %(allowed)s.") % {"allowed": allowed})


def _whole(field: Any, value: Any, path: str, faults: Faults) -> Any:
    low, high = field.min_value, field.max_value
    if type(value) is int and low <= value <= high:
        return value
    said = _("This must be a whole number from %(minimum)s to %(maximum)s.")
    return _refuse(faults, path, "invalid_number", said % {"minimum": low, "maximum": high})


def _time(_field: Any, value: Any, path: str, faults: Faults) -> Any:
    """A time without a zone goes on: the service names what is missing."""
    moment = None
    if isinstance(value, str) and _TIME.fullmatch(value):
        try:
            moment = datetime.fromisoformat(value.upper())
            # Year 1 and 9999 have offsets at which there is no such moment in UTC.
            moment = moment.astimezone(UTC) if moment.tzinfo is not None else moment
        except (ValueError, OverflowError):
            moment = None
    if moment is None:
        said = _("This must be a time with its zone, such as 2026-12-31T09:00:00Z.")
        return _refuse(faults, path, "invalid_time", said)
    return moment


def _text(field: Any, value: Any, path: str, faults: Faults) -> Any:
    if not isinstance(value, str):
        return _refuse(faults, path, "not_a_text", _("This must be a text."))
    if field.max_length is not None and len(value) > field.max_length:
        return _too_long(faults, path, field.max_length)
    if not value and not field.allow_blank:
        faults.append(_required(path))
    return value


# The first kind that fits decides: special ones stand before the ones that they are made of.
_CHECKS: tuple[tuple[Any, Callable[[Any, Any, str, Faults], Any]], ...] = (
    (Body, _nested),
    (Metadata, _metadata),
    ((serializers.ListSerializer, serializers.ListField), _list),
    (serializers.ChoiceField, _choice),
    (serializers.IntegerField, _whole),
    (serializers.DateTimeField, _time),
    (serializers.CharField, _text),
)


def _required(path: str) -> FieldError:
    return FieldError(path, "required", _("This field is required."))


def _too_long(faults: Faults, path: str, max_length: int) -> None:
    said = ngettext(
        "This text is longer than %(max_length)s character.",
        "This text is longer than %(max_length)s characters.",
        max_length,
    )
    _refuse(faults, path, "too_long", said % {"max_length": max_length})


def _too_many(faults: Faults, path: str, maximum: int) -> None:
    said = _("There can be up to %(maximum)s entries.") % {"maximum": maximum}
    _refuse(faults, path, "too_many_entries", said)


def _refuse(faults: Faults, path: str, code: str, detail: str) -> None:
    faults.append(FieldError(path, code, detail))


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def all_fields(body: Body, path: str = "") -> Iterator[tuple[str, Field]]:
    """Every field with its path; of a list the path of its first entry. For tests that try each of them."""
    for name, field in body.fields.items():
        here = _join(path, name)
        yield here, field
        if isinstance(field, Body):
            yield from all_fields(field, here)
        elif isinstance(field, serializers.ListSerializer) and isinstance(field.child, Body):
            yield from all_fields(field.child, f"{here}.0")


class _Closed(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]
    """A misspelt field is refused, and the document says so."""

    target_class = Body
    match_subclasses = True

    def map_serializer(self, auto_schema: AutoSchema, direction: Direction) -> dict[str, Any]:
        schema: dict[str, Any] = auto_schema._map_serializer(  # type: ignore[no-untyped-call]
            self.target, direction, bypass_extensions=True
        )
        schema["additionalProperties"] = False
        return schema
