"""Issue documents: a number without gaps, data that are frozen, and a hint to the worker that makes the PDF."""

from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import transaction

from billing import locks
from billing.invoice_data import Buyer, buyer_of, invoice_data, reference_to, seller
from billing.invoices.words import word
from billing.models import Invoice, PaymentView, Refund
from billing.money_back import worth_given_back
from core import clock, decisions, outbox, restored
from core.money import quantize
from orders import ids
from orders.locks import order_for_update
from orders.models import Order

Kind = Invoice.Kind
SERIES = {Kind.INVOICE: "INV", Kind.RECEIPT: "RCP", Kind.CANCELLATION: "CAN", Kind.CREDIT_NOTE: "CRN"}
Reason = Refund.Reason
# Money that was never part of an invoice changes none when it goes back.
_NOT_INVOICED = {
    Reason.EXCESS,
    Reason.PARTIAL,
    Reason.LATE_MONEY,
    Reason.WRONG_ASSET,
    Reason.WRONG_NETWORK,
    Reason.PAID_TWICE,
    Reason.SCREENING,
}
_REASON_WORDS = {
    Reason.CANCELLED,
    Reason.NOT_DELIVERED,
    Reason.LATE_DELIVERY,
    Reason.EARLY_END,
    Reason.EXTENSION_FAILED,
    Reason.CREDIT,
}


def issue_for_paid(order_id: str) -> list[Invoice]:
    """Invoice and receipt of a paid order (an extension is an order too), once; what is there is left alone.

    Locks the order, then the series INV and RCP. Must run in a transaction. Empty where the order is unknown or
    not paid, and where a true installation has no imprint: a decision says so, and a sweep comes back to it.
    """
    order = order_for_update(order_id)
    if order is None or order.paid_at is None:
        return []
    if order.invoices.exists():
        return list(order.invoices.filter(key__in=["invoice", "receipt"]).order_by("id"))
    sold_by = seller()
    if sold_by is None:
        decisions.open_decision(kind="seller_missing", subject="seller", facts={"setting": "IMPRINT_FILE"})
        return []
    data = invoice_data(order, sold_by=sold_by, buyer=buyer_of(order))
    invoice = issue(order, kind=Kind.INVOICE, key="invoice", data=data)
    receipt = issue(order, kind=Kind.RECEIPT, key="receipt", data=_receipt(order, invoice))
    return [invoice, receipt]


def issue_credit_note(refund: Refund) -> Invoice | None:
    """The credit note of a refund that was verified, once. None where no invoice stands or nothing of it is left.

    Locks the order, then the series CRN. Must run in a transaction; may be repeated.
    """
    order = order_for_update(refund.order.public_id)
    if order is None or refund.reason in _NOT_INVOICED:
        return None
    key = f"credit_note:{refund.pk}"
    there = order.invoices.filter(key=key).first()
    invoice = standing_invoice(order)
    if there is not None or invoice is None:
        return there
    view = PaymentView.objects.select_related("payment", "payment__address").get(payment=refund.payment_id)
    # As a sum over all refunds, so that many small ones neither gain nor lose a cent each.
    amount = min(worth_given_back(view), Decimal(invoice.data["total"])) + credited(order)
    if amount <= 0:
        return None
    return issue(order, kind=Kind.CREDIT_NOTE, key=key, data=_credit(invoice, refund.reason, amount, refund))


def standing_invoice(order: Order) -> Invoice | None:
    """The invoice that holds: the newest that no other document cancels."""
    return order.invoices.filter(kind=Kind.INVOICE, cancelled_by__isnull=True).order_by("-id").first()


def credited(order: Order) -> Decimal:
    """What credit notes of this order took back; not positive."""
    notes = order.invoices.filter(kind=Kind.CREDIT_NOTE).values_list("data", flat=True)
    return sum((Decimal(data["total"]) for data in notes), Decimal("0.00"))


def issue(
    order: Order, *, kind: Invoice.Kind, key: str, data: dict[str, Any], cancels: Invoice | None = None
) -> Invoice:
    """Give the next number of the year's series and store. Must run in a transaction that locks the order.

    Locks the series to the end of the transaction: a number is used or given back, never lost.
    """
    moment = clock.now()
    series = locks.invoice_series_for_update(series_name(kind, moment))
    invoice = Invoice.objects.create(
        series=series.name,
        number=series.next_number,
        kind=kind,
        order=order,
        key=key,
        token=ids.page_token(),
        language=order.contact_language,
        data=data,
        cancels=cancels,
        issued_at=moment,
        next_at=clock.system_now(),
    )
    series.next_number += 1
    series.save(update_fields=["next_number"])
    transaction.on_commit(lambda: outbox.hint("billing.render_invoice", invoice.pk))
    return invoice


def series_name(kind: Invoice.Kind, moment: datetime) -> str:
    """One series per kind and calendar year in UTC. For the rest of a year in which a backup was restored another one:
    its last numbers may stand on documents that the database no longer knows, and no number is given twice."""
    restoration = restored.latest()
    if restoration is None or restoration.restored_at.year != moment.year:
        return f"{SERIES[kind]}-{moment.year}"
    return f"{SERIES[kind]}-{moment.year}-R{restoration.restored_at:%m%d%H%M}"


def invoice_again(*, buyer: Buyer, replaces: Invoice) -> dict[str, Any]:
    """The data of `replaces` with another buyer: all else is as it was issued."""
    who = {"name": buyer.name, "company": buyer.company, "address": buyer.address}
    return {
        **replaces.data,
        "buyer": replaces.data["buyer"] | who,
        "refers_to": reference_to(str(replaces), replaces.issued_at, "replaces"),
    }


def _receipt(order: Order, invoice: Invoice) -> dict[str, Any]:
    total = invoice.data["total"]
    label = word(order.contact_language, "received_for", number=str(invoice))
    return {**invoice.data, "lines": [_single(label, total)], "taxes": []}


def _credit(invoice: Invoice, reason: str, amount: Decimal, refund: Refund) -> dict[str, Any]:
    """Tax is taken back at the rate of the invoice, contained in the amount."""
    name = reason if reason in _REASON_WORDS else "other"
    label = word(invoice.language, "refund_of", reason=word(invoice.language, f"reason_{name}"))
    taxes = []
    for row in invoice.data["taxes"]:
        net = quantize(amount / (1 + Decimal(row["rate"])))
        taxes.append(row | {"included": True, "net": f"{-net:.2f}", "tax": f"{net - amount:.2f}"})
    tax = sum((Decimal(row["tax"]) for row in taxes), Decimal("0.00"))
    return {
        **invoice.data,
        "lines": [_single(label, f"{-amount:.2f}")],
        "taxes": taxes,
        "subtotal": f"{-amount - tax:.2f}",
        "tax": f"{tax:.2f}",
        "total": f"{-amount:.2f}",
        "payment": None,
        "refers_to": reference_to(str(invoice), invoice.issued_at, "refers_to"),
        "reason": reason,
        "refund": refund.pk,
    }


def _single(label: str, amount: str) -> dict[str, str]:
    return {"label": label, "detail": "", "quantity": "", "unit_amount": "", "amount": amount}
