"""Cancel an order before its term starts."""

from django.db import connection
from django.utils.translation import gettext_lazy as _

from core import audit
from core.errors import Conflict, NotFound
from fleet.locks import lease_of_order_for_update
from fleet.services.end import end_lease
from fleet.services.release import release
from orders import locks
from orders.lifecycle import ORDER, OrderStatus
from orders.models import Order
from orders.services import notify


def cancel(*, order_id: str, actor: str, reason: str = "") -> Order:
    """Cancel; free before the payment, all money back before the start (billing hears `order.cancelled`).

    Locks the order, the lease or the hold. Must run in a transaction. Raises Conflict(already_started) once access
    has opened, Conflict(already_done) on an order that is over.
    """
    if not connection.in_atomic_block:
        raise RuntimeError("A cancellation needs a transaction.")
    order = locks.order_for_update(order_id)
    if order is None:
        raise NotFound(code="not_found", message=_("There is no such order."))
    lease = lease_of_order_for_update(order.public_id)
    # The lease knows first; the order hears of it by an event.
    if order.status == OrderStatus.ACTIVE or (lease is not None and lease.ready_at is not None):
        raise Conflict(
            code="already_started",
            message=_("The term has started. You can end it early instead."),
        )
    if not ORDER.can(order.status, OrderStatus.CANCELLED):
        raise Conflict(code="already_done", message=_("This is already done."))
    paid = order.status != OrderStatus.AWAITING_PAYMENT
    if lease is None:
        release(ref=order.public_id)
    else:
        end_lease(lease_id=lease.pk, reason="cancelled")
    ORDER.advance(
        order,
        OrderStatus.CANCELLED,
        order_ref=order.public_id,
        payload={"paid": paid, "by": "buyer" if actor == "buyer" else "staff"},
    )
    if actor != "buyer":
        audit.record(
            actor=actor,
            action="order.cancel",
            subject=f"order:{order.pk}",
            reason=reason,
            before={"paid": paid},
        )
    notify.cancelled(order, paid=paid)
    return order
