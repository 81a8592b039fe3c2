"""Lists in pages by an opaque cursor: signed, and bound to the list, its filter and its partner."""

import hashlib
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from django.core import signing
from django.utils.translation import gettext_lazy as _
from rest_framework.request import Request

from core.errors import Invalid
from partners.api import query
from partners.models import ApiKey

T = TypeVar("T")
DEFAULT_LIMIT = 50
MAX_LIMIT = 100
PARAMETERS = ("limit", "cursor")
_SALT = "partners.cursor"


def page(request: Request, rows: Sequence[T], *, key: Callable[[T], str]) -> tuple[list[T], str | None]:
    """The rows of the asked page and the cursor of the next one.

    Raises Invalid(invalid_number) for the limit and Invalid(invalid_cursor) for a cursor that is broken, of
    another list or filter, of another partner, or whose place is gone.
    """
    limit = _limit(request)
    after = read_cursor(request)
    start = 0
    if after is not None:
        place = next((number for number, row in enumerate(rows) if key(row) == after), None)
        if place is None:
            raise _broken()
        start = place + 1
    found = list(rows[start : start + limit])
    has_more = start + limit < len(rows)
    return found, make_cursor(request, key(found[-1])) if has_more else None


def keyset(
    request: Request, read: Callable[[int | None, int], Sequence[T]], *, key: Callable[[T], int]
) -> tuple[list[T], str | None]:
    """The same for a list that the database cuts: `read(last, limit)` gives so many rows behind the key `last`.

    One row more than the page is read, to know whether there is a next one. The order is total, because it is that of
    a unique key: rows that come or change meanwhile shift nothing. A row that is gone leaves its place valid.
    """
    limit, place = _limit(request), read_cursor(request)
    if place is not None and not (place.isascii() and place.isdigit()):
        raise _broken()
    rows = list(read(None if place is None else int(place), limit + 1))
    has_more = len(rows) > limit
    found = rows[:limit]
    return found, make_cursor(request, str(key(found[-1]))) if has_more else None


def make_cursor(request: Request, last: str) -> str:
    """The cursor of the page that begins after the row `last`."""
    return signing.dumps([_binding(request), last], salt=_SALT)


def read_cursor(request: Request) -> str | None:
    """The row after which the page begins, or None for the first page. Raises Invalid(invalid_cursor)."""
    value = request.query_params.get("cursor")
    if value is None:
        return None
    try:
        content: Any = signing.loads(value, salt=_SALT)
    # Truncated base64 and a changed compressed part fail in their own ways, before or behind the signature.
    except (signing.BadSignature, ValueError) as error:
        raise _broken() from error
    if not isinstance(content, list) or len(content) != 2 or content[0] != _binding(request):
        raise _broken()
    return str(content[1])


def _limit(request: Request) -> int:
    return query.integer(request, "limit", minimum=1, maximum=MAX_LIMIT) or DEFAULT_LIMIT


def _binding(request: Request) -> str:
    owner = request.auth.partner_id if isinstance(request.auth, ApiKey) else None
    filters = sorted(
        (name, request.query_params[name]) for name in request.query_params if name not in PARAMETERS
    )
    place = repr((request.path.rstrip("/"), owner, filters))
    return hashlib.sha256(place.encode()).hexdigest()[:16]


def _broken() -> Invalid:
    return Invalid(
        code="invalid_cursor",
        message=_("This cursor does not belong to this list and filter. Start again without it."),
        field="cursor",
    )
