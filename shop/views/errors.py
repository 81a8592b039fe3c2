"""Error pages: one look, one id, and for "none" and "not yours" the same answer."""

import sys
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from django.conf import settings
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils import translation

from core import clock
from core.errors import Refusal, TooMany
from shop import context as site_context

View = TypeVar("View", bound=Callable[..., HttpResponse])

# Those that have a page of their own: NUMBER.html.
STATUSES = frozenset({400, 403, 404, 405, 413, 429, 500, 503})
RETRY_SECONDS = 60
# Who stands before a closed page there is no buyer.
STAFF_PREFIX = "/admin/"


def error_page(request: HttpRequest, status: int, *, template: str = "", **context: Any) -> HttpResponse:
    """The page of a status, in the language of the address, of the choice, or of the browser.

    Rendered without context processors, a session or the database: it must work whatever is broken.
    """
    known = status if status in STATUSES else 400 if status < 500 else 500
    language = translation.get_language_from_request(request, check_path=True)
    with translation.override(language):
        html = render_to_string(template or f"{known}.html", _context(request) | context)
    response = HttpResponse(html, status=status)
    response["Cache-Control"] = "no-store"
    response["Content-Language"] = language
    if status == 503:
        response["Retry-After"] = str(RETRY_SECONDS)
    return response


def _context(request: HttpRequest) -> dict[str, Any]:
    return {
        "request_id": getattr(request, "request_id", ""),
        "at": clock.system_now(),
        "demo": settings.DEMO,
        "is_for_staff": request.path_info.startswith(STAFF_PREFIX),
        "theme": site_context.chosen_theme(request),
        "languages": site_context.language_links(request),
        # What was asked for can be asked for again; what was sent cannot.
        "again": request.get_full_path() if request.method in ("GET", "HEAD") else "",
    }


def refusal_page(request: HttpRequest, refusal: Refusal) -> HttpResponse:
    """A refusal that has no form to stand in: its own sentence, or the page of its status."""
    if refusal.status == 404:
        return error_page(request, 404)
    if isinstance(refusal, TooMany):
        response = error_page(
            request, 429, retry_after_seconds=refusal.retry_after_seconds, sentence=refusal.text
        )
        if refusal.retry_after_seconds is not None:
            response["Retry-After"] = str(refusal.retry_after_seconds)
        return response
    return error_page(request, refusal.status, template="refusal.html", sentence=refusal.text)


def shows_refusals(view: View) -> View:
    """For views: whatever refusal they let through becomes a page, never a 500."""

    @wraps(view)
    def shown(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return view(request, *args, **kwargs)
        except Refusal as refusal:
            return refusal_page(request, refusal)

    return cast(View, shown)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    too_large = type(exception).__name__ in ("RequestDataTooBig", "TooManyFieldsSent", "TooManyFilesSent")
    return error_page(request, 413 if too_large else 400)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    return error_page(request, 403)


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return error_page(request, 404)


def server_error(request: HttpRequest) -> HttpResponse:
    """500, or 503 where the database does not answer: Django calls this while the exception is handled."""
    return error_page(request, 503 if isinstance(sys.exc_info()[1], OperationalError) else 500)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    return error_page(request, 403, template="403_csrf.html")
