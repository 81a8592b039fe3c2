"""Bodies: JSON objects of bounded size, depth and numbers, with text that the storage can hold."""

import json
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import IO, Any, NoReturn

from django.utils.translation import gettext_lazy as _
from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser

from core.errors import Invalid, Refusal
from core.text import is_storable

MAX_BYTES = 64 * 1024
MAX_DEPTH = 20
# numeric(78,0) is the longest number that anything here means.
MAX_DIGITS = 78


class TooLarge(Refusal):
    """The body is larger than any call needs."""

    status = 413


class StrictJSONParser(BaseParser):
    """Raises ParseError(invalid_json), Invalid naming the field, TooLarge. Floats become Decimal."""

    media_type = "application/json"

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        # What is too large by its own word is not read at all.
        raw = stream.read(MAX_BYTES + 1) if _declared(parser_context) <= MAX_BYTES else None
        if raw is None or len(raw) > MAX_BYTES:
            raise TooLarge(code="too_large", message=_("The body is too large."))
        data = _load(raw)
        if not isinstance(data, dict):
            raise Invalid(code="not_an_object", message=_("The body must be a JSON object."))
        _check_text(data, "")
        return data


def _declared(context: Mapping[str, Any] | None) -> int:
    """The length that the header gives; 0 where it is none."""
    length = str(context["request"].META.get("CONTENT_LENGTH") or "") if context else ""
    return int(length[:20]) if length.isascii() and length.isdigit() else 0


def _load(raw: bytes) -> Any:
    try:
        text = raw.decode("utf-8")
        if _depth(text) > MAX_DEPTH:
            raise Invalid(code="too_deep", message=_("The body is nested too deeply."))
        return json.loads(
            text,
            object_pairs_hook=_object,
            parse_constant=_refuse_constant,
            parse_int=_integer,
            parse_float=_decimal,
        )
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ParseError(str(_("The body is not valid JSON.")), code="invalid_json") from error


def _depth(text: str) -> int:
    """How deeply brackets are nested outside of strings; counted before the parser recurses into them.

    One pass over the text: a pattern for strings would take quadratic time on an unclosed one.
    """
    deepest = depth = 0
    in_string = escaped = False
    for sign in text:
        if in_string:
            in_string = escaped or sign != '"'
            escaped = sign == "\\" and not escaped
        elif sign == '"':
            in_string = True
        elif sign in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif sign in "]}":
            depth -= 1
    return deepest


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        # Two readers could otherwise take two different values from one body.
        raise Invalid(code="duplicate_name", message=_("A name stands twice in one object."))
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise Invalid(code="invalid_number", message=_("NaN and Infinity are no numbers of JSON."))


def _integer(text: str) -> int:
    _bound(text)
    return int(text)


def _decimal(text: str) -> Decimal:
    _bound(text)
    try:
        number = Decimal(text)
    except InvalidOperation as error:  # an exponent beyond what the library holds
        raise _number_refused() from error
    if number and abs(number.adjusted()) > MAX_DIGITS:
        raise _number_refused()
    return number


def _bound(text: str) -> None:
    if len(text) > MAX_DIGITS:
        raise _number_refused()


def _number_refused() -> Invalid:
    return Invalid(code="invalid_number", message=_("A number has too many digits."))


def _check_text(value: Any, path: str) -> None:
    if isinstance(value, str):
        if not is_storable(value):
            raise Invalid(
                code="invalid_text",
                message=_("This text holds a character that cannot be stored."),
                field=path or "body",
            )
    elif isinstance(value, dict):
        for key, inner in value.items():
            _check_text(key, path)
            _check_text(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            _check_text(inner, f"{path}.{number}" if path else str(number))
