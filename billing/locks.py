"""Every lock of this app, by name. A payment is always recomputed under the lock on its order (docs/locking.md)."""

from datetime import datetime

from billing.models import DepositAddress, PaymentView
from core.locks import mark
from orders.locks import order_for_update
from orders.models import Order


def payment_for_update(order_id: str) -> tuple[Order, PaymentView] | None:
    """The order and, under its lock, the view of its payment; None where there is no such payment."""
    order = order_for_update(order_id)
    if order is None:
        return None
    view = (
        PaymentView.objects.select_for_update(of=("self",))
        .select_related("payment", "payment__address")
        .filter(payment__order=order)
        .first()
    )
    return (order, mark(view)) if view is not None else None


def next_clean_address(*, network: str, fingerprint: str, checked_since: datetime) -> DepositAddress | None:
    """The next pooled address with a fresh clean check on `network` and no bad check anywhere. SKIP LOCKED:
    two checkouts never wait for each other and never get the same one."""
    return (
        DepositAddress.objects.select_for_update(of=("self",), skip_locked=True)
        .filter(
            xpub_fingerprint=fingerprint,
            status=DepositAddress.Status.POOLED,
            checks__network=network,
            checks__is_clean=True,
            checks__checked_at__gte=checked_since,
        )
        .exclude(checks__is_clean=False)
        .order_by("index")
        .first()
    )
