"""Query parameters: known names only, each once, numbers within bounds, text that can be stored."""

from collections.abc import Iterable

from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy
from rest_framework.request import Request

from core.errors import Invalid
from core.text import check_storable

# Longer than any cursor or code; a hostile value costs no look-up.
MAX_VALUE = 2000
_MAX_DIGITS = 9


def check_names(request: Request, known: Iterable[str]) -> None:
    """Raises Invalid(unknown_parameter, repeated_parameter, invalid_text, too_long) naming the parameter."""
    allowed = frozenset(known)
    for name, values in request.query_params.lists():
        if name not in allowed:
            shown = name[:60] if name.isprintable() else ""
            raise Invalid(
                code="unknown_parameter",
                message=_("This call does not have this query parameter."),
                field=shown or "query",
            )
        if len(values) > 1:
            raise Invalid(code="repeated_parameter", message=_("Give this parameter once."), field=name)
        check_storable(values[0], field=name)
        if len(values[0]) > MAX_VALUE:
            raise Invalid(
                code="too_long",
                message=ngettext_lazy(
                    "This text is longer than %(max_length)s character.",
                    "This text is longer than %(max_length)s characters.",
                    "max_length",
                ),
                field=name,
                params={"max_length": MAX_VALUE},
            )


def text(request: Request, name: str) -> str | None:
    """The value, or None where the parameter is not there. An empty one is an error of the caller."""
    value = request.query_params.get(name)
    if value == "":
        raise Invalid(code="required", message=_("This parameter has no value."), field=name)
    return value


def integer(request: Request, name: str, *, minimum: int, maximum: int) -> int | None:
    """A whole number within its bounds, or None where it is not there. Raises Invalid(invalid_number)."""
    value = text(request, name)
    if value is None:
        return None
    is_number = value.isascii() and value.isdigit() and len(value) <= _MAX_DIGITS
    if not is_number or not minimum <= int(value) <= maximum:
        raise Invalid(
            code="invalid_number",
            message=_("This must be a whole number from %(minimum)s to %(maximum)s."),
            field=name,
            params={"minimum": minimum, "maximum": maximum},
        )
    return int(value)
