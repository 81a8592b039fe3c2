"""Money that settled on time: the order is paid and its hold becomes a lease."""

from datetime import datetime
from typing import Any

from core import decisions, events
from core.errors import NotFound
from fleet.keys import PublicKey
from fleet.selectors import lease_of_order
from fleet.services.commit import LeaseRequest, commit
from orders import locks
from orders.lifecycle import ORDER, OrderStatus
from orders.models import Order
from orders.services import follow_extension, notify


def settle(*, order_id: str, settled_at: datetime) -> None:
    """Apply a settled payment. Locks the order, then the hold. Safe to repeat: a paid order stays as it is.

    Where the cards were let go meanwhile the order is expired, `order.no_capacity` is told and staff decide;
    money for an order that is over goes back by billing's rules. Nothing is provisioned blindly. An extension goes
    its own way (follow_extension): its time stays reserved until the worker has joined it to the lease.
    """
    order = locks.order_for_update(order_id)
    if order is None:
        raise NotFound(code="not_found", message="There is no such order.")
    if order.status == OrderStatus.FAILED and _was_reversed(order):
        # Delivered for a while, taken back by its chain, and returned too late: what of it goes back is for staff.
        _decide(order, "paid_after_cancel")
        return
    if order.status not in (OrderStatus.AWAITING_PAYMENT, OrderStatus.EXPIRED):
        return
    if order.extends_id is not None:
        follow_extension.settle(order)
        return
    lease = commit(_lease_request(order, settled_at))
    if lease is None:
        if order.status == OrderStatus.AWAITING_PAYMENT:
            ORDER.advance(order, OrderStatus.EXPIRED, order_ref=order.public_id)
        events.emit(name="order.no_capacity", subject=f"order:{order.pk}", order_ref=order.public_id)
        # Billing hears of it, looks for another lot and tells the buyer which of the two it is.
        _decide(order, "order_no_capacity")
        return
    ORDER.advance(
        order, OrderStatus.PAID, order_ref=order.public_id, payload={"ready_by": lease.ready_by.isoformat()}
    )
    notify.paid(order, ready_by=lease.ready_by)


def _was_reversed(order: Order) -> bool:
    lease = lease_of_order(order.public_id)
    return lease is not None and lease.end_reason == "reversed"


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
