"""The order follows its payment: settled, confirmed unpaid, taken back by a reorg."""

from datetime import datetime

from core.models import Event
from fleet.services.suspend import resume, suspend
from orders.services import expire, pay


def follow(event: Event) -> None:
    """Apply one payment event to its order and lease. Locks the order, then hold or lease. Safe to repeat.

    One handler for all three, so that they are applied in the order in which they happened.
    """
    if event.name == "payment.settled":
        pay.settle(order_id=event.order_ref, settled_at=datetime.fromisoformat(event.payload["settled_at"]))
        resume(order_ref=event.order_ref)
    elif event.name == "payment.expired":
        expire.expire_unpaid(order_id=event.order_ref)
    elif event.name == "payment.reversed":
        suspend(order_ref=event.order_ref)
    else:
        raise ValueError(f"{event.name} is not for orders.")
