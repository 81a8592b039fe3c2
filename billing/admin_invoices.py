"""Documents for staff: to look at and to cancel; nothing is edited."""

from functools import partial
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget

from billing.models import Invoice
from billing.services.cancel_invoice import cancel_invoice, clean_buyer
from core.admin_actions import ServiceAction, ServiceAdmin

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise


def _cancel(invoice: Invoice, actor: str, reason: str, **typed: str) -> str:
    """What is left empty stays as the invoice has it."""
    has = invoice.data["buyer"]
    buyer = clean_buyer(**{key: typed.get(key) or has[key] for key in ("name", "company", "address")})
    new = cancel_invoice(invoice_id=invoice.pk, buyer=buyer, actor=actor, reason=reason)
    return _("Issued as %(number)s.") % {"number": new}


def _text(label: "str | _StrPromise", *, lines: bool = False) -> forms.CharField:
    return forms.CharField(
        label=label,
        required=False,
        max_length=600 if lines else 200,
        help_text=_("Empty: as it stands on the invoice."),
        widget=UnfoldAdminTextareaWidget if lines else UnfoldAdminTextInputWidget,
    )


def _may_cancel(invoice: Invoice) -> bool:
    return invoice.kind == Invoice.Kind.INVOICE and not Invoice.objects.filter(cancels=invoice).exists()


@admin.register(Invoice)
class InvoiceAdmin(ServiceAdmin):
    list_display = ["__str__", "kind", "order", "issued_at", "rendered_at", "attempts", "last_error"]
    list_filter = ["kind", "series"]
    list_select_related = ["order"]
    search_fields = ["order__public_id", "series"]
    ordering = ["-id"]
    # Who has the token can read the document; the bytes are no text.
    exclude = ["token", "pdf"]
    service_actions = [
        ServiceAction(
            name="cancel",
            label=_("Cancel and issue anew"),
            explain=_("A cancellation and a new invoice with these data are issued. No money moves."),
            permission="billing.change_invoice",
            run=_cancel,
            offered=_may_cancel,
            fields={
                "name": partial(_text, _("Name")),
                "company": partial(_text, _("Company")),
                "address": partial(_text, _("Address"), lines=True),
            },
        )
    ]

    def get_queryset(self, request: Any) -> Any:
        """Without the bytes: a list of fifty documents is a few kilobytes."""
        return super().get_queryset(request).defer("pdf")
