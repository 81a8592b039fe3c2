"""Money came too late, or the cards had gone: a lot is kept again for a while and the buyer chooses."""

from datetime import datetime

from django.db import connection

from core.locks import is_locked
from fleet.services.release import release
from orders.models import Order
from orders.services import notify


def offer_again(order: Order, *, until: datetime) -> None:
    """The cards of this locked order are held again until `until`: note it and tell the buyer of both choices."""
    _require_lock(order)
    order.offered_until = until
    order.save(update_fields=["offered_until"])
    notify.offered(order, until=until)


def withdraw_offer(order: Order) -> bool:
    """The offer is over, by the buyer's word or by its time: the cards go back on sale. Locks the hold.

    True if there was one; safe to repeat.
    """
    _require_lock(order)
    if order.offered_until is None:
        return False
    release(ref=order.public_id)
    order.offered_until = None
    order.save(update_fields=["offered_until"])
    return True


def _require_lock(order: Order) -> None:
    if not connection.in_atomic_block or not is_locked(order):
        raise RuntimeError(f"Order {order.public_id} must be locked before its offer changes.")
