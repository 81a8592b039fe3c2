"""The order follows its lease: preparing -> provisioning, ready -> active, closed -> ended, failed -> failed."""

from typing import Any

from core import decisions
from core.errors import NotFound
from core.models import Event
from fleet import selectors as fleet
from fleet.models import Lease
from orders import locks
from orders.lifecycle import ORDER, OrderStatus
from orders.models import Order
from orders.services import notify


def follow(event: Event) -> None:
    """Apply one lease event to its order. Locks the order. Safe to repeat; a cancelled order stays cancelled."""
    order = locks.order_for_update(event.order_ref)
    lease = fleet.lease_of_order(event.order_ref)
    if order is None or lease is None:
        raise NotFound(code="not_found", message="The lease event has no order.")
    _STEPS[event.name](order, lease, event.payload)


def _advance(order: Order, to: str) -> bool:
    if not ORDER.can(order.status, to):
        return False
    ORDER.advance(order, to, order_ref=order.public_id)
    return True


def _preparing(order: Order, lease: Lease, payload: dict[str, Any]) -> None:
    _advance(order, OrderStatus.PROVISIONING)


def _ready(order: Order, lease: Lease, payload: dict[str, Any]) -> None:
    if _advance(order, OrderStatus.ACTIVE):
        notify.ready(order, lease)


def _late(order: Order, lease: Lease, payload: dict[str, Any]) -> None:
    if order.status in (OrderStatus.PAID, OrderStatus.PROVISIONING):
        notify.late(order, lease)


def _suspended(order: Order, lease: Lease, payload: dict[str, Any]) -> None:
    notify.suspended(order, lease)


def _resumed(order: Order, lease: Lease, payload: dict[str, Any]) -> None:
    notify.resumed(order, lease)


def _ending(order: Order, lease: Lease, payload: dict[str, Any]) -> None:
    # Money that a reorg took back and that did not return in time: the order failed, not ended.
    if lease.end_reason == "reversed":
        _fail(order, lease)


def _closed(order: Order, lease: Lease, payload: dict[str, Any]) -> None:
    if _advance(order, OrderStatus.ENDED):
        notify.ended(order, lease)


def _failed(order: Order, lease: Lease, payload: dict[str, Any]) -> None:
    _fail(order, lease)


def _fail(order: Order, lease: Lease) -> None:
    if not _advance(order, OrderStatus.FAILED):
        return
    decisions.open_decision(
        kind="refund_due",
        subject=f"order:{order.pk}",
        order_ref=order.public_id,
        facts={
            "why": lease.end_reason or "delivery failed",
            "total": f"{order.quote.total:.2f}",
            "currency": order.quote.currency,
        },
    )
    notify.failed(order)


_STEPS = {
    "lease.preparing": _preparing,
    "lease.ready": _ready,
    "lease.late": _late,
    "lease.suspended": _suspended,
    "lease.resumed": _resumed,
    "lease.ending": _ending,
    "lease.closed": _closed,
    "lease.failed": _failed,
}

EVENTS = tuple(_STEPS)
