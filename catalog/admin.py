"""The catalogue for staff: figures are edited here, prices reach a buyer only through a published table."""

from typing import Any

from django.contrib import admin
from django.db import transaction
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from catalog.models import (
    Accelerator,
    Image,
    Lot,
    LotPrice,
    Option,
    OptionPrice,
    PriceVersion,
    SeededRow,
    Term,
)
from catalog.services.publish import publish_prices
from core import audit
from core.admin_actions import ServiceAction, ServiceAdmin
from core.admin_rows import EditableAdmin, ReadOnlyAdmin
from core.errors import Conflict


def _publish(_row: PriceVersion, actor: str, reason: str) -> None:
    with transaction.atomic():
        published = publish_prices(note=reason[:300])
        if not published.created:
            raise Conflict(code="already_done", message=_("No figure has changed: the current table stands."))
        audit.record(
            actor=actor, action="prices.publish", subject=f"price_version:{published.number}", reason=reason
        )


class _CodedAdmin(EditableAdmin):
    """Rows whose code or slug outside callers rely on: it is chosen once."""

    code_field = "code"

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return [self.code_field] if obj is not None else []


@admin.register(Accelerator)
class AcceleratorAdmin(_CodedAdmin):
    code_field = "slug"
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
class TermAdmin(EditableAdmin):
    list_display = ["days", "discount", "meant_for"]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return ["days"] if obj is not None else []


@admin.register(Option)
class OptionAdmin(_CodedAdmin):
    list_display = ["name", "code", "unit", "recurring", "max_quantity", "unit_amount", "on_sale"]
    list_filter = ["on_sale", "recurring"]
    search_fields = ["name", "code"]


@admin.register(Image)
class ImageAdmin(_CodedAdmin):
    list_display = ["name", "code", "stack", "stack_version", "driver_minimum", "on_sale"]
    list_filter = ["on_sale", "stack"]
    search_fields = ["name", "code"]


@admin.register(PriceVersion)
class PriceVersionAdmin(ServiceAdmin):
    list_display = ["number", "published_at", "currency", "note"]
    service_actions = [
        ServiceAction(
            name="publish",
            label=_("Publish a new price table"),
            explain=_(
                "The figures of accelerators, options and terms become the table that sells from now on. "
                "Open quotes keep their price."
            ),
            permission="catalog.add_priceversion",
            run=_publish,
        )
    ]


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
