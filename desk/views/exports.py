"""Tables as files: one page to choose from, and the file, written while it is read."""

from typing import Any

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from billing.exports import TABLES
from core.errors import Invalid
from core.export import Period, Table
from core.services.export_table import export_table
from desk.export_form import ExportForm
from desk.page import desk_page

EXPORTS = "orders.export_order"


@require_http_methods(["GET", "HEAD", "POST"])
@desk_page(EXPORTS)
def exports(request: HttpRequest) -> HttpResponseBase:
    """Ask on GET; on POST the file. Only tables whose rows the caller may see are offered."""
    tables = [table for table in TABLES.values() if request.user.has_perm(table.permission)]
    if request.method != "POST":
        return _page(request, ExportForm(tables=tables), tables)
    form = ExportForm(request.POST, tables=tables)
    if not form.is_valid():
        return _page(request, form, tables)
    table = TABLES[form.cleaned_data["table"]]
    try:
        pieces = export_table(
            table=table,
            period=form.period,
            separator=form.cleaned_data["separator"],
            actor=request.user.get_username(),
        )
    except Invalid as refusal:
        form.add_error(refusal.field, refusal.text)
        return _page(request, form, tables)
    name = file_name(table, form.period)
    return StreamingHttpResponse(
        pieces,
        content_type="text/csv; charset=utf-8; header=present",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def file_name(table: Table[Any], period: Period) -> str:
    return f"anchorgpu-{table.name}-{period.first:%Y%m%d}-{period.last:%Y%m%d}.csv"


def _page(request: HttpRequest, form: ExportForm, tables: list[Table[Any]]) -> HttpResponse:
    context = {"form": form, "tables": tables}
    return render(request, "desk/exports.html", context, status=400 if form.errors else 200)
