"""Celery faces of partners: the fan-out of events, the sweep that sends webhooks, and that of old answers."""

from celery import shared_task

from core.models import Event
from core.outbox import handler
from core.sweeps import sweep
from partners.services import idempotency
from partners.services import send_webhooks as sender
from partners.services.extend_order import adopt_extension
from partners.services.tell_event import tell_event


@handler("partners.on_event")
def on_event(event: Event) -> None:
    if event.name == "quote.accepted":  # the first event of every order
        adopt_extension(event.order_ref)
    tell_event(event)


@shared_task(name="partners.sweep_webhooks", ignore_result=True)
@sweep("webhooks")
def sweep_webhooks() -> None:
    sender.send_webhooks()


@shared_task(name="partners.sweep_answers", ignore_result=True)
@sweep("answers")
def sweep_answers() -> None:
    idempotency.forget_old()
