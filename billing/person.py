"""What billing keeps of a buyer: payments, money that went back, documents; and what of it is not settled yet."""

from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from billing.lifecycle import RefundStatus
from billing.models import CardEvent, CardFact, CardSession, Invoice, PaymentRequest, Refund, Transfer
from core.models import AuditEntry
from core.person import Kept, Person
from orders.models import Order


def card_events_of(person: Person) -> QuerySet[CardEvent]:
    """What the card processor told of the buyer's sessions and payments."""
    sessions = CardSession.objects.filter(payment__order__in=person.order_ids).exclude(session_id="")
    facts = CardFact.objects.filter(payment__order__in=person.order_ids).exclude(payment_intent="")
    return CardEvent.objects.filter(
        Q(session_id__in=sessions.values("session_id")) | Q(payment_intent__in=facts.values("payment_intent"))
    )


def audit_of(person: Person) -> QuerySet[AuditEntry]:
    """What staff did about payments, refunds and documents of the orders."""
    payments = PaymentRequest.objects.filter(order__in=person.order_ids).values_list("pk", flat=True)
    refunds = Refund.objects.filter(order__in=person.order_ids).values_list("pk", flat=True)
    documents = Invoice.objects.filter(order__in=person.order_ids).only("series", "number")
    subjects = [f"payment:{pk}" for pk in payments] + [f"refund:{pk}" for pk in refunds]
    return AuditEntry.objects.filter(subject__in=[*subjects, *(f"invoice:{row}" for row in documents)])


def kept(person: Person) -> Kept:
    mine = {"order__in": person.order_ids}
    payments = PaymentRequest.objects.filter(**mine).select_related("view", "address", "order")
    return {
        "payments": [_payment(row) for row in payments.order_by("pk")],
        "refunds": list(
            Refund.objects.filter(**mine)
            .order_by("pk")
            .values(
                "order__public_id",
                "reason",
                "rail",
                "network",
                "asset",
                "units",
                "decimals",
                "status",
                "destination",
                "tx_hash",
                "card_refund_id",
                "note",
                "opened_at",
                "sent_at",
                "verified_at",
            )
        ),
        "documents": [
            {"number": str(row), "kind": row.kind, "issued_at": row.issued_at, "data": row.data}
            for row in Invoice.objects.filter(**mine).defer("pdf").order_by("pk")
        ],
        "card_payments": list(
            card_events_of(person).order_by("pk").values("event_id", "kind", "body", "received_at")
        ),
    }


def _payment(row: PaymentRequest) -> dict[str, object]:
    view = getattr(row, "view", None)
    transfers = Transfer.objects.filter(payment=row).order_by("pk")
    return {
        "order": row.order.public_id,
        "rail": row.rail,
        "network": row.network,
        "asset": row.asset,
        "deposit_address": row.address.address if row.address is not None else "",
        "due_units": row.due_units,
        "amount": row.amount,
        "currency": row.currency,
        "status": view.status if view is not None else "",
        "flags": view.flags if view is not None else [],
        "received_units": view.received_units if view is not None else 0,
        "settled_at": view.settled_at if view is not None else None,
        "transfers": list(transfers.values("tx_hash", "sender", "units", "block_time")),
        "claims": list(row.claims.order_by("pk").values("transaction_hash", "at")),
    }


def documents_of(person: Person) -> QuerySet[Invoice]:
    """Issued documents with their PDFs, for the export."""
    return Invoice.objects.filter(order__in=person.order_ids, pdf__isnull=False).order_by("pk")


def open_matters(person: Person) -> list[str]:
    refunds = Refund.objects.filter(order__in=person.order_ids).exclude(status=RefundStatus.VERIFIED)
    found = [
        _("A refund of order %(order)s has not arrived yet.") % {"order": row.order.public_id}
        for row in refunds.select_related("order").order_by("pk")
    ]
    # Their documents are still to be made of the buyer's name.
    bare = Order.objects.filter(pk__in=person.order_ids, paid_at__isnull=False, invoices__isnull=True)
    found += [
        _("Order %(order)s has no invoice yet.") % {"order": row.public_id}
        for row in bare.filter(erased_at=None).order_by("pk")
    ]
    return found
