"""Start page, legal pages, what is simulated, the theme, and the demo's mail."""

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.utils.cache import patch_vary_headers
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import get_language
from django.views.decorators.http import require_POST, require_safe

from catalog import selectors as catalog
from core.models import OutgoingMail
from shop.context import THEME_COOKIE, THEMES

_YEAR_SECONDS = 365 * 24 * 3600
_HOME_ROWS = 5
_LEGAL = {"terms", "privacy", "imprint"}


@require_safe
def root(request: HttpRequest) -> HttpResponse:
    """To the language that the browser asks for."""
    response = HttpResponseRedirect(f"/{get_language() or settings.LANGUAGE_CODE}/")
    patch_vary_headers(response, ("Accept-Language",))
    return response


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """What is fixed, how a rental runs, real prices."""
    entries = [entry for entry in catalog.catalogue() if entry.on_sale]
    return render(
        request,
        "shop/home.html",
        {
            "entries": entries[-_HOME_ROWS:],
            "accelerators": len(entries),
            "terms": catalog.terms(),
            "currency": entries[0].currency if entries else "",
            "hold_minutes": settings.HOLD_SECONDS // 60,
            "quote_minutes": settings.QUOTE_VALID_SECONDS // 60,
        },
    )


@require_safe
def simulated(request: HttpRequest) -> HttpResponse:
    return render(request, "shop/simulated.html")


@require_safe
def legal(request: HttpRequest, slug: str) -> HttpResponse:
    if slug not in _LEGAL:
        raise Http404
    return render(
        request,
        f"shop/legal_{slug}.html",
        {
            "version": settings.TERMS_VERSION,
            "imprint": settings.IMPRINT,
            "hold_minutes": settings.HOLD_SECONDS // 60,
            "ready_by_hours": settings.READY_BY_SECONDS // 3600,
        },
    )


@require_POST
def theme(request: HttpRequest) -> HttpResponse:
    """Keep the chosen appearance in a cookie and go back to the page, if it is one of ours."""
    response = HttpResponseRedirect(_own_path(request.POST.get("next", "")), status=303)
    chosen = request.POST.get("theme", "")
    if chosen in THEMES:
        response.set_cookie(THEME_COOKIE, chosen, max_age=_YEAR_SECONDS, samesite="Lax")
    return response


@require_safe
def demo_mails(request: HttpRequest) -> HttpResponse:
    """Demo only: what was sent, newest first."""
    _demo_only()
    return render(request, "shop/demo_mails.html", {"mails": OutgoingMail.objects.all()[:100]})


@require_safe
def demo_mail(request: HttpRequest, mail_id: int) -> HttpResponse:
    _demo_only()
    return render(request, "shop/demo_mail.html", {"mail": get_object_or_404(OutgoingMail, pk=mail_id)})


def _demo_only() -> None:
    if not settings.DEMO:
        raise Http404


def _own_path(target: str) -> str:
    """A path of this site or the start page: no other host, however it is written."""
    is_own = url_has_allowed_host_and_scheme(target, allowed_hosts=None) and target.startswith("/")
    return target if is_own and target.isprintable() else "/"
