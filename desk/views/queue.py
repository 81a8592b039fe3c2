"""The first page: every decision that is due, the nearest deadline first."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from desk.links import may_see
from desk.page import desk_page
from desk.queue import queue_of
from desk.stats import stats_of


@require_safe
@desk_page()
def queue(request: HttpRequest) -> HttpResponse:
    """Staff whose role decides nothing get a page that says so: it is where the login leads."""
    if not may_see(request.user, "core.decision"):
        return render(request, "desk/queue_none.html")
    found = queue_of(request.user, page=_page(request))
    return render(request, "desk/queue.html", {"queue": found, "stats": stats_of(found.kinds, request.user)})


def _page(request: HttpRequest) -> int:
    """What is no number of a page is the first one; nobody is shown an error for it."""
    text = request.GET.get("page", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 6 else 1
