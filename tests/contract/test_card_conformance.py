"""The card processor's client, held to one suite over both transports: in process, and over HTTP as at Stripe.

Behind both stands the demo's record, which refuses what Stripe's documents say that Stripe refuses.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import stripe
from django.db import connection
from pytest_django import Settings

from billing.models import DemoCardEvent, DemoCardRecord
from billing.rails import demo_cards
from billing.rails.card_seen import CardRailError, SessionOrder, SessionSeen
from billing.rails.demo_cards import DemoCard
from billing.rails.stripe_demo import DemoTransport
from billing.rails.stripe_rail import CardRail
from core import clock
from tests import cards


class _Handler(BaseHTTPRequestHandler):
    """One call over HTTP, answered by the demo's transport."""

    def do_GET(self) -> None:
        self._answer("get", b"")

    def do_POST(self) -> None:
        self._answer("post", self.rfile.read(int(self.headers["Content-Length"] or 0)))

    def _answer(self, method: str, body: bytes) -> None:
        try:
            text, status, headers = DemoTransport().request(
                method, f"http://stripe{self.path}", dict(self.headers), body
            )
        finally:
            connection.close()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: object) -> None:
        """Quiet."""


@contextmanager
def _over_http() -> Iterator[CardRail]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    client = stripe.RequestsClient(timeout=10)
    try:
        yield CardRail("sk_test_demo", http_client=client, address=f"http://127.0.0.1:{server.server_port}")
    finally:
        client.close()  # type: ignore[no-untyped-call]
        server.shutdown()
        server.server_close()
        thread.join(timeout=10)


@pytest.fixture(params=["in process", "over http"])
def rail(request: pytest.FixtureRequest, transactional_db: None, settings: Settings) -> Iterator[CardRail]:
    cards.take_cards(settings)
    if request.param == "in process":
        yield CardRail("sk_test_demo", http_client=DemoTransport())
    else:
        with _over_http() as client:
            yield client


def order(**changes: object) -> SessionOrder:
    values = SessionOrder(
        key="ord_1-1",
        reference="ord_1",
        email="ada@example.com",
        language="ru",
        name="1 lot of NVIDIA B200 for 3 days, order ord_1",
        amount_minor=93456,
        currency="USD",
        expires_at=clock.system_now() + timedelta(minutes=31),
        return_url="http://testserver/ru/orders/x/?card=back",
        metadata={"order": "ord_1", "attempt": "1"},
    )
    return replace(values, **changes)  # type: ignore[arg-type]


def paid(rail: CardRail) -> SessionSeen:
    session = rail.open_session(order())
    assert demo_cards.choose(session.session_id, DemoCard.SUCCESS)
    return rail.session(session.session_id)


def told() -> list[str]:
    events = DemoCardEvent.objects.order_by("pk").values_list("body", flat=True)
    return [text.split('"type": "')[1].split('"')[0] for text in events]


def test_a_session_is_what_was_asked(rail: CardRail) -> None:
    session = rail.open_session(order())
    assert rail.session(session.session_id) == session
    assert session.url == f"http://testserver/ru/demo/card/{session.session_id}/"
    assert (session.status, session.payment_status, session.payment_intent) == ("open", "unpaid", "")
    assert (session.amount_minor, session.currency, session.reference) == (93456, "USD", "ord_1")
    assert session.metadata == {"order": "ord_1", "attempt": "1"}
    assert not session.livemode
    assert not session.is_paid
    assert not session.is_pending


def test_a_key_makes_a_session_once(rail: CardRail) -> None:
    first = rail.open_session(order())
    assert rail.open_session(order()) == first
    assert DemoCardRecord.objects.filter(kind="session").count() == 1
    with pytest.raises(CardRailError) as refused:
        rail.open_session(order(amount_minor=1))
    assert refused.value.is_final
    assert rail.open_session(order(key="ord_1-2")).session_id != first.session_id


def test_a_repeated_key_gives_the_first_answer_even_after_the_session_changed(rail: CardRail) -> None:
    first = paid(rail)
    again = rail.open_session(order())
    assert again.session_id == first.session_id
    assert again.status == "open"


@pytest.mark.parametrize(
    "change",
    [
        {"expires_at": timedelta(minutes=29)},
        {"expires_at": timedelta(hours=25)},
        {"amount_minor": 49},
        {"amount_minor": 100_000_000},
        {"currency": "XXX"},
        {"name": "x" * 251},
        {"name": "😀" * 126},
        {"reference": "r" * 201},
        {"metadata": {"order": "x" * 501}},
    ],
)
def test_what_the_processor_refuses_is_final(rail: CardRail, change: dict[str, object]) -> None:
    values = {
        name: clock.system_now() + value if isinstance(value, timedelta) else value
        for name, value in change.items()
    }
    with pytest.raises(CardRailError) as refused:
        rail.open_session(order(**values))
    assert refused.value.is_final
    assert DemoCardRecord.objects.filter(kind="session").count() == 0


def test_what_is_not_there(rail: CardRail) -> None:
    for ask in (
        lambda: rail.session("cs_test_none"),
        lambda: rail.expire_session("cs_test_none"),
        lambda: rail.refund_by_id("re_none"),
        lambda: rail.refund(payment_intent="pi_none", amount_minor=1, key="k", metadata={}),
    ):
        with pytest.raises(CardRailError) as refused:
            ask()
        assert refused.value.is_final
        assert refused.value.code == "resource_missing"


