"""The list of guides and one guide."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import get_language
from django.views.decorators.http import require_safe

from guides.library import SOURCE_LANGUAGE, guide_in, guides_in
from guides.pages import guide_page


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    return render(request, "guides/index.html", {"guides": list(guides_in(_language()))})


@require_safe
def guide(request: HttpRequest, slug: str) -> HttpResponse:
    language = _language()
    found = guide_in(slug, language)
    if found is None:
        raise Http404
    return render(request, "guides/guide.html", {"page": guide_page(found, language)})


def _language() -> str:
    return get_language() or SOURCE_LANGUAGE
