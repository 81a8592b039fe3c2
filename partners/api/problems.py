"""The one form of every error: application/problem+json (RFC 9457) with a stable code."""

import uuid
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

MEDIA_TYPE = "application/problem+json"

# What is said where an error carries no sentence of its own.
DETAILS = {
    "invalid": _("The request is not what this call takes."),
    "invalid_json": _("The body is not valid JSON."),
    "unauthorized": _("This call needs a valid API key in the header Authorization: Bearer."),
    "forbidden": _("This is not allowed."),
    "not_found": _("There is no such thing."),
    "method_not_allowed": _("This address does not take this method."),
    "not_acceptable": _("The API answers with application/json only."),
    "conflict": _("The present state does not allow this."),
    "gone": _("This is over."),
    "too_large": _("The body is too large."),
    "unsupported_media_type": _("Send the body as application/json."),
    "unprocessable": _("This cannot be done."),
    "rate_limited": _("Too many requests. Wait for the time that Retry-After says."),
    "internal_error": _("Something went wrong on our side. Nothing was lost; please try again."),
    "unavailable": _("This is not available at the moment. Please try again."),
}

CODES_BY_STATUS = {
    400: "invalid",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    406: "not_acceptable",
    409: "conflict",
    410: "gone",
    413: "too_large",
    415: "unsupported_media_type",
    422: "unprocessable",
    429: "rate_limited",
    500: "internal_error",
    503: "unavailable",
}


@dataclass(frozen=True)
class FieldError:
    """One field at fault; `field` is a dotted path into query or body."""

    field: str
    code: str
    detail: str


def code_for_status(status: int) -> str:
    """The general code of a status."""
    return CODES_BY_STATUS.get(status, "invalid" if status < 500 else "internal_error")


def request_id_of(request: HttpRequest) -> str:
    """The id that the middleware gave the request, or a new one where none did."""
    return str(getattr(request, "request_id", "")) or uuid.uuid4().hex


def problem(
    *, request: HttpRequest, status: int, code: str, detail: str = "", errors: Sequence[FieldError] = ()
) -> dict[str, Any]:
    """The body. `type` is the address of the page that explains the code."""
    return {
        "type": f"{settings.SITE_URL}/api/docs/errors/#{code}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "code": code,
        "detail": detail or str(DETAILS.get(code) or DETAILS[code_for_status(status)]),
        "errors": [asdict(error) for error in errors],
        "request_id": request_id_of(request),
    }
