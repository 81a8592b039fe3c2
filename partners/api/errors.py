"""Whatever is raised below a call becomes a problem document; never a trace, never an HTML page."""

from collections.abc import Iterator, Mapping
from typing import Any

import structlog
from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.db import OperationalError
from django.http import Http404, HttpRequest
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import set_rollback

from core.errors import Refusal
from orders.services.extend import ExtensionOpen
from orders.services.place import QuoteAccepted
from partners.api.body import InvalidBody
from partners.api.problems import MEDIA_TYPE, FieldError, code_for_status, problem

log = structlog.get_logger(__name__)


def handle(exc: Exception, context: Mapping[str, Any]) -> Response:
    """REST framework's exception handler. Every call's errors pass here."""
    request: HttpRequest = context["request"]._request
    set_rollback()
    if isinstance(exc, Refusal):
        return _refusal(request, exc)
    if isinstance(exc, Http404):
        exc = exceptions.NotFound()
    elif isinstance(exc, PermissionDenied):
        exc = exceptions.PermissionDenied()
    if isinstance(exc, exceptions.APIException):
        return _api_exception(request, exc)
    if isinstance(exc, RequestDataTooBig):
        return answer(request, status=413)
    if isinstance(exc, SuspiciousOperation | UnicodeError):
        return answer(request, status=400)
    # The person who calls learns that it is our fault and the id to name; the rest is in our log.
    log.error("api_error", path=request.path, error=type(exc).__name__, exc_info=exc)
    # As the pages say: a database that does not answer is no fault of the program, and programs try again after it.
    return answer(request, status=503 if isinstance(exc, OperationalError) else 500)


def answer(
    request: HttpRequest,
    *,
    status: int,
    code: str = "",
    detail: str = "",
    errors: tuple[FieldError, ...] = (),
    headers: dict[str, str] | None = None,
) -> Response:
    """A response of the problem media type."""
    body = problem(
        request=request, status=status, code=code or code_for_status(status), detail=detail, errors=errors
    )
    return Response(body, status=status, headers=headers, content_type=MEDIA_TYPE)


def _refusal(request: HttpRequest, refusal: Refusal) -> Response:
    text = refusal.text
    errors: tuple[FieldError, ...] = ()
    if isinstance(refusal, InvalidBody):
        errors = refusal.errors
    elif refusal.field:
        errors = (FieldError(refusal.field, refusal.code, text),)
    seconds = getattr(refusal, "retry_after_seconds", None)
    headers = {"Retry-After": str(seconds)} if seconds is not None else None
    response = answer(
        request, status=refusal.status, code=refusal.code, detail=text, errors=errors, headers=headers
    )
    if isinstance(refusal, QuoteAccepted | ExtensionOpen):
        response.data["order"] = refusal.order.public_id
    return response


def _api_exception(request: HttpRequest, exc: exceptions.APIException) -> Response:
    headers: dict[str, str] = {}
    auth_header = getattr(exc, "auth_header", None)
    if auth_header:
        headers["WWW-Authenticate"] = str(auth_header)
    wait = getattr(exc, "wait", None)
    if wait is not None:
        headers["Retry-After"] = str(max(1, int(wait)))
    if isinstance(exc, exceptions.ValidationError):
        errors = tuple(_field_errors(exc.detail, ""))
        code = errors[0].code if len(errors) == 1 else "invalid"
        detail = errors[0].detail if len(errors) == 1 else ""
        return answer(
            request, status=exc.status_code, code=code, detail=detail, errors=errors, headers=headers
        )
    code = _code_of(exc)
    # The framework's own sentences speak of its inner workings; ours say what to do.
    detail = str(exc.detail) if code in _OWN_SENTENCES else ""
    return answer(request, status=exc.status_code, code=code, detail=detail, headers=headers)


_OWN_SENTENCES = frozenset(
    {"key_expired", "key_revoked", "key_of_other_mode", "scope_missing", "invalid_json"}
)


def _code_of(exc: exceptions.APIException) -> str:
    own = getattr(exc.detail, "code", "")
    return str(own) if own in _OWN_SENTENCES else code_for_status(exc.status_code)


def _field_errors(detail: Any, path: str) -> Iterator[FieldError]:
    """Flatten the framework's nested errors into dotted paths."""
    if isinstance(detail, Mapping):
        for key, value in detail.items():
            inner = path if key == "non_field_errors" else f"{path}.{key}" if path else str(key)
            yield from _field_errors(value, inner)
    elif isinstance(detail, list):
        for number, value in enumerate(detail):
            is_row = isinstance(value, Mapping)
            yield from _field_errors(value, f"{path}.{number}" if is_row and path else path)
    else:
        yield FieldError(path, str(getattr(detail, "code", "invalid")), str(detail))
