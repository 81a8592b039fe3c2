"""What every request passes first: an id of our own, a bound on its size, no text that cannot be stored."""

import time
import uuid
from collections.abc import Callable
from http import HTTPStatus

import structlog
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from shop.views import errors

log = structlog.get_logger(__name__)

GetResponse = Callable[[HttpRequest], HttpResponse]

# The largest thing a buyer sends is ten SSH keys (40,000 characters); everything else is far below.
MAX_BODY_BYTES = 256 * 1024


class RequestIdMiddleware:
    """An id made by us (never taken from the request), in the answer and in each line of the log."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request_id = uuid.uuid4().hex
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(request_id=request_id)
        request.request_id = request_id  # type: ignore[attr-defined]
        started = time.monotonic()
        try:
            response = self.get_response(request)
            response["X-Request-ID"] = request_id
            _log_request(request, response, seconds=time.monotonic() - started)
            return response
        finally:
            structlog.contextvars.clear_contextvars()


class BoundsMiddleware:
    """Refuses what no view should see. Stands within the middleware of security headers: a refusal has them too."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return _with_page(request, self._refused(request) or self.get_response(request))

    def _refused(self, request: HttpRequest) -> HttpResponse | None:
        # The card processor is a machine: its address has the same bound, and answers with one line.
        if _length(request) > MAX_BODY_BYTES and request.path_info != reverse("stripe_webhook"):
            return errors.error_page(request, 413)
        if request.headers.get("Transfer-Encoding") and not request.path_info.startswith("/api/"):
            # A body without a length is never read here; it would look like an empty one. The API says so itself.
            return errors.error_page(request, 411)
        if "\x00" in request.path_info:
            return errors.error_page(request, 404)
        if _holds_nul(request):
            return errors.error_page(request, 400)
        return None


def _with_page(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """Django refuses a method with an empty answer, and a person would look at a white page."""
    if response.status_code != HTTPStatus.METHOD_NOT_ALLOWED or response.streaming or response.content:
        return response
    page = errors.error_page(request, response.status_code)
    page["Allow"] = response["Allow"]
    return page


def _log_request(request: HttpRequest, response: HttpResponse, *, seconds: float) -> None:
    """One line each. The pattern of the address, never the address: an order page's holds its secret."""
    match = request.resolver_match
    log.info(
        "request",
        method=request.method,
        route=match.route if match is not None else "",
        status=response.status_code,
        milliseconds=round(seconds * 1000),
    )


def _length(request: HttpRequest) -> int:
    text = str(request.META.get("CONTENT_LENGTH") or "0")
    return int(text) if text.isdecimal() and len(text) < 20 else 0


def _holds_nul(request: HttpRequest) -> bool:
    """PostgreSQL cannot hold NUL, and no cookie or query of a page has one. The API names the parameter itself."""
    query = request.META.get("QUERY_STRING", "")
    in_query = ("%00" in query or "\x00" in query) and not request.path_info.startswith("/api/")
    return in_query or any("\x00" in value for value in request.COOKIES.values())
