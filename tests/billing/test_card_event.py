"""Events of the card processor: signature over the bytes, stored first, once, applied later (S16, S17, S18)."""

import json
import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from pytest_django import Settings

from billing.models import CardEvent, CardSession, DemoCardEvent, Invoice
from billing.rails import demo_cards
from billing.rails.demo_cards import DemoCard
from billing.rails.stripe_signature import sign
from billing.services.card_event import apply_event
from core import clock, outbox
from core.models import Decision, Event, OutgoingMail
from fleet.models import Lease
from orders.models import Order
from tests import cards, scenario
from tests.races import at_once

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _cards_are_taken(settings: Settings) -> None:
    cards.take_cards(settings)


def event(**changes: Any) -> dict[str, Any]:
    return {
        "id": "evt_1",
        "object": "event",
        "type": "checkout.session.completed",
        "livemode": False,
        "data": {"object": {"id": "cs_1", "object": "checkout.session"}},
    } | changes


GOOD = [
    json.dumps(event(note="Привет 👋"), ensure_ascii=False),
    json.dumps(event(note="Привет 👋"), ensure_ascii=True),
    json.dumps(event(), indent=4),
    json.dumps(dict(reversed(event().items())), separators=(" , ", " :\t")),
    json.dumps(event(note="a\u0000b \ud83d half")),
    json.dumps(
        event(data={"object": {"id": ["no", "text"], "object": "charge", "payment_intent": {"id": "pi_1"}}})
    ),
    json.dumps(event(data={})),
]


@pytest.mark.parametrize("text", GOOD)
def test_s17_a_good_event_passes_whatever_its_spelling(text: str) -> None:
    answer = cards.post(text.encode())
    assert answer.status_code == 200
    assert CardEvent.objects.get().event_id == "evt_1"


@pytest.mark.parametrize(
    ("payload", "header"),
    [
        (b"{}", "good"),
        (b"", "good"),
        (b"[]", "good"),
        (b"not json", "good"),
        (json.dumps(event(id=7)).encode(), "good"),
        (json.dumps(event(type="")).encode(), "good"),
        (json.dumps(event(id="e" * 121)).encode(), "good"),
        (json.dumps(event(data=None)).encode(), "good"),
        (b'{"id": "evt_1", "type": "t", "data": {"object": {"n": NaN}}}', "good"),
        (b"[" * 100_000, "good"),
        (json.dumps(event()).encode(), "other secret"),
        (json.dumps(event()).encode(), "old"),
        (json.dumps(event()).encode(), "none"),
        (json.dumps(event()).encode(), "nonsense"),
        (json.dumps(event()).encode(), "tampered"),
        (json.dumps(event()).encode(), "letters"),
        (b"\xff\xfe", "nonsense"),
    ],
)
def test_s17_anything_else_is_refused_and_leaves_no_trace(
    payload: bytes, header: str, caplog: pytest.LogCaptureFixture
) -> None:
    now = int(time.time())
    if header in ("good", "other secret", "old"):
        secret = cards.SECRET if header != "other secret" else "whsec_of_somebody_else"
        answer = cards.post(payload, secret=secret, timestamp=now - 400 if header == "old" else now)
    else:
        signature = {
            "none": {},
            "nonsense": {"Stripe-Signature": "t=1,v1=abc"},
            "tampered": {"Stripe-Signature": sign("{}", cards.SECRET, timestamp=now)},
            "letters": {"Stripe-Signature": f"t={now},v1=\xff\xfe"},
        }[header]
        answer = Client().post(cards.WEBHOOK, payload, content_type="application/json", headers=signature)
    assert answer.status_code == 400
    assert CardEvent.objects.count() == 0
    assert cards.SECRET not in caplog.text
    assert "checkout.session.completed" not in caplog.text


def test_s17_two_secrets_while_one_is_replaced(settings: Settings) -> None:
    settings.STRIPE_WEBHOOK_SECRET = f"whsec_new {cards.SECRET}"
    for number, secret in enumerate(["whsec_new", cards.SECRET]):
        assert cards.post(json.dumps(event(id=f"evt_{number}")).encode(), secret=secret).status_code == 200
    assert CardEvent.objects.count() == 2


def test_without_keys_there_is_no_such_address(settings: Settings) -> None:
    settings.STRIPE_SECRET_KEY = settings.STRIPE_WEBHOOK_SECRET = ""
    assert cards.post(json.dumps(event()).encode()).status_code == 404


