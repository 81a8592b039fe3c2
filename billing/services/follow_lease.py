"""Money follows the lease: credits for cards that were missing, what an early end gives back, revenue by day."""

from django.db import transaction

from billing import locks
from billing.models import Refund
from billing.services.credits import credit_outages, credits_back
from billing.services.early_end import early_end_of
from billing.services.post import post_locked
from billing.services.refund import refund_amount
from billing.terms import terms_of_lease
from core.models import Event
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
        if event.name == "lease.closed":
            for order, _term in terms_of_lease(event.order_ref):
                credits_back(order_id=order.public_id)
        for order, _term in terms_of_lease(event.order_ref):
            own = locks.payment_for_update(order.public_id)
            if own is not None:
                post_locked(*own, kind=event.name)


def _early_end(first: Order) -> None:
    early = early_end_of(first)
    for part in early.parts if early is not None else ():
        found = locks.payment_for_update(part.order_id)
        if found is not None:
            refund_amount(*found, amount=part.amount, key="early_end", reason=Refund.Reason.EARLY_END)
