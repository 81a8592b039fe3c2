"""Reads of issued documents for pages. The bytes are loaded only where they are served."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from billing.models import Invoice


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


def documents_of_rows(rows: Iterable[Any]) -> tuple[Issued, ...]:
    """All documents of an order, oldest first, from rows with `is_cancelled` (billing.order_rows). No query."""
    return tuple(
        Issued(
            kind=row.kind,
            number=str(row),
            token=row.token,
            issued_at=row.issued_at,
            total=Decimal(row.data["total"]),
            currency=row.data["currency"],
            ready=row.rendered_at is not None,
            cancelled=row.is_cancelled is not None,
        )
        for row in rows
    )


def document_by_token(*, order_token: str, token: str) -> Invoice | None:
    """The document with its PDF, or None: there is none, or it is another order's. One query."""
    return Invoice.objects.filter(token=token, order__token=order_token).first()
