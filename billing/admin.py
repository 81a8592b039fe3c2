"""Money for staff: payment requests with every fact that was read for them. Facts are never edited."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from billing.admin_cards import CardEventAdmin, CardSessionAdmin
from billing.admin_invoices import InvoiceAdmin
from billing.admin_money import REFUND_BY_HAND
from billing.models import (
    AcceptedXpub,
    AddressCheck,
    BalanceReading,
    ChainState,
    Claim,
    DemoTransfer,
    DepositAddress,
    PaymentRequest,
    PaymentView,
    Transfer,
)
from core.admin_actions import ServiceAdmin
from core.admin_rows import ReadOnlyAdmin, ReadOnlyInline


class ViewInline(ReadOnlyInline):
    model = PaymentView
    fields = [
        "status",
        "flags",
        "received_units",
        "settled_units",
        "on_time_units",
        "last_block",
        "checked_at",
        "unpaid_confirmed_at",
    ]


class TransferInline(ReadOnlyInline):
    model = Transfer
    fields = [
        "tx_hash",
        "ordinal",
        "asset_contract",
        "units",
        "sender",
        "block_number",
        "block_time",
        "taken_back",
    ]
    readonly_fields = ["taken_back"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Transfer]:
        return super().get_queryset(request).prefetch_related("sightings")

    @admin.display(boolean=True, description=_("taken back by the chain"))
    def taken_back(self, transfer: Transfer) -> bool:
        sightings = sorted(transfer.sightings.all(), key=lambda row: row.pk)
        return bool(sightings) and not sightings[-1].in_chain


class ReadingInline(ReadOnlyInline):
    model = BalanceReading
    fields = ["kind", "asset_contract", "units", "block_number", "block_time", "read_at"]


class ClaimInline(ReadOnlyInline):
    model = Claim
    fields = ["at", "by", "transaction_hash"]


@admin.register(PaymentRequest)
class PaymentRequestAdmin(ServiceAdmin):
    service_actions = [REFUND_BY_HAND]
    list_display = ["order", "status", "network", "asset", "amount", "currency", "address", "expires_at"]
    list_filter = ["network", "asset", "view__status"]
    list_select_related = ["order", "address", "view"]
    search_fields = ["order__public_id", "address__address", "transfers__tx_hash"]
    ordering = ["-id"]
    inlines = [ViewInline, TransferInline, ReadingInline, ClaimInline]

    @admin.display(description=_("status"), ordering="view__status")
    def status(self, payment: PaymentRequest) -> str:
        return str(payment.view)


class AddressCheckInline(ReadOnlyInline):
    model = AddressCheck
    fields = ["network", "is_clean", "facts", "block_number", "checked_at"]


@admin.register(DepositAddress)
class DepositAddressAdmin(ReadOnlyAdmin):
    list_display = ["address", "index", "status", "derived_at", "issued_at"]
    list_filter = ["status"]
    search_fields = ["address"]
    ordering = ["-id"]
    inlines = [AddressCheckInline]


@admin.register(ChainState)
class ChainStateAdmin(ReadOnlyAdmin):
    list_display = [
        "network",
        "chain_id",
        "offered",
        "problem",
        "head_number",
        "settled_number",
        "checked_at",
    ]
    list_filter = ["offered"]
    exclude = ["claim_token", "claim_until"]


@admin.register(DemoTransfer)
class DemoTransferAdmin(ReadOnlyAdmin):
    list_display = ["payment", "units", "requested_at", "nonce", "tx_hash", "last_error"]
    exclude = ["claim_token", "claim_until"]


@admin.register(AcceptedXpub)
class AcceptedXpubAdmin(ReadOnlyAdmin):
    list_display = ["fingerprint", "accepted_at"]


# Registered by being imported: Django looks for admin pages in this module alone.
__all__ = ["CardEventAdmin", "CardSessionAdmin", "InvoiceAdmin"]
