"""Money that settled on time: the order is paid and its hold becomes a lease."""

from datetime import datetime
from typing import Any

from core import decisions, events
from core.errors import NotFound
from fleet.keys import PublicKey
from fleet.services.commit import LeaseRequest, commit
from orders import locks
from orders.lifecycle import ORDER, OrderStatus
from orders.models import Order
from orders.services import notify


def settle(*, order_id: str, settled_at: datetime) -> None:
    """Apply a settled payment. Locks the order, then the hold. Safe to repeat: a paid order stays as it is.

    Where the cards were let go meanwhile the order is expired, `order.no_capacity` is told and staff decide;
    money for a cancelled order becomes a decision as well. Nothing is provisioned blindly.
    """
    order = locks.order_for_update(order_id)
    if order is None:
        raise NotFound(code="not_found", message="There is no such order.")
    if order.status in (OrderStatus.CANCELLED, OrderStatus.FAILED):
        # One decision for one sum: where a refund is already being settled, this is the same money.
        if not decisions.is_open(kind="refund_due", subject=f"order:{order.pk}"):
            _decide(order, "paid_after_cancel")
        return
    if order.status not in (OrderStatus.AWAITING_PAYMENT, OrderStatus.EXPIRED):
        return
    lease = commit(_lease_request(order, settled_at))
    if lease is None:
        if order.status == OrderStatus.AWAITING_PAYMENT:
            ORDER.advance(order, OrderStatus.EXPIRED, order_ref=order.public_id)
        events.emit(name="order.no_capacity", subject=f"order:{order.pk}", order_ref=order.public_id)
        _decide(order, "order_no_capacity")
        notify.no_capacity(order)
        return
    ORDER.advance(
        order, OrderStatus.PAID, order_ref=order.public_id, payload={"ready_by": lease.ready_by.isoformat()}
    )
    notify.paid(order, ready_by=lease.ready_by)


def _lease_request(order: Order, settled_at: datetime) -> LeaseRequest:
    image = order.quote.image
    return LeaseRequest(
        ref=order.public_id,
        image=image.code,
        image_facts={"name": image.name, "stack": image.stack, "stack_version": image.stack_version},
        keys=[PublicKey(**key) for key in order.ssh_keys],
        settled_at=settled_at,
    )


def _decide(order: Order, kind: str) -> None:
    facts: dict[str, Any] = {"total": f"{order.quote.total:.2f}", "currency": order.quote.currency}
    decisions.open_decision(kind=kind, subject=f"order:{order.pk}", order_ref=order.public_id, facts=facts)
