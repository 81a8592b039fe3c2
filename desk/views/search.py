"""The box in the head of every desk page. Each person finds only what his role may see."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from core.errors import Refusal
from core.text import clean_line
from desk.page import desk_page
from desk.search import MAX_LENGTH
from desk.search import search as find


@require_safe
@desk_page()
def search(request: HttpRequest) -> HttpResponse:
    """What cannot be stored cannot be found either: it is said, with status 400."""
    query, problem = "", ""
    try:
        query = clean_line(request.GET.get("q", ""), field="q", max_length=MAX_LENGTH, required=False)
    except Refusal:
        problem = _(
            "This cannot be searched for: it is too long or holds a character that no text of ours has."
        )
    groups = find(query, request.user) if query else []
    return render(
        request,
        "desk/search.html",
        {"query": query, "problem": problem, "groups": groups},
        status=400 if problem else 200,
    )
