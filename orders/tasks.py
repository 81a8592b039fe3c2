"""Celery faces of orders: event handlers and the sweep of quotes."""

from celery import shared_task
from django.db import transaction

from core.models import Event
from core.outbox import handler
from core.sweeps import sweep
from orders.services import expire, follow_lease, follow_payment


@handler("orders.on_payment")
def on_payment(event: Event) -> None:
    follow_payment.follow(event)


@handler("orders.on_lease")
def on_lease(event: Event) -> None:
    follow_lease.follow(event)


@shared_task(name="orders.sweep_quotes", ignore_result=True)
@sweep("quotes")
def sweep_quotes() -> None:
    for quote_id in expire.overdue_quotes():
        with transaction.atomic():
            expire.expire_quote(quote_id=quote_id)
