"""Error pages: one look, one id, and for "none" and "not yours" the same answer."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

from core.errors import Refusal, TooMany

View = TypeVar("View", bound=Callable[..., HttpResponse])

_TEMPLATES = {
    400: "400.html",
    403: "403.html",
    404: "404.html",
    413: "413.html",
    429: "429.html",
    500: "500.html",
    503: "503.html",
}


def error_page(request: HttpRequest, status: int, **context: Any) -> HttpResponse:
    """The page of a status. Rendered without context processors: it must work whatever is broken."""
    context["request_id"] = getattr(request, "request_id", "")
    template = _TEMPLATES.get(status, "400.html" if status < 500 else "500.html")
    response = HttpResponse(render_to_string(template, context), status=status)
    response["Cache-Control"] = "no-store"
    return response


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
    context = {"sentence": refusal.text, "request_id": getattr(request, "request_id", "")}
    return HttpResponse(render_to_string("refusal.html", context), status=refusal.status)


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
    return error_page(request, 500)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    context = {"request_id": getattr(request, "request_id", "")}
    return HttpResponse(render_to_string("403_csrf.html", context), status=403)
