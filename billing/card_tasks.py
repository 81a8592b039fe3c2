"""Celery faces of bank cards: sessions, events, refunds, and the demo's test card."""

from celery import shared_task

from billing.services import card_event, card_refund, demo_card_work, sweep_cards
from billing.services import open_card_session as opening
from billing.services import read_card_session as reading
from core.sweeps import sweep


@shared_task(name="billing.open_card_session", ignore_result=True)
def open_card_session(session_id: int) -> None:
    opening.open_card_session(session_id)


@shared_task(name="billing.read_card_session", ignore_result=True)
def read_card_session(session_id: int) -> None:
    reading.read_card_session(session_id)


@shared_task(name="billing.expire_card_session", ignore_result=True)
def expire_card_session(session_id: int) -> None:
    reading.read_card_session(session_id, expire=True)


@shared_task(name="billing.apply_card_event", ignore_result=True)
def apply_card_event(event_id: int) -> None:
    card_event.apply_event(event_id)


@shared_task(name="billing.send_card_refund", ignore_result=True)
def send_card_refund(refund_id: int) -> None:
    card_refund.send_card_refund(refund_id)


@shared_task(name="billing.sweep_card_events", ignore_result=True)
@sweep("card_events")
def sweep_card_events() -> None:
    sweep_cards.sweep_events()


@shared_task(name="billing.sweep_card_sessions", ignore_result=True)
@sweep("card_sessions")
def sweep_card_sessions() -> None:
    sweep_cards.sweep_sessions()


@shared_task(name="billing.sweep_card_refunds", ignore_result=True)
@sweep("card_refunds")
def sweep_card_refunds() -> None:
    sweep_cards.sweep_refunds()


@shared_task(name="billing.sweep_demo_cards", ignore_result=True)
@sweep("demo_cards")
def sweep_demo_cards() -> None:
    demo_card_work.work()
