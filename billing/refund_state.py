"""Reads of refunds for the API: what goes back, and how far it is."""

from collections.abc import Iterable
from dataclasses import dataclass

from billing.models import Refund
from billing.services.refund import amount_of
from orders.models import Order


@dataclass(frozen=True)
class RefundState:
    """`amount` is of the asset, as text; `transaction_hash` is empty until it was sent, and for bank cards."""

    status: str
    amount: str
    asset: str
    network: str
    reason: str
    transaction_hash: str


def refunds_of(order: Order) -> list[RefundState]:
    """The refunds of an order, oldest first. One query."""
    return refunds_by_order([order.pk]).get(order.pk, [])


def refunds_by_order(order_ids: Iterable[int]) -> dict[int, list[RefundState]]:
    """The same for several orders, by their keys. One query."""
    found: dict[int, list[RefundState]] = {}
    for row in Refund.objects.filter(order__in=order_ids):
        found.setdefault(row.order_id, []).append(
            RefundState(
                status=row.status,
                amount=f"{amount_of(row):f}",
                asset=row.asset,
                network=row.network,
                reason=row.reason,
                transaction_hash=row.tx_hash,
            )
        )
    return found
