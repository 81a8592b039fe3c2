"""Start page, legal pages, what is simulated, and the demo's mail."""

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.utils.cache import patch_vary_headers
from django.utils.translation import get_language
from django.views.decorators.http import require_safe

from catalog import selectors as catalog
from core.mail_html import parts_of
from core.models import OutgoingMail
from shop.kept import Draft, kept_page
from shop.pages.catalogue import terms_on_sale
from shop.pages.example import example_of
from shop.pages.legal import legal_numbers

_HOME_ROWS = 5
# The cards that most people compare first; without them the five with the most memory.
_HOME_SLUGS = {"a100-sxm-80", "h100-sxm-80", "h200-sxm-141", "b200-180", "mi300x-192"}
# Nothing on it but prices, whose stamp is exact; still no page lives for ever.
_KEPT_SECONDS = 600
_LEGAL = {"terms", "privacy", "imprint"}


@require_safe
def root(request: HttpRequest) -> HttpResponse:
    """To the language that was chosen before, else to the one that the browser asks for."""
    response = HttpResponseRedirect(f"/{get_language() or settings.LANGUAGE_CODE}/")
    patch_vary_headers(response, ("Accept-Language", "Cookie"))
    return response


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """What is fixed, how a rental runs, real prices."""
    stamp = catalog.catalogue_stamp()
    return kept_page(request, stamp=stamp, seconds=_KEPT_SECONDS, names=frozenset(), draft=_home)


def _home() -> Draft:
    entries = [entry for entry in catalog.catalogue() if entry.on_sale]
    shown = [entry for entry in entries if entry.accelerator.slug in _HOME_SLUGS] or entries[-_HOME_ROWS:]
    context = {
        "entries": shown,
        "example": example_of(entries),
        "accelerators": len(entries),
        "terms": terms_on_sale(entries),
        "currency": entries[0].currency if entries else "",
        "hold_minutes": settings.HOLD_SECONDS // 60,
        "quote_minutes": settings.QUOTE_VALID_SECONDS // 60,
    }
    return Draft("shop/home.html", context)


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
            "vat_id": settings.SELLER_VAT_ID,
            "numbers": legal_numbers(),
        },
    )


@require_safe
def demo_mails(request: HttpRequest) -> HttpResponse:
    """Demo only: what was sent, newest first."""
    _demo_only()
    return render(request, "shop/demo_mails.html", {"mails": OutgoingMail.objects.all()[:100]})


@require_safe
def demo_mail(request: HttpRequest, mail_id: int) -> HttpResponse:
    _demo_only()
    mail = get_object_or_404(OutgoingMail, pk=mail_id)
    return render(request, "shop/demo_mail.html", {"mail": mail, **parts_of(mail.text)})


def _demo_only() -> None:
    if not settings.DEMO:
        raise Http404
