"""The order of an extension follows its payment and the lease that it makes longer."""

from datetime import datetime

from core.models import Event
from fleet.models import Lease
from fleet.services.extend import commit_extension, undo_extension
from orders import locks
from orders.lifecycle import ORDER, OrderStatus
from orders.models import Order
from orders.services import notify_extension

# Why an extension failed: it did not become part of the term; its money was taken back; the lease ended for the
# money of another order before the time of the extension had begun. All but "reversed" leave a full refund due.
NOT_JOINED = "not_joined"
REVERSED = "reversed"
LEASE_REVERSED = "lease_reversed"


def settle(order: Order) -> None:
    """Its money is final: the time stays reserved until the worker has joined it. The order is locked.

    Where that cannot be, because the cards were let go or the old end has come, it fails at once and the old end
    stands. Safe to repeat: a paid order stays as it is.
    """
    kept = commit_extension(ref=order.public_id)
    extends = order.extends.public_id if order.extends else ""
    ORDER.advance(order, OrderStatus.PAID, order_ref=order.public_id, payload={"extends": extends})
    if not kept:
        _fail(order, NOT_JOINED)


def joined(first: Order, order_id: str, ends_at: datetime) -> None:
    """`lease.extended`: the extension is part of the term. Locks its order after the first one."""
    order = locks.order_for_update(order_id)
    if order is None or order.extends_id != first.pk or not ORDER.can(order.status, OrderStatus.ACTIVE):
        return
    ORDER.advance(
        order, OrderStatus.ACTIVE, order_ref=order.public_id, payload={"ends_at": ends_at.isoformat()}
    )
    notify_extension.joined(order, ends_at=ends_at)


def lease_ending(first: Order, lease: Lease) -> None:
    """The lease ends: what waits for money is cancelled, what is paid and not part of the term has failed.

    Where the lease ends because money did not return, an extension whose time has not begun was not delivered either.
    """
    begun_until = lease.ending_at
    for order in _locked_extensions(first):
        if order.status == OrderStatus.AWAITING_PAYMENT:
            ORDER.advance(
                order,
                OrderStatus.CANCELLED,
                order_ref=order.public_id,
                payload={"paid": False, "by": "system", "reason": "lease_ended"},
            )
        elif order.status == OrderStatus.PAID:
            _fail(order, REVERSED if is_reversed(order) else NOT_JOINED)
        elif order.status == OrderStatus.ACTIVE and is_reversed(order):
            _fail(order, REVERSED)
        elif (
            order.status == OrderStatus.ACTIVE
            and lease.end_reason == REVERSED
            and begun_until is not None
            and begun_until < begins_at(first, lease, order)
        ):
            _fail(order, LEASE_REVERSED)


def lease_closed(first: Order) -> None:
    """The lease is wiped: its extensions end with it."""
    for order in _locked_extensions(first):
        if order.status == OrderStatus.ACTIVE:
            ORDER.advance(order, OrderStatus.ENDED, order_ref=order.public_id)


def reverse(order: Order) -> bool:
    """A reorg took its settled money back. The order is locked. True where that is all that has to be done.

    Before its time begins the extension is undone and the old end stands; money that returns after all is due back.
    False where the lease itself must be suspended: the time has begun, or another extension stands behind it.
    """
    if order.status not in (OrderStatus.PAID, OrderStatus.ACTIVE):
        return True
    if not undo_extension(ref=order.public_id):
        return False
    _fail(order, REVERSED)
    return True


def begins_at(first: Order, lease: Lease, order: Order) -> datetime:
    """From when on the time of a joined extension runs."""
    hold = lease.extension_holds.filter(ref=order.public_id).first()
    if hold is None or hold.starts_at is None:
        raise ValueError(f"{order.public_id} is no extension of {first.public_id}.")
    return hold.starts_at


def is_reversed(order: Order) -> bool:
    """Whether the chain has taken back the settled money of this order, by the last that the log says of it."""
    last = (
        Event.objects.filter(order_ref=order.public_id, name__in=["payment.settled", "payment.reversed"])
        .order_by("-id")
        .first()
    )
    return last is not None and last.name == "payment.reversed"


def any_reversed(first: Order) -> bool:
    """Whether money of the order or of one of its extensions that are part of the term is taken back."""
    more = first.extensions.filter(status__in=[OrderStatus.PAID, OrderStatus.ACTIVE])
    return is_reversed(first) or any(is_reversed(order) for order in more)


def _locked_extensions(first: Order) -> list[Order]:
    """Extensions that are not over, oldest first, each locked after the first order."""
    ids = first.extensions.filter(
        status__in=[OrderStatus.AWAITING_PAYMENT, OrderStatus.PAID, OrderStatus.ACTIVE]
    ).order_by("pk")
    found = (locks.order_for_update(order_id) for order_id in ids.values_list("public_id", flat=True))
    return [order for order in found if order is not None]


def _fail(order: Order, reason: str) -> None:
    ORDER.advance(order, OrderStatus.FAILED, order_ref=order.public_id, payload={"reason": reason})
    notify_extension.failed(order, reason=reason)
