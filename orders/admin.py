"""Quotes and orders for staff: to read, and to cancel an order before its term starts."""

from django.contrib import admin
from django.db import transaction
from django.utils.translation import gettext_lazy as _

from core.admin_actions import ServiceAction, ServiceAdmin
from core.admin_rows import ReadOnlyAdmin
from orders.lifecycle import BEFORE_START
from orders.models import Order, Quote
from orders.services.cancel import cancel


def _cancel(order: Order, actor: str, reason: str) -> None:
    with transaction.atomic():
        cancel(order_id=order.public_id, actor=actor, reason=reason)


@admin.register(Quote)
class QuoteAdmin(ReadOnlyAdmin):
    list_display = [
        "public_id",
        "lot",
        "lots",
        "days",
        "total",
        "currency",
        "status",
        "created_at",
        "expires_at",
    ]
    list_filter = ["status", "days"]
    list_select_related = ["lot"]
    search_fields = ["public_id", "lot__code"]
    ordering = ["-id"]


@admin.register(Order)
class OrderAdmin(ServiceAdmin):
    list_display = [
        "public_id",
        "contact_email",
        "quote",
        "status",
        "placed_at",
        "hold_expires_at",
        "active_at",
    ]
    list_filter = ["status", "notify", "contact_language"]
    list_select_related = ["quote"]
    search_fields = ["public_id", "contact_email", "contact_name", "contact_company", "quote__public_id"]
    # The token opens the buyer's page: who sees it can act as the buyer.
    exclude = ["token"]
    view_on_site = False
    service_actions = [
        ServiceAction(
            name="cancel",
            label=_("Cancel the order"),
            explain=_(
                "The cards come back on sale and the buyer is told. Money that was paid must be sent back: "
                "a decision is opened for it."
            ),
            permission="orders.change_order",
            run=_cancel,
            offered=lambda order: order.status in BEFORE_START,
            danger=True,
        )
    ]
