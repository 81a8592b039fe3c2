"""Celery faces of orders: event handlers and the sweep of quotes."""

from celery import shared_task
from django.db import transaction

from core.models import Event
from core.outbox import handler
from core.sweeps import sweep
from orders.services import expire, find, follow_lease, follow_payment, tell_of_order


@handler("orders.on_order")
def on_order(event: Event) -> None:
    tell_of_order.placed(event)


@handler("orders.on_payment")
def on_payment(event: Event) -> None:
    follow_payment.follow(event)


@handler("orders.on_lease")
def on_lease(event: Event) -> None:
    follow_lease.follow(event)


@shared_task(name="orders.send_links", ignore_result=True)
def send_links(search_id: int) -> None:
    find.answer(search_id=search_id)


@shared_task(name="orders.sweep_searches", ignore_result=True)
@sweep("searches")
def sweep_searches() -> None:
    for search_id in find.unanswered():
        find.answer(search_id=search_id)
    find.forget_old()


@shared_task(name="orders.sweep_quotes", ignore_result=True)
@sweep("quotes")
def sweep_quotes() -> None:
    for quote_id in expire.overdue_quotes():
        with transaction.atomic():
            expire.expire_quote(quote_id=quote_id)
