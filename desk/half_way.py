"""Pages for staff whose password was right and who owe the second factor, beside those who owe nothing."""

from collections.abc import Callable
from functools import wraps

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.cache import add_never_cache_headers

from core import staff_sessions
from core.client_address import client_address, network_prefix
from core.errors import Refusal, TooMany

Page = Callable[..., HttpResponse]


def half_way_page(view: Page) -> Page:
    """For views(request, user): a living session of staff is enough. Never stored, not indexed."""

    @wraps(view)
    def shown(request: HttpRequest) -> HttpResponse:
        user = request.user
        if not (isinstance(user, User) and user.is_staff and staff_sessions.current(request)):
            return HttpResponseRedirect(reverse("admin:login"), status=303)
        response = view(request, user)
        add_never_cache_headers(response)
        response["X-Robots-Tag"] = "noindex, nofollow"
        return response

    return shown


def network_of(request: HttpRequest) -> str:
    return network_prefix(client_address(request))


def with_status(response: HttpResponse, refusal: Refusal | None) -> HttpResponse:
    """A page that shows a refusal says so in its status too; one that only misses a value does not."""
    if isinstance(refusal, TooMany):
        response.status_code = refusal.status
        response["Retry-After"] = str(refusal.retry_after_seconds)
    return response
