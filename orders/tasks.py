"""Celery faces of orders: event handlers and the sweep of quotes."""

from datetime import datetime

from celery import shared_task
from django.db import transaction

from core.models import Event
from core.outbox import handler
from core.sweeps import sweep
from fleet.services.suspend import resume, suspend
from orders.services import expire, follow_lease, pay


@handler("orders.on_payment_settled")
def on_payment_settled(event: Event) -> None:
    pay.settle(order_id=event.order_ref, settled_at=datetime.fromisoformat(event.payload["settled_at"]))
    resume(order_ref=event.order_ref)


@handler("orders.on_payment_expired")
def on_payment_expired(event: Event) -> None:
    expire.expire_unpaid(order_id=event.order_ref)


@handler("orders.on_payment_reversed")
def on_payment_reversed(event: Event) -> None:
    suspend(order_ref=event.order_ref)


@handler("orders.on_lease")
def on_lease(event: Event) -> None:
    follow_lease.follow(event)


@shared_task(name="orders.sweep_quotes", ignore_result=True)
@sweep("quotes")
def sweep_quotes() -> None:
    for quote_id in expire.overdue_quotes():
        with transaction.atomic():
            expire.expire_quote(quote_id=quote_id)
