"""Cancel an order before its term starts."""

from django.db import connection
from django.utils.translation import gettext_lazy as _

from core import audit
from core.errors import Conflict, NotFound
from fleet.locks import lease_of_order_for_update
from fleet.services.end import end_lease
from fleet.services.extend import drop_extension
from fleet.services.release import release
from orders import locks
from orders.lifecycle import ORDER, OrderStatus
from orders.models import Order
from orders.services import notify


def cancel(*, order_id: str, actor: str, reason: str = "") -> Order:
    """Cancel; free before the payment, all money back before the start (billing hears `order.cancelled`).

    An extension may be cancelled until it is part of the term. Locks the order, the lease or the hold. Must run in a
    transaction. Raises Conflict(already_started) once access has opened, Conflict(already_done) on an order that is
    over.
    """
    if not connection.in_atomic_block:
        raise RuntimeError("A cancellation needs a transaction.")
    order = locks.order_for_update(order_id)
    if order is None:
        raise NotFound(code="not_found", message=_("There is no such order."))
    if order.extends_id is not None:
        return _cancel_extension(order, actor=actor, reason=reason)
    lease = lease_of_order_for_update(order.public_id)
    # The lease knows first; the order hears of it by an event.
    if order.status == OrderStatus.ACTIVE or (lease is not None and lease.ready_at is not None):
        raise Conflict(
            code="already_started",
            message=_("The term has started. You can end it early instead."),
        )
    _require_cancellable(order)
    paid = order.status != OrderStatus.AWAITING_PAYMENT
    if lease is None:
        release(ref=order.public_id)
    else:
        end_lease(lease_id=lease.pk, reason="cancelled")
    return _cancel(order, paid=paid, actor=actor, reason=reason)


def _cancel_extension(order: Order, *, actor: str, reason: str) -> Order:
    """Free before the payment, all money back until it is part of the term. Locks the lease, then its hold."""
    if order.status != OrderStatus.ACTIVE:
        _require_cancellable(order)
    paid = order.status != OrderStatus.AWAITING_PAYMENT
    # The lease knows first here too: the worker may have joined it, and the order not have heard of it yet.
    if order.status == OrderStatus.ACTIVE or not drop_extension(ref=order.public_id):
        raise Conflict(
            code="already_started",
            message=_("This extension is part of your term already. You can end the lease early instead."),
        )
    return _cancel(order, paid=paid, actor=actor, reason=reason)


def _require_cancellable(order: Order) -> None:
    if not ORDER.can(order.status, OrderStatus.CANCELLED):
        raise Conflict(code="already_done", message=_("This is already done."))


def _cancel(order: Order, *, paid: bool, actor: str, reason: str) -> Order:
    before = {"status": order.status, "paid": paid}
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
            before=before,
            after={"status": order.status},
        )
    notify.cancelled(order, paid=paid)
    return order