def test_only_post() -> None:
    assert Client().get(cards.WEBHOOK).status_code == 405


def test_s16_an_event_before_its_row_is_applied_later(shop: None) -> None:
    """The processor's event overtakes our own commit: the row has no session id yet."""
    order = cards.order()
    session = cards.open_session(order)
    demo_cards.choose(session.session_id, DemoCard.SUCCESS)
    CardSession.objects.update(session_id="", url="", status="wanted", next_at=clock.system_now())
    cards.deliver()
    row = CardEvent.objects.get()
    assert row.applied_at is None
    assert row.last_error == "its session is not known yet"
    assert row.next_at > clock.system_now()
    # The worker repeats its call with the same key and gets the same session.
    cards.open_session(order)
    cards.apply()
    order.refresh_from_db()
    assert CardEvent.objects.get().applied_at is not None
    assert order.status == "paid"


def test_s16_an_event_that_nobody_knows_becomes_a_decision(shop: None) -> None:
    body = event(
        data={"object": {"id": "cs_9", "object": "checkout.session", "client_reference_id": "ord_X"}}
    )
    cards.post(json.dumps(body).encode())
    cards.apply()
    assert CardEvent.objects.get().applied_at is None
    CardEvent.objects.update(received_at=clock.now() - timedelta(hours=25))
    cards.apply()
    assert CardEvent.objects.get().applied_at is not None
    assert Decision.objects.get().kind == "card_event_unknown"


def test_what_is_not_ours_is_noted_and_left(shop: None) -> None:
    cards.post(json.dumps(event()).encode())
    cards.apply()
    row = CardEvent.objects.get()
    assert row.applied_at is not None
    assert row.last_error == "not of this shop"


def test_an_event_of_the_other_mode_changes_nothing(shop: None) -> None:
    order = cards.order()
    session = cards.open_session(order)
    body = event(livemode=True, data={"object": {"id": session.session_id, "object": "checkout.session"}})
    cards.post(json.dumps(body).encode())
    cards.apply()
    assert CardEvent.objects.get().last_error == "of the other mode"


def test_s23_what_an_event_says_of_money_is_not_believed(shop: None) -> None:
    order = cards.order()
    session = cards.open_session(order)
    body = event(
        data={
            "object": cards.record_of(session).body
            | {"status": "complete", "payment_status": "paid", "amount_total": 93456}
        }
    )
    cards.post(json.dumps(body).encode())
    cards.apply()
    order.refresh_from_db()
    assert order.status == "awaiting_payment"
    assert CardEvent.objects.get().applied_at is not None


def test_a_silent_processor_leaves_the_event_for_later(shop: None, monkeypatch: pytest.MonkeyPatch) -> None:
    order = cards.order()
    session = cards.open_session(order)
    demo_cards.choose(session.session_id, DemoCard.SUCCESS)
    with cards.processor_down(monkeypatch, cards.silence()):
        cards.deliver()
    assert CardEvent.objects.get().applied_at is None
    cards.apply()
    order.refresh_from_db()
    assert order.status == "paid"


@pytest.fixture
def committed(transactional_db: None) -> Iterator[Order]:
    scenario.open_shop()
    yield cards.order()
    connection.close()


def test_s18_five_deliveries_three_at_once(committed: Order) -> None:
    session = cards.open_session(committed)
    demo_cards.choose(session.session_id, DemoCard.SUCCESS)
    body = DemoCardEvent.objects.get().body.encode()
    answers = [cards.post(body).status_code, *at_once(3, lambda _: cards.post(body).status_code)]
    answers.append(cards.post(body).status_code)
    assert answers == [200] * 5
    row = CardEvent.objects.get()

    def apply_or_look(number: int) -> None:
        """The buyer is back from the processor, and his page looks for news."""
        if number < 3:
            apply_event(row.pk)
        else:
            Client().get(f"/en/orders/{committed.token}/live/?mark=none")

    at_once(5, apply_or_look)
    cards.apply()
    outbox.drain()
    committed.refresh_from_db()
    assert committed.status == "paid"
    assert Lease.objects.count() == 1
    for name in ("payment.settled", "order.paid"):
        assert Event.objects.filter(name=name).count() == 1
    assert Invoice.objects.filter(order=committed).count() == 2, "an invoice and a receipt"
    assert OutgoingMail.objects.filter(order_ref=committed.public_id, key__endswith=":paid").count() == 1
