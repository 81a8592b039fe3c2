"""The catalogue from a file: look at what would change, then write exactly that."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from catalog.import_file import MAX_BYTES, FileRefused
from catalog.services.import_catalog import apply_import, preview_import
from core.errors import Refusal
from core.text import clean_line
from desk.import_words import figure_words, row_words, staying_words
from desk.in_use import rows_in_use
from desk.page import desk_page
from desk.price_forms import SEES, WRITES, ImportForm

IMPORTS = "catalog.add_accelerator"
_NAME_LENGTH = 100


@require_http_methods(["GET", "HEAD", "POST"])
@desk_page(SEES, WRITES, IMPORTS)
def prices_import(request: HttpRequest) -> HttpResponse:
    """A form on GET; POST with a file shows what it would change, POST with the digest of that writes it."""
    if request.method != "POST":
        return _page(request, ImportForm())
    if "digest" in request.POST:
        return _apply(request)
    form = ImportForm(request.POST, request.FILES)
    if not form.is_valid():
        return _page(request, form, status=400)
    upload = form.cleaned_data["file"]
    return _look(request, upload.read(MAX_BYTES + 1), str(upload.name))


def _look(request: HttpRequest, content: bytes, name: str) -> HttpResponse:
    form = ImportForm()
    try:
        name = clean_line(name, field="file", max_length=_NAME_LENGTH)
        found = preview_import(content=content, in_use=rows_in_use)
    except FileRefused as refused:
        return _page(request, form, status=400, refused=refused, name=name)
    except Refusal as refusal:
        messages.warning(request, refusal.text)
        return _page(request, form, status=400)
    rows = row_words(found.plan)
    return _page(
        request,
        form,
        name=name,
        plan=found.plan,
        digest=found.digest,
        content=content.decode("utf-8-sig"),
        added=[row for row in rows if row.added],
        changed=[row for row in rows if not row.added],
        figures=figure_words(found.plan),
        staying=staying_words(found.plan),
    )


def _apply(request: HttpRequest) -> HttpResponse:
    content = request.POST.get("content", "").encode()
    try:
        name = clean_line(request.POST.get("name", ""), field="file", max_length=_NAME_LENGTH)
        plan = apply_import(
            content=content,
            digest=request.POST["digest"],
            actor=request.user.get_username(),
            in_use=rows_in_use,
            name=name,
        )
    except FileRefused as refused:
        return _page(request, ImportForm(), status=400, refused=refused)
    except Refusal as refusal:
        messages.warning(request, refusal.text)
        return redirect("desk:prices_import")
    if plan.figures:
        messages.success(request, _("The catalogue is written. The prices of the file wait in the draft."))
    else:
        messages.success(request, _("The catalogue is written."))
    return redirect("desk:prices")


def _page(request: HttpRequest, form: ImportForm, *, status: int = 200, **context: object) -> HttpResponse:
    return render(request, "desk/prices_import.html", {"form": form, **context}, status=status)
