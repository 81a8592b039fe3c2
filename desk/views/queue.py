"""The first page: every decision that is due, the nearest deadline first."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from core.models import Decision
from desk.page import desk_page


@require_safe
@desk_page()
def queue(request: HttpRequest) -> HttpResponse:
    waiting = Decision.objects.filter(closed_at=None).order_by("due_at", "id")
    return render(request, "desk/queue.html", {"decisions": waiting})
