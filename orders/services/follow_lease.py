"""The order follows its lease: preparing -> provisioning, ready -> active, closed -> ended, failed -> failed."""

from datetime import datetime
from typing import Any

from core.errors import NotFound
from core.models import Event
from fleet import selectors as fleet
from fleet.models import Lease
from orders import locks
from orders.lifecycle import ORDER, OrderStatus
from orders.models import Order
from orders.services import follow_extension, notify, remind, tell_of_cards

# The end_reason of a lease whose money did not come back (fleet.services.deadlines).
REVERSED = "reversed"


def follow(event: Event) -> None:
    """Apply one lease event to its order. Locks the order. Safe to repeat; a cancelled order stays cancelled."""
    order = locks.order_for_update(event.order_ref)
    lease = fleet.lease_of_order(event.order_ref)
    if order is None or lease is None:
        raise NotFound(code="not_found", message="The lease event has no order.")
    _STEPS[event.name](order, lease, event.payload)


def _advance(order: Order, to: str, *, reason: str = "") -> bool:
    if not ORDER.can(order.status, to):
        return False
    ORDER.advance(order, to, order_ref=order.public_id, payload={"reason": reason} if reason else None)
    return True


def _preparing(order: Order, lease: Lease, payload: dict[str, Any]) -> None:
    _advance(order, OrderStatus.PROVISIONING)


def _ready(order: Order, lease: Lease, payload: dict[str, Any]) -> None:
    # Where the event of the preparation was parked, the steps are made up for: the lease is what it is.
    _advance(order, OrderStatus.PROVISIONING)
    if _advance(order, OrderStatus.ACTIVE):
        notify.ready(order, lease)


def _late(order: Order, lease: Lease, payload: dict[str, Any]) -> None:
    if order.status in (OrderStatus.PAID, OrderStatus.PROVISIONING):
        notify.late(order, lease, until=datetime.fromisoformat(str(payload["until"])))


def _suspended(order: Order, lease: Lease, payload: dict[str, Any]) -> None:
    notify.suspended(order, lease)


def _resumed(order: Order, lease: Lease, payload: dict[str, Any]) -> None:
    notify.resumed(order, lease)


def _ending(order: Order, lease: Lease, payload: dict[str, Any]) -> None:
    follow_extension.lease_ending(order, lease)
    # Money that a reorg took back and that did not return in time: the order failed, and nothing is due back. Where
    # it was the money of an extension, the order itself was delivered.
    by_extension = order.status == OrderStatus.ACTIVE and not follow_extension.is_reversed(order)
    if (
        lease.end_reason == REVERSED
        and not by_extension
        and _advance(order, OrderStatus.FAILED, reason=REVERSED)
    ):
        notify.reversed_for_good(order)


def _reminder(order: Order, lease: Lease, payload: dict[str, Any]) -> None:
    remind.reminder(order, lease, kind=str(payload["kind"]), ends_at=str(payload["ends_at"]))


def _export_window(order: Order, lease: Lease, payload: dict[str, Any]) -> None:
    remind.export_window(order, lease, ends_at=str(payload["ends_at"]))


def _extended(order: Order, lease: Lease, payload: dict[str, Any]) -> None:
    follow_extension.joined(order, str(payload["order"]), datetime.fromisoformat(str(payload["ends_at"])))


def _closed(order: Order, lease: Lease, payload: dict[str, Any]) -> None:
    follow_extension.lease_closed(order)
    if lease.ready_at is None:
        # Ended by staff before access ever opened: nothing was delivered.
        _fail(order, lease)
    elif _advance(order, OrderStatus.ENDED):
        notify.ended(order, lease)


def _failed(order: Order, lease: Lease, payload: dict[str, Any]) -> None:
    _fail(order, lease)


def _fail(order: Order, lease: Lease) -> None:
    # Billing hears of it and gives the money back.
    if _advance(order, OrderStatus.FAILED, reason="not_delivered"):
        notify.failed(order)


_STEPS = {
    "lease.preparing": _preparing,
    "lease.ready": _ready,
    "lease.late": _late,
    "lease.degraded": tell_of_cards.degraded,
    "lease.repaired": tell_of_cards.repaired,
    "lease.moved": tell_of_cards.moved,
    "lease.suspended": _suspended,
    "lease.resumed": _resumed,
    "lease.reminder": _reminder,
    "lease.export_window": _export_window,
    "lease.extended": _extended,
    "lease.ending": _ending,
    "lease.closed": _closed,
    "lease.failed": _failed,
}

EVENTS = tuple(_STEPS)
