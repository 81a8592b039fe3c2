"""Reads of issued documents for pages. The bytes are loaded only where they are served."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from billing.models import Invoice
from orders.models import Order


@dataclass(frozen=True)
class Issued:
    """One document in a list; `ready` means that its PDF is there."""

    kind: str
    number: str
    token: str
    issued_at: datetime
    total: Decimal
    currency: str
    ready: bool
    cancelled: bool


def documents_of(order: Order) -> tuple[Issued, ...]:
    """All documents of an order, oldest first. One query."""
    rows = (
        Invoice.objects.filter(order=order)
        .select_related("cancelled_by")
        .only("kind", "series", "number", "token", "issued_at", "data", "rendered_at", "cancelled_by__id")
        .order_by("id")
    )
    return tuple(
        Issued(
            kind=row.kind,
            number=str(row),
            token=row.token,
            issued_at=row.issued_at,
            total=Decimal(row.data["total"]),
            currency=row.data["currency"],
            ready=row.rendered_at is not None,
            cancelled=hasattr(row, "cancelled_by"),
        )
        for row in rows
    )


def document_by_token(*, order_token: str, token: str) -> Invoice | None:
    """The document with its PDF, or None: there is none, or it is another order's. One query."""
    return Invoice.objects.filter(token=token, order__token=order_token).first()
