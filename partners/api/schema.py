"""The OpenAPI document: what the calls share, and each address once, without the trailing slash."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse, inline_serializer
from rest_framework import serializers

from partners.api.pagination import DEFAULT_LIMIT, MAX_LIMIT
from partners.api.problems import MEDIA_TYPE
from partners.api.query import MAX_VALUE
from partners.api.serializers import ProblemSerializer

Endpoint = tuple[str, str, str, Callable[..., Any]]


def whole(minimum: int, maximum: int, **more: Any) -> dict[str, Any]:
    """The schema of a whole number in a query."""
    return {"type": "integer", "minimum": minimum, "maximum": maximum, **more}


def text(**more: Any) -> dict[str, Any]:
    """The schema of a text in query or header."""
    return {"type": "string", "minLength": 1, "maxLength": MAX_VALUE, **more}


LIMIT = OpenApiParameter(
    "limit", whole(1, MAX_LIMIT, default=DEFAULT_LIMIT), description="How many rows a page may have."
)
CURSOR = OpenApiParameter("cursor", text(), description="`next_cursor` of the page before. Opaque.")

_MEANINGS = {
    400: "The schema refuses: type, range, unknown or repeated name.",
    401: "The API key is missing, wrong, expired, revoked or of the other mode.",
    403: "The API key lacks the scope.",
    404: "There is no such thing, or it is not yours.",
    406: "Only application/json can be had.",
    409: "The present state does not allow it; see `code`.",
    410: "It is over.",
    413: "The body is larger than 64 KB.",
    415: "The body is not application/json.",
    422: "The schema accepts it, but it cannot be sold.",
    429: "Too many requests, or too much is held; see Retry-After.",
    503: "Something that this stands on does not answer at the moment. Nothing was done.",
}


class CallSchema(AutoSchema):
    """Says of each call whether it may be made without a key."""

    def get_auth(self) -> list[dict[str, Any]]:
        view: Any = self.view
        needed = view.scope_of(self.method)
        return [{"apiKey": []}] if needed else [{"apiKey": []}, {}]


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


def writing_problems(*statuses: int) -> dict[Any, Any]:
    """Error answers of a call with a body that needs a key. 422: at least the idempotency key of another request."""
    return problems(403, 404, 409, 413, 415, 422, *statuses)


def example(value: Any, name: str = "Answer", *, status: int = 200) -> OpenApiExample:
    """An example of a successful answer."""
    return OpenApiExample(name, value=value, response_only=True, status_codes=[str(status)])


def body_example(value: Any, name: str = "Request") -> OpenApiExample:
    """An example of a body."""
    return OpenApiExample(name, value=value, request_only=True)


def listed(name: str, row: type[serializers.Serializer[Any]]) -> serializers.Serializer[Any]:
    """The shape of a list."""
    return inline_serializer(
        name, {"data": row(many=True), "next_cursor": serializers.CharField(allow_null=True)}
    )


@cache
def document() -> dict[str, Any]:
    """The document; the same for everybody, so it is made once per process."""
    schema: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return schema