def test_an_open_session_can_be_ended_once(rail: CardRail) -> None:
    session = rail.open_session(order())
    assert rail.expire_session(session.session_id).status == "expired"
    with pytest.raises(CardRailError) as refused:
        rail.expire_session(session.session_id)
    assert refused.value.is_final
    assert not demo_cards.choose(session.session_id, DemoCard.SUCCESS)
    assert told() == ["checkout.session.expired"]


def test_a_session_ends_by_itself(rail: CardRail) -> None:
    session = rail.open_session(order())
    DemoCardRecord.objects.filter(reference=session.session_id).update(
        body=DemoCardRecord.objects.get(reference=session.session_id).body | {"expires_at": 1}
    )
    assert rail.session(session.session_id).status == "expired"


def test_paid(rail: CardRail) -> None:
    session = paid(rail)
    assert session.is_paid
    assert session.status == "complete"
    assert session.payment_intent.startswith("pi_")
    assert session.url == ""
    with pytest.raises(CardRailError):
        rail.expire_session(session.session_id)
    assert told() == ["checkout.session.completed"]


def test_declined_leaves_it_open(rail: CardRail) -> None:
    session = rail.open_session(order())
    assert demo_cards.choose(session.session_id, DemoCard.DECLINED)
    assert rail.session(session.session_id).status == "open"
    assert told() == []


@pytest.mark.parametrize("agreed", [True, False])
def test_a_question_of_the_bank(rail: CardRail, agreed: bool) -> None:
    session = rail.open_session(order())
    assert demo_cards.choose(session.session_id, DemoCard.CHALLENGE)
    assert rail.session(session.session_id).status == "open"
    assert demo_cards.confirm(session.session_id, agreed=agreed)
    assert rail.session(session.session_id).is_paid is agreed


@pytest.mark.parametrize(
    ("card", "status", "event"),
    [
        (DemoCard.DELAYED_SUCCESS, "paid", "checkout.session.async_payment_succeeded"),
        (DemoCard.DELAYED_FAILURE, "failed", "checkout.session.async_payment_failed"),
    ],
)
def test_delayed(rail: CardRail, card: DemoCard, status: str, event: str) -> None:
    session = rail.open_session(order())
    assert demo_cards.choose(session.session_id, card)
    seen = rail.session(session.session_id)
    assert seen.is_pending
    assert seen.payment_status == "unpaid"
    DemoCardRecord.objects.filter(due_at__isnull=False).update(due_at=clock.system_now())
    seen = rail.session(session.session_id)
    assert seen.payment_status == status
    assert not seen.is_pending
    assert told() == ["checkout.session.completed", event]


def test_refunds(rail: CardRail) -> None:
    intent = paid(rail).payment_intent
    first = rail.refund(payment_intent=intent, amount_minor=456, key="k1", metadata={"refund": "7"})
    assert (first.status, first.amount_minor, first.currency) == ("succeeded", 456, "USD")
    assert first.metadata == {"refund": "7"}
    assert rail.refund(payment_intent=intent, amount_minor=456, key="k1", metadata={"refund": "7"}) == first
    assert rail.refund_by_id(first.refund_id) == first
    with pytest.raises(CardRailError) as refused:
        rail.refund(payment_intent=intent, amount_minor=93_001, key="k2", metadata={})
    assert refused.value.is_final
    rest = rail.refund(payment_intent=intent, amount_minor=93_000, key="k3", metadata={})
    assert rail.refunds(intent) == [rest, first]
    with pytest.raises(CardRailError) as refused:
        rail.refund(payment_intent=intent, amount_minor=1, key="k4", metadata={})
    assert refused.value.code == "charge_already_refunded"
    assert rail.refunds("pi_other") == []


def test_disputes(rail: CardRail) -> None:
    session = paid(rail)
    assert rail.disputes(session.payment_intent) == []
    assert demo_cards.dispute(session.session_id) is not None
    (dispute,) = rail.disputes(session.payment_intent)
    assert (dispute.status, dispute.amount_minor) == ("needs_response", 93456)
    assert told()[-1] == "charge.dispute.created"


def test_all_sessions_page_by_page(rail: CardRail) -> None:
    since = clock.system_now() - timedelta(minutes=1)
    opened = [rail.open_session(order(key=f"k{number}")).session_id for number in range(3)]
    base = DemoCardRecord.objects.get(reference=opened[0]).body
    for number in range(120):
        demo_cards.add("session", base | {"id": f"cs_test_{number:032x}"})
    found = [session.session_id for session in rail.sessions(since=since)]
    assert len(found) == 123
    assert len(set(found)) == 123
    assert found[-1] == opened[0]
    assert list(rail.sessions(since=clock.system_now() + timedelta(minutes=5))) == []


def test_silence_and_a_wrong_key_are_not_final(db: None) -> None:
    rail = CardRail(
        "sk_test_demo", http_client=stripe.RequestsClient(timeout=1), address="http://127.0.0.1:9"
    )
    with pytest.raises(CardRailError) as silent:
        rail.session("cs_test_1")
    assert not silent.value.is_final
