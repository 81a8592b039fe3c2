"""What a visitor chooses for himself, kept in a cookie: the appearance and the language."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.views.decorators.http import require_POST

from core.own_path import own_path
from shop.context import THEME_COOKIE, THEMES, in_language

_YEAR_SECONDS = 365 * 24 * 3600


@require_POST
def theme(request: HttpRequest) -> HttpResponse:
    """Keep the chosen appearance and go back to the page, if it is one of ours."""
    chosen = request.POST.get("theme", "")
    response = HttpResponseRedirect(own_path(request.POST.get("next", "")), status=303)
    if chosen in THEMES:
        _keep(response, THEME_COOKIE, chosen)
    return response


@require_POST
def language(request: HttpRequest) -> HttpResponse:
    """Show the page in the chosen language. It is kept for addresses that name none: an address goes first."""
    chosen = request.POST.get("language", "")
    target = own_path(request.POST.get("next", ""))
    if chosen not in dict(settings.LANGUAGES):
        return HttpResponseRedirect(target, status=303)
    response = HttpResponseRedirect(in_language(target, chosen), status=303)
    _keep(response, settings.LANGUAGE_COOKIE_NAME, chosen)
    return response


def _keep(response: HttpResponse, name: str, value: str) -> None:
    response.set_cookie(
        name, value, max_age=_YEAR_SECONDS, samesite="Lax", secure=settings.SESSION_COOKIE_SECURE
    )
