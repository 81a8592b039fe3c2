"""The OpenAPI document: what the calls share, and each address once, without the trailing slash."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse

from partners.api.problems import MEDIA_TYPE
from partners.api.serializers import ProblemSerializer

Endpoint = tuple[str, str, str, Callable[..., Any]]

LIMIT = OpenApiParameter("limit", int, description="Rows in a page, 1 to 100; 50 where it is not given.")
CURSOR = OpenApiParameter("cursor", str, description="`next_cursor` of the page before. Opaque.")

_MEANINGS = {
    400: "The schema refuses: type, range, unknown or repeated name.",
    401: "The API key is missing, wrong, expired, revoked or of the other mode.",
    404: "There is no such thing, or it is not yours.",
    406: "Only application/json can be had.",
    422: "The schema accepts it, but it cannot be sold.",
    429: "Too many requests; see Retry-After.",
}


def one_address_each(endpoints: Sequence[Endpoint], **_: Any) -> list[Endpoint]:
    """A preprocessing hook: both forms of an address are served, the one without slash is described."""
    paths = {path for path, *_ in endpoints}
    return [end for end in endpoints if not (end[0].endswith("/") and end[0].rstrip("/") in paths)]


def problems(*statuses: int) -> dict[Any, Any]:
    """Error answers of a call. Every call can meet 400, 401, 406 and 429."""
    return {
        (status, MEDIA_TYPE): OpenApiResponse(ProblemSerializer, description=_MEANINGS[status])
        for status in sorted({400, 401, 406, 429, *statuses})
    }


def example(value: Any, name: str = "Answer") -> OpenApiExample:
    """An example of a successful answer."""
    return OpenApiExample(name, value=value, response_only=True, status_codes=["200"])


@cache
def document() -> dict[str, Any]:
    """The document; the same for everybody, so it is made once per process."""
    schema: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return schema
