"""Headers of pages that are meant for one person: not stored, not indexed, their address not passed on."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from django.http import HttpRequest, HttpResponse

View = TypeVar("View", bound=Callable[..., HttpResponse])


def private_page(view: View) -> View:
    """For order and quote pages, whose address is a secret."""

    @wraps(view)
    def headed(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        response = view(request, *args, **kwargs)
        # A part that is asked for every few seconds says itself that the browser may keep it to compare.
        response.setdefault("Cache-Control", "private, no-store")
        response["Referrer-Policy"] = "same-origin"
        response["X-Robots-Tag"] = "noindex, nofollow"
        return response

    return cast(View, headed)
