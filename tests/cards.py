"""Bank cards in tests: the client over the demo's transport, and its events posted to our own webhook."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import stripe
from django.test import Client
from pytest_django import Settings

from billing.card_offer import webhook_secrets
from billing.models import CardEvent, CardSession, DemoCardEvent, DemoCardRecord
from billing.rails import demo_cards
from billing.rails.stripe_signature import sign
from billing.services import card_event, sweep_cards
from billing.services.checkout import BankCardChoice, CheckoutRequest, checkout
from billing.services.open_card_session import open_card_session, wanted_sessions
from core import clock, outbox
from orders.models import Order, Quote
from tests import scenario

WEBHOOK = "/webhooks/stripe/"
SECRET = "whsec_test_one"


def take_cards(settings: Settings) -> None:
    """As in the demo: keys, and a processor that answers from the database."""
    settings.STRIPE_SECRET_KEY = "sk_test_demo"
    settings.STRIPE_WEBHOOK_SECRET = SECRET
    settings.STRIPE_TRANSPORT = "demo"


def order(row: Quote | None = None, **changes: Any) -> Order:
    """A placed order that is to be paid by card; its session is wanted."""
    place = scenario.place_request(row or scenario.quote(), **changes)
    return checkout(CheckoutRequest(place=place, pay_with=BankCardChoice()))


def open_session(row: Order) -> CardSession:
    """What the worker does next."""
    for pk in wanted_sessions():
        open_card_session(pk)
    return session_of(row)


def session_of(row: Order) -> CardSession:
    """The newest."""
    return CardSession.objects.filter(payment__order=row).latest("attempt")


def record_of(session: CardSession) -> DemoCardRecord:
    """The processor's side of it."""
    return DemoCardRecord.objects.get(reference=session.session_id)


def change_record(session: CardSession, **values: Any) -> None:
    """As if the processor said something else."""
    record = record_of(session)
    record.body |= values
    record.save()


def let_time_pass(session: CardSession) -> None:
    """The delay of a delayed payment is over."""
    DemoCardRecord.objects.filter(reference=session.session_id, due_at__isnull=False).update(
        due_at=clock.system_now()
    )
    demo_cards.settle_time(session.session_id)


def post(payload: bytes, *, secret: str = SECRET, timestamp: int | None = None, **headers: str) -> Any:
    """One event, signed, to our webhook."""
    header = sign(payload.decode(), secret, timestamp=timestamp or int(time.time()))
    return Client().post(
        WEBHOOK, payload, content_type="application/json", headers={"Stripe-Signature": header, **headers}
    )


def deliver() -> int:
    """Post every event that waits, as the demo's worker does over HTTP; then apply them and run the handlers."""
    count = 0
    for event in DemoCardEvent.objects.filter(posted_at=None).order_by("pk"):
        assert post(event.body.encode(), secret=webhook_secrets()[0]).status_code == 200
        event.posted_at = clock.system_now()
        event.save()
        count += 1
    apply()
    return count


def apply() -> None:
    """The sweeps of the worker, once."""
    CardEvent.objects.filter(applied_at=None).update(next_at=clock.system_now())
    for pk in card_event.due_events():
        card_event.apply_event(pk)
    outbox.drain()


def look(*, now: bool = True) -> None:
    """The sweep of sessions: what no event told of."""
    if now:
        CardSession.objects.update(next_at=clock.system_now() - timedelta(seconds=1))
    sweep_cards.sweep_sessions()
    outbox.drain()


def pay(row: Order, choice: str = demo_cards.DemoCard.SUCCESS) -> CardSession:
    """The buyer opens the page and pays; the event is delivered."""
    session = open_session(row)
    assert demo_cards.choose(session.session_id, choice)
    deliver()
    session.refresh_from_db()
    row.refresh_from_db()
    return session


def send_refunds() -> None:
    """The sweep of refunds, once."""
    sweep_cards.sweep_refunds()
    outbox.drain()


def silence() -> Exception:
    """No answer came."""
    return stripe.APIConnectionError("no answer")  # type: ignore[no-untyped-call]


def refusal() -> Exception:
    """The processor understood and said no."""
    return stripe.InvalidRequestError("no such thing", "x", http_status=400)  # type: ignore[no-untyped-call]


@contextmanager
def processor_down(monkeypatch: Any, error: Exception) -> Iterator[None]:
    """Every call fails."""

    def request(*_: Any, **__: Any) -> Any:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr("billing.rails.stripe_demo.DemoTransport.request", request)
        yield
