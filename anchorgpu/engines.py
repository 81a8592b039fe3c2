"""What search engines are told: which pages there are, in which languages, and which are nobody's business."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import translation
from django.views.decorators.http import require_safe

from catalog.models import Accelerator
from guides.library import SLUGS

# Quotes and orders carry secrets in their addresses and say noindex themselves; here they are not even named.
_ROBOTS = """User-agent: *
Disallow: /admin/
Disallow: /api/
Disallow: /*/catalog/*/total/
Allow: /

Sitemap: {site}/sitemap.xml
"""
_LEGAL = ("terms", "privacy", "imprint")


@dataclass(frozen=True)
class Entry:
    """One page in one language, with the addresses of all of its languages."""

    address: str
    alternates: tuple[tuple[str, str], ...]

    @property
    def default(self) -> str:
        return self.alternates[0][1]


@require_safe
def robots(request: HttpRequest) -> HttpResponse:
    return HttpResponse(_ROBOTS.format(site=settings.SITE_URL), content_type="text/plain; charset=utf-8")


@require_safe
def sitemap(request: HttpRequest) -> HttpResponse:
    """Every public page in every language. 1 query."""
    entries = [entry for name, kwargs in _pages() for entry in _entries(name, kwargs)]
    return render(request, "sitemap.xml", {"entries": entries}, content_type="application/xml")


def _pages() -> Iterator[tuple[str, dict[str, str]]]:
    yield from (
        (name, {}) for name in ("shop:home", "shop:catalog", "shop:plan", "guides:index", "shop:simulated")
    )
    slugs = Accelerator.objects.order_by("slug").values_list("slug", flat=True)
    yield from (("shop:accelerator", {"slug": slug}) for slug in slugs)
    yield from (("guides:guide", {"slug": slug}) for slug in SLUGS)
    yield from (("shop:legal", {"slug": slug}) for slug in _LEGAL)


def _entries(name: str, kwargs: dict[str, str]) -> Iterator[Entry]:
    alternates = []
    for code, _language in settings.LANGUAGES:
        with translation.override(code):
            alternates.append((code, settings.SITE_URL + reverse(name, kwargs=kwargs)))
    return (Entry(address, tuple(alternates)) for _code, address in alternates)
