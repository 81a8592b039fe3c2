"""Refunds, credits and the books for staff: to look at; a refund is sent and decided by buttons, never edited."""

from functools import partial
from typing import TYPE_CHECKING

from django import forms
from django.contrib import admin
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminTextInputWidget

from billing.lifecycle import RefundStatus
from billing.models import (
    Acceptance,
    Credit,
    LedgerEntry,
    LedgerTransaction,
    PaymentRequest,
    Rail,
    Refund,
    RefundMovement,
    ScreeningVerdict,
)
from billing.money_left import money_left
from billing.services.money_decisions import refund_by_hand
from billing.services.refund import amount_of
from billing.services.send_refund import mark_sent
from core.admin_actions import Fact, ServiceAction, ServiceAdmin
from core.admin_rows import ReadOnlyAdmin, ReadOnlyInline
from core.formats import token_plain

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

_WAITS = frozenset({RefundStatus.DUE, RefundStatus.FAILED})


def _text(
    label: "str | _StrPromise", help_text: "str | _StrPromise" = "", *, required: bool = True
) -> forms.CharField:
    return forms.CharField(
        label=label, help_text=help_text, required=required, max_length=200, widget=UnfoldAdminTextInputWidget
    )


def _send(row: Refund, actor: str, reason: str, *, transaction_hash: str) -> None:
    mark_sent(refund_id=row.pk, actor=actor, reason=reason, transaction_hash=transaction_hash)


def _refund(row: PaymentRequest, actor: str, reason: str, *, amount: str, leg: str) -> None:
    refund_by_hand(payment=row, actor=actor, reason=reason, amount=amount, leg=leg)


def _what_goes_back(row: Refund) -> list[Fact]:
    """Before the click: how much of what goes where, for whom."""
    facts: list[Fact] = [
        (_("Amount"), f"{token_plain(amount_of(row))} {row.asset}"),
        (_("Network"), row.network),
        (_("Destination"), row.destination),
        (_("Order"), row.order.public_id),
        (_("Reason"), row.get_reason_display()),
    ]
    return [fact for fact in facts if fact[1]]


def _what_is_left(row: PaymentRequest) -> list[Fact]:
    return [
        (_("Order"), row.order.public_id),
        *((_("Left on %(way)s") % {"way": left.code}, left.text) for left in money_left(row.order.public_id)),
    ]


# A button of the payment's page (billing.admin).
REFUND_BY_HAND = ServiceAction(
    name="refund",
    label=_("Refund an amount"),
    explain=_(
        "A refund is opened, at most what has arrived for good and was not given back yet. The buyer names an "
        "address, you send it, a worker checks that it arrives."
    ),
    permission="billing.add_refund",
    run=_refund,
    fields={
        "amount": partial(_text, _("Amount in the asset, such as 4.50")),
        "leg": partial(
            _text,
            _("Way that it came"),
            _("Empty: the asset that was asked for. Else such as local:ETH or card:pi_123."),
            required=False,
        ),
    },
    danger=True,
    facts=_what_is_left,
)


class MovementInline(ReadOnlyInline):
    model = RefundMovement
    fields = ["tx_hash", "ordinal", "card_refund_id", "units", "block_number", "block_time", "found_at"]


@admin.register(Refund)
class RefundAdmin(ServiceAdmin):
    list_display = [
        "order",
        "reason",
        "status",
        "asset",
        "network",
        "units",
        "destination",
        "due_at",
        "last_error",
    ]
    list_filter = ["status", "reason", "rail", "network"]
    list_select_related = ["order"]
    search_fields = ["order__public_id", "destination", "tx_hash", "card_refund_id"]
    ordering = ["-id"]
    exclude = ["claim_token", "claim_until"]
    inlines = [MovementInline]
    service_actions = [
        ServiceAction(
            name="sent",
            label=_("Enter the transaction hash"),
            explain=_(
                "You have sent this refund from your own wallet. A worker checks on chain that it arrives."
            ),
            permission="billing.change_refund",
            run=_send,
            offered=lambda row: row.rail == Rail.CRYPTO and row.status in _WAITS,
            fields={"transaction_hash": partial(_text, _("Transaction hash"))},
            facts=_what_goes_back,
        )
    ]


@admin.register(Credit)
class CreditAdmin(ReadOnlyAdmin):
    list_display = ["order", "cause", "minutes", "amount", "currency", "began_at", "ended_at"]
    list_filter = ["cause"]
    list_select_related = ["order"]
    search_fields = ["order__public_id"]
    ordering = ["-id"]


class EntryInline(ReadOnlyInline):
    model = LedgerEntry
    fields = ["account", "asset", "units", "day"]


@admin.register(LedgerTransaction)
class LedgerTransactionAdmin(ReadOnlyAdmin):
    list_display = ["key", "kind", "order", "at"]
    list_filter = ["kind"]
    list_select_related = ["order"]
    search_fields = ["key", "order__public_id"]
    ordering = ["-id"]
    inlines = [EntryInline]


@admin.register(LedgerEntry)
class LedgerEntryAdmin(ReadOnlyAdmin):
    list_display = ["transaction", "account", "asset", "units", "day", "order"]
    list_filter = ["account", "asset"]
    list_select_related = ["transaction", "order"]
    search_fields = ["order__public_id", "transaction__key", "account"]
    ordering = ["-id"]


@admin.register(Acceptance)
class AcceptanceAdmin(ReadOnlyAdmin):
    list_display = ["payment", "actor", "reason", "at"]
    ordering = ["-id"]


@admin.register(ScreeningVerdict)
class ScreeningVerdictAdmin(ReadOnlyAdmin):
    list_display = ["payment", "address", "verdict", "source", "at"]
    list_filter = ["verdict"]
    search_fields = ["address", "payment__order__public_id"]
    ordering = ["-id"]
