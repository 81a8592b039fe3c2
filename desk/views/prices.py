"""Prices: the draft as a table, its preview, and the pages that publish it or throw it away."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from catalog.figures import draft_figures
from catalog.selectors import current_price_version
from catalog.selectors.draft import open_draft, price_versions
from catalog.selectors.preview import preview_of
from catalog.services.draft import FiguresMoved, rebase_draft, save_draft
from core.admin_actions import ServiceAction
from core.errors import Refusal
from desk.forms import DeskReasonForm
from desk.page import desk_page
from desk.price_forms import DISCARD, PUBLISH, PUBLISHES, SEES, WRITES, DraftForm
from desk.prices import FigureTable, figure_table, open_quotes

_HISTORY = 20


@require_http_methods(["GET", "HEAD", "POST"])
@desk_page(SEES)
def prices(request: HttpRequest) -> HttpResponse:
    """The table of figures; POST saves the changed ones into the draft."""
    if request.method != "POST":
        return _table(request, figure_table(draft=open_draft()))
    if not request.user.has_perm(WRITES):
        raise PermissionDenied
    draft = open_draft()
    table = figure_table(draft=draft, data=request.POST)
    if table.errors:
        return _table(request, table)
    if not table.changes and (draft or not preview_of(figures={}).differs):
        if "preview" not in request.POST:
            messages.info(request, _("No figure was changed."))
        return redirect("desk:prices_preview" if "preview" in request.POST else "desk:prices")
    try:
        save_draft(changes=table.changes, actor=request.user.get_username())
    except FiguresMoved as moved:
        table.say_moved(moved.stored)
        messages.warning(request, moved.text)
        return _table(request, table)
    except Refusal as refusal:
        messages.warning(request, refusal.text)
    else:
        messages.success(request, _("The draft is saved. Nothing has changed for buyers."))
    return redirect("desk:prices_preview" if "preview" in request.POST else "desk:prices")


@require_safe
@desk_page(SEES)
def preview(request: HttpRequest) -> HttpResponse:
    """What publishing would do."""
    standing = _standing()
    context = {
        **standing,
        "preview": preview_of(figures=draft_figures(standing["draft"])),
        "open_quotes": open_quotes(),
    }
    return render(request, "desk/prices_preview.html", context)


@require_POST
@desk_page(SEES, WRITES)
def rebase(request: HttpRequest) -> HttpResponse:
    """Take up the table that was published meanwhile."""
    form = DraftForm(request.POST)
    if form.is_valid():
        try:
            rebase_draft(draft_id=form.cleaned_data["draft"], actor=request.user.get_username())
        except Refusal as refusal:
            messages.warning(request, refusal.text)
        else:
            messages.success(request, _("The draft goes on from the current table. Its own changes stand."))
    return redirect("desk:prices_preview")


@require_http_methods(["GET", "HEAD", "POST"])
@desk_page(SEES, PUBLISHES)
def publish(request: HttpRequest) -> HttpResponse:
    """Ask on GET, publish on POST."""
    return _ask(request, PUBLISH, "desk/prices_publish.html", _("The new price table sells from now on."))


@require_http_methods(["GET", "HEAD", "POST"])
@desk_page(SEES, WRITES)
def discard(request: HttpRequest) -> HttpResponse:
    """Ask on GET, throw the draft away on POST."""
    return _ask(
        request,
        DISCARD,
        "desk/prices_discard.html",
        _("The draft is discarded. The current table stands."),
    )


def _standing() -> dict[str, Any]:
    """The open draft beside the table that sells, and whether that is another one than the draft was made from."""
    draft, current = open_draft(), current_price_version()
    return {"draft": draft, "current": current, "outdated": draft is not None and draft.base != current}


def _table(request: HttpRequest, table: FigureTable) -> HttpResponse:
    standing = _standing()
    context = {
        **standing,
        "table": table,
        "differs": preview_of(figures=draft_figures(standing["draft"])).differs,
        "history": price_versions(limit=_HISTORY),
        "may_write": request.user.has_perm(WRITES),
        "locked": not request.user.has_perm(WRITES),
    }
    return render(request, "desk/prices.html", context, status=400 if table.errors else 200)


def _ask(request: HttpRequest, action: ServiceAction, template: str, done: str) -> HttpResponse:
    """One page that asks for a reason, then calls the service with what was looked at."""
    form = DeskReasonForm(request.POST if request.method == "POST" else None, action=action)
    draft = open_draft()
    if form.is_valid():
        values = dict(form.cleaned_data)
        try:
            action.run(draft, request.user.get_username(), values.pop("reason"), **values)
        except Refusal as refusal:
            messages.warning(request, refusal.text)
            return redirect("desk:prices_preview" if open_draft() else "desk:prices")
        messages.success(request, done)
        return redirect("desk:prices")
    if draft is None:
        messages.warning(request, _("There is no draft."))
        return redirect("desk:prices")
    form.initial = {"draft": draft.pk, "revision": request.GET.get("revision", draft.revision)}
    context = {
        "form": form,
        "action": action,
        "draft": draft,
        "preview": preview_of(figures=draft_figures(draft)),
        "open_quotes": open_quotes(),
    }
    return render(request, template, context, status=400 if form.errors else 200)
