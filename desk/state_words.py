"""States in words, each with its noun: "Failed" of an order and of a refund are two words in most languages."""

from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from billing.lifecycle import RefundStatus
from billing.models import Invoice
from fleet.lifecycle import LeaseStatus
from orders.lifecycle import OrderStatus, QuoteStatus

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

QUOTE: dict[str, "_StrPromise"] = {
    QuoteStatus.OPEN: pgettext_lazy("quote", "Open"),
    QuoteStatus.ACCEPTED: pgettext_lazy("quote", "Accepted"),
    QuoteStatus.EXPIRED: pgettext_lazy("quote", "Expired"),
}
ORDER: dict[str, "_StrPromise"] = {
    OrderStatus.AWAITING_PAYMENT: pgettext_lazy("order", "Awaiting payment"),
    OrderStatus.PAID: pgettext_lazy("order", "Paid"),
    OrderStatus.PROVISIONING: pgettext_lazy("order", "Preparing"),
    OrderStatus.ACTIVE: pgettext_lazy("order", "Active"),
    OrderStatus.ENDED: pgettext_lazy("order", "Ended"),
    OrderStatus.EXPIRED: pgettext_lazy("order", "Expired"),
    OrderStatus.CANCELLED: pgettext_lazy("order", "Cancelled"),
    OrderStatus.FAILED: pgettext_lazy("order", "Failed"),
}
LEASE: dict[str, "_StrPromise"] = {
    LeaseStatus.RESERVED: pgettext_lazy("lease", "Reserved"),
    LeaseStatus.PREPARING: pgettext_lazy("lease", "Preparing"),
    LeaseStatus.TESTING: pgettext_lazy("lease", "Testing"),
    LeaseStatus.READY: pgettext_lazy("lease", "Ready"),
    LeaseStatus.DEGRADED: pgettext_lazy("lease", "Degraded"),
    LeaseStatus.SUSPENDED: pgettext_lazy("lease", "Paused"),
    LeaseStatus.ENDING: pgettext_lazy("lease", "Ending"),
    LeaseStatus.WIPING: pgettext_lazy("lease", "Wiping"),
    LeaseStatus.CLOSED: pgettext_lazy("lease", "Closed"),
    LeaseStatus.FAILED: pgettext_lazy("lease", "Not delivered"),
}
REFUND: dict[str, "_StrPromise"] = {
    RefundStatus.ADDRESS_NEEDED: pgettext_lazy("refund", "Address needed"),
    RefundStatus.DUE: pgettext_lazy("refund", "Due"),
    RefundStatus.SENT: pgettext_lazy("refund", "Sent"),
    RefundStatus.VERIFIED: pgettext_lazy("refund", "Confirmed"),
    RefundStatus.FAILED: pgettext_lazy("refund", "Failed"),
}
DOCUMENT: dict[str, "_StrPromise"] = {
    Invoice.Kind.INVOICE: _("Invoice"),
    Invoice.Kind.RECEIPT: _("Receipt"),
    Invoice.Kind.CANCELLATION: _("Cancellation of an invoice"),
    Invoice.Kind.CREDIT_NOTE: _("Credit note"),
}
