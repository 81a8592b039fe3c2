"""The order follows its payment: settled, confirmed unpaid, taken back by a reorg."""

from datetime import datetime

from core.models import Event
from fleet.services.suspend import resume, suspend
from orders import locks
from orders.services import expire, follow_extension, pay


def follow(event: Event) -> None:
    """Apply one payment event to its order and lease. Locks the order, then hold or lease. Safe to repeat.

    One handler for all three, so that they are applied in the order in which they happened.
    """
    if event.name == "payment.settled":
        pay.settle(order_id=event.order_ref, settled_at=datetime.fromisoformat(event.payload["settled_at"]))
        _resume(event.order_ref)
    elif event.name == "payment.expired":
        expire.expire_unpaid(order_id=event.order_ref)
    elif event.name == "payment.reversed":
        _reverse(event.order_ref)
    else:
        raise ValueError(f"{event.name} is not for orders.")


def _resume(order_id: str) -> None:
    """The lease goes on once no money of it, or of an extension that is part of its term, is missing any more."""
    order = locks.order_for_update(order_id)
    first = order.extends or order if order is not None else None
    if first is not None and not follow_extension.any_reversed(first):
        resume(order_ref=first.public_id)


def _reverse(order_id: str) -> None:
    order = locks.order_for_update(order_id)
    if order is None or order.extends is None:
        suspend(order_ref=order_id)
    elif not follow_extension.reverse(order):
        suspend(order_ref=order.extends.public_id)
