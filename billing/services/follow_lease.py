"""Money follows the lease: credits for cards that were missing, what an early end gives back, revenue by day."""

from django.db import transaction

from billing import locks
from billing.models import PaymentView, Refund
from billing.services.credits import credit_outages, credits_back
from billing.services.early_end import early_end_of
from billing.services.post import post_locked
from billing.services.refund import refund_amount
from billing.terms import terms_of_lease
from core.models import Event
from fleet.lifecycle import LeaseStatus
from fleet.selectors import lease_of_order
from orders.models import Order


def follow(event: Event) -> None:
    """Apply one event of a lease. Locks the first order, then its extensions, each with its payment. Repeatable.

    A lease that failed needs nothing here: its order fails, and all of the money goes back.
    """
    with transaction.atomic():
        found = locks.payment_for_update(event.order_ref)
        if found is None:
            return
        if event.name != "lease.failed":
            credit_outages(order_ref=event.order_ref)
        if event.name in ("lease.ending", "lease.closed"):
            _early_end(found[0])
            # At the end of the term, not of the wipe: a wipe that fails for days must not keep the buyer waiting.
            for order, _term in terms_of_lease(event.order_ref):
                credits_back(order_id=order.public_id)
        for order, _term in terms_of_lease(event.order_ref):
            own = locks.payment_for_update(order.public_id)
            if own is not None:
                post_locked(*own, kind=event.name)


def fall_due_again(order: Order, view: PaymentView) -> list[Refund]:
    """What the end of a lease gives back of this order, where nothing could be given when it fell due: a dispute had
    the money, and is won. For an order and a view that the caller has locked and saved. Repeatable: where a refund
    for that reason was opened once, no other is."""
    reasons = set(Refund.objects.filter(payment=view.payment).values_list("reason", flat=True))
    opened = []
    early = early_end_of(order) if Refund.Reason.EARLY_END not in reasons else None
    for part in early.parts if early is not None else ():
        if part.order_id == order.public_id:
            opened += refund_amount(
                order, view, amount=part.amount, key="early_end", reason=Refund.Reason.EARLY_END
            )
    lease = lease_of_order((order.extends or order).public_id)
    is_closed = lease is not None and lease.status == LeaseStatus.CLOSED
    if is_closed and Refund.Reason.CREDIT not in reasons:
        opened += credits_back(order_id=order.public_id)
    return opened


def _early_end(first: Order) -> None:
    early = early_end_of(first)
    for part in early.parts if early is not None else ():
        found = locks.payment_for_update(part.order_id)
        if found is not None:
            refund_amount(*found, amount=part.amount, key="early_end", reason=Refund.Reason.EARLY_END)
