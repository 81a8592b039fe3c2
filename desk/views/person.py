"""A buyer's own data: find him, hand them out, erase them. His address is sent in bodies only, never in a link."""

from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from core.errors import Conflict, Invalid, NotFound, Refusal
from core.models import AuditEntry
from core.person import Person, find, kept_of, open_matters_of
from core.services.erase_person import ERASED, erase_person, export_person
from desk.page import desk_page
from desk.person_file import as_zip
from desk.person_form import ErasureForm, PersonForm
from desk.person_words import AFTERWARDS, CHANGED, GOES, SECTIONS, STAYS

EXPORTS, ERASES = "orders.export_person", "orders.erase_person"


@require_http_methods(["GET", "HEAD", "POST"])
@sensitive_post_parameters("address")
@desk_page(EXPORTS)
def person(request: HttpRequest) -> HttpResponse:
    """Ask for an address; on POST say what is kept about it."""
    form = PersonForm(request.POST if request.method == "POST" else None)
    if request.method != "POST" or not form.is_valid():
        return _asked(request, form)
    try:
        found = find(form.cleaned_data["address"])
    except Invalid as refusal:
        form.add_error("address", refusal.text)
        return _asked(request, form)
    return _found(request, form, found)


@require_POST
@sensitive_post_parameters("address")
@desk_page(EXPORTS)
def export(request: HttpRequest) -> HttpResponse:
    """The file with all that is kept."""
    form = PersonForm(request.POST)
    if not form.is_valid():
        return _asked(request, form)
    try:
        found, kept = export_person(address=form.cleaned_data["address"], actor=request.user.get_username())
    except (Invalid, NotFound) as refusal:
        form.add_error("address", refusal.text)
        return _asked(request, form)
    return HttpResponse(
        as_zip(found, kept),
        content_type="application/zip",
        headers={"Content-Disposition": 'attachment; filename="personal-data.zip"'},
    )


@require_POST
@sensitive_post_parameters("address")
@desk_page(EXPORTS, ERASES)
def erase(request: HttpRequest) -> HttpResponse:
    """The first time ask what exactly will happen; with a reason, do it."""
    first = "reason" not in request.POST
    form = ErasureForm(request.POST)
    try:
        if not first and form.is_valid():
            done = erase_person(
                address=form.cleaned_data["address"],
                actor=request.user.get_username(),
                reason=form.cleaned_data["reason"],
            )
            return HttpResponseRedirect(reverse("desk:person_erased", args=[done.entry.pk]), status=303)
        found = find(str(request.POST.get("address", ""))[:320])
    except Conflict:
        # Something has begun meanwhile; the page below names it.
        found = find(form.cleaned_data["address"])
    except Refusal as refusal:
        asked = PersonForm(request.POST)
        asked.is_valid()
        asked.add_error("address", refusal.text)
        return _asked(request, asked)
    shown = ErasureForm(initial={"address": found.address}) if first else form
    return _confirm(request, shown, found)


@require_safe
@desk_page(EXPORTS, ERASES)
def erased(request: HttpRequest, entry_id: int) -> HttpResponse:
    """What was done, as the audit has it: how many rows of what."""
    entry = get_object_or_404(AuditEntry, pk=entry_id, action=ERASED)
    rows = [(label, entry.after[name]) for name, label in CHANGED.items() if name in entry.after]
    context = {"entry": entry, "rows": rows, "after": AFTERWARDS, "stays": STAYS}
    return render(request, "desk/person_erased.html", context)


def _asked(request: HttpRequest, form: PersonForm) -> HttpResponse:
    return render(request, "desk/person.html", {"form": form}, status=400 if form.errors else 200)


def _found(request: HttpRequest, form: PersonForm, found: Person) -> HttpResponse:
    kept = kept_of(found)
    context: dict[str, Any] = {
        "form": form,
        "person": found,
        "sections": [(SECTIONS[section], len(rows)) for section, rows in kept.items()],
        "may_erase": request.user.has_perm(ERASES),
        "asked": True,
    }
    return render(request, "desk/person.html", context)


def _confirm(request: HttpRequest, form: ErasureForm, found: Person) -> HttpResponse:
    kept = kept_of(found)
    if not kept:
        return _found(request, PersonForm(initial={"address": found.address}), found)
    matters = open_matters_of(found)
    context = {
        "form": form,
        "person": found,
        "matters": matters,
        "goes": GOES,
        "stays": STAYS,
        "after": AFTERWARDS,
    }
    status = 400 if form.is_bound and form.errors else 409 if matters else 200
    return render(request, "desk/person_erase.html", context, status=status)
