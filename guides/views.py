"""The list of guides and one guide."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from guides.library import GUIDES, guide_by_slug


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    return render(request, "guides/index.html", {"guides": GUIDES})


@require_safe
def guide(request: HttpRequest, slug: str) -> HttpResponse:
    found = guide_by_slug(slug)
    if found is None:
        raise Http404
    return render(request, f"guides/{found.slug}.html", {"guide": found})
