"""The catalogue for staff. Figures that make prices are read-only here: they change through a draft at the desk, which
shows the effect first, so that nothing reaches a buyer half done.
"""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from catalog.models import (
    Accelerator,
    Image,
    Lot,
    LotPrice,
    Option,
    OptionPrice,
    PriceDraft,
    PriceVersion,
    SeededRow,
    Term,
)
from core.admin_rows import EditableAdmin, ReadOnlyAdmin


class _CodedAdmin(EditableAdmin):
    """Rows whose code or slug outside callers rely on: it is chosen once. `figure` is what a price is made of."""

    code_field = "code"
    figure: str | None = None

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        figures = [self.figure] if self.figure else []
        return [self.code_field, *figures] if obj is not None else figures


@admin.register(Accelerator)
class AcceleratorAdmin(_CodedAdmin):
    code_field = "slug"
    figure = "card_hour_amount"
    list_display = ["name", "slug", "vendor", "memory_gb", "stack", "host_arch", "grade", "card_hour_amount"]
    list_filter = ["vendor", "stack", "grade"]
    search_fields = ["name", "slug", "vendor"]


@admin.register(Lot)
class LotAdmin(_CodedAdmin):
    list_display = ["code", "accelerator", "cards", "vcpu", "ram_gb", "nvme_gb", "on_sale"]
    list_filter = ["on_sale", "accelerator"]
    list_select_related = ["accelerator"]
    search_fields = ["code", "accelerator__name"]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        # Another size is another lot: orders stand on this one.
        return ["code", "accelerator", "cards"] if obj is not None else []


@admin.register(Term)
class TermAdmin(_CodedAdmin):
    code_field = "days"
    figure = "discount"
    list_display = ["days", "discount", "meant_for"]


@admin.register(Option)
class OptionAdmin(_CodedAdmin):
    figure = "unit_amount"
    list_display = ["name", "code", "unit", "recurring", "max_quantity", "unit_amount", "on_sale"]
    list_filter = ["on_sale", "recurring"]
    search_fields = ["name", "code"]


@admin.register(Image)
class ImageAdmin(_CodedAdmin):
    list_display = ["name", "code", "stack", "stack_version", "driver_minimum", "on_sale"]
    list_filter = ["on_sale", "stack"]
    search_fields = ["name", "code"]


@admin.register(PriceVersion)
class PriceVersionAdmin(ReadOnlyAdmin):
    list_display = ["number", "published_at", "published_by", "currency", "note"]


@admin.register(PriceDraft)
class PriceDraftAdmin(ReadOnlyAdmin):
    list_display = ["id", "base", "saved_at", "saved_by", "closed_at", "published"]
    list_select_related = ["base", "published"]


@admin.register(LotPrice)
class LotPriceAdmin(ReadOnlyAdmin):
    list_display = ["lot", "term", "version", "amount", "list_amount", "card_hour_amount", "discount"]
    list_filter = ["version", "term"]
    list_select_related = ["lot", "term", "version"]
    search_fields = ["lot__code"]


@admin.register(OptionPrice)
class OptionPriceAdmin(ReadOnlyAdmin):
    list_display = ["option", "term", "version", "amount"]
    list_filter = ["version", "term"]
    list_select_related = ["option", "term", "version"]
    search_fields = ["option__code"]


@admin.register(SeededRow)
class SeededRowAdmin(ReadOnlyAdmin):
    list_display = ["kind", "code"]
    list_filter = ["kind"]
    search_fields = ["code"]
