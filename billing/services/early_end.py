"""Early end by the buyer: access closes now, and what comes back is told."""

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from billing.early_end_amount import EarlyEnd, early_end_amount
from core import clock
from core.errors import NotFound
from fleet.selectors import lease_of_order
from fleet.services import end_early as fleet
from orders.models import Order
from orders.services.extend import first_order


def early_end(*, order_id: str, actor: str) -> EarlyEnd:
    """End the lease of an order, or of the order that it extends, and say what falls due as a refund.

    Locks the first order, then the lease. Raises NotFound; Conflict: not_ready, lease_suspended, already_done,
    lease_over. The sum is computed from the facts of the end again when the refund is opened.
    """
    with transaction.atomic():
        first = first_order(order_id)
        lease = fleet.end_early(order_ref=first.public_id, actor=actor)
        return early_end_amount(first, lease, at=lease.ending_at or clock.now())


def early_end_preview(order: Order) -> EarlyEnd:
    """What would come back if the lease ended now. Reads only. Raises NotFound where no term runs."""
    first = order.extends or order
    lease = lease_of_order(first.public_id)
    if lease is None or lease.ends_at is None:
        raise NotFound(code="not_found", message=_("There is no lease for this order."))
    return early_end_amount(first, lease, at=clock.now())


def early_end_of(order: Order) -> EarlyEnd | None:
    """What falls due of a lease that its buyer has ended early, from the facts of its end; else None."""
    first = order.extends or order
    lease = lease_of_order(first.public_id)
    if lease is None or lease.end_reason != fleet.REASON or lease.ending_at is None:
        return None
    return early_end_amount(first, lease, at=lease.ending_at)
