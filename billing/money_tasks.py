"""Celery faces of refunds, offers, credits and the books."""

from celery import shared_task

from billing.services import earn, follow_lease, follow_order, offer_again
from billing.services import sweep_refunds as sweeping
from billing.services import verify_refund as verifying
from core.models import Event
from core.outbox import handler
from core.sweeps import sweep


@handler("billing.on_order")
def on_order(event: Event) -> None:
    follow_order.follow(event)


@handler("billing.on_lease")
def on_lease(event: Event) -> None:
    follow_lease.follow(event)


@shared_task(name="billing.verify_refund", ignore_result=True)
def verify_refund(refund_id: int) -> None:
    verifying.verify_refund(refund_id)


@shared_task(name="billing.sweep_refunds", ignore_result=True)
@sweep("refunds")
def sweep_refunds() -> None:
    sweeping.sweep_refunds()


@shared_task(name="billing.sweep_offers", ignore_result=True)
@sweep("offers")
def sweep_offers() -> None:
    offer_again.sweep_offers()


@shared_task(name="billing.sweep_revenue", ignore_result=True)
@sweep("revenue")
def sweep_revenue() -> None:
    earn.earn_due()
