"""Money follows the order: what is due back when it ends without delivery, a lot for money that came too late."""

from django.db import transaction

from billing import locks
from billing.lifecycle import PaymentStatus
from billing.services import offer_again
from billing.services.cancel_invoice import cancel_unpaid
from billing.services.give_back import give_back
from billing.services.issue_invoice import issue_for_paid
from billing.services.post import post_locked
from core.models import Event


def follow(event: Event) -> None:
    """Apply one event of an order. Locks the order and the view of its payment, then what an offer locks. Repeatable.

    One handler for all of them, so that they are applied in the order in which they happened.
    """
    if event.name == offer_again.NO_CAPACITY:
        offer_again.offer_late(order_id=event.order_ref)
    with transaction.atomic():
        found = locks.payment_for_update(event.order_ref)
        if found is None:
            return
        if event.name == "order.paid":
            issue_for_paid(event.order_ref)
        if event.name == "order.failed" and found[1].status == PaymentStatus.REVERSED:
            cancel_unpaid(event.order_ref)
        give_back(*found)
        post_locked(*found, kind=event.name)
