"""A bank-card order from the checkout to the lease, and everything that may go otherwise on the way."""

from datetime import timedelta
from decimal import Decimal

import pytest
from pytest_django import Settings

from billing.lifecycle import PaymentStatus
from billing.models import CardFact, CardSession, PaymentView, Refund
from billing.rails import demo_cards
from billing.rails.cards import card_rail
from billing.rails.demo_cards import DemoCard
from billing.services.money_decisions import refund_what_arrived
from billing.services.read_card_session import read_card_session
from billing.services.want_card_session import want_card_session
from core import clock
from core.errors import Conflict, Invalid, Refusal, TooMany
from core.models import Decision, Event
from fleet.models import Hold, Lease
from fleet.services.release import release
from orders.models import Order
from orders.services.cancel import cancel
from tests import cards, scenario
from tests.billing import money

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _cards_are_taken(settings: Settings) -> None:
    cards.take_cards(settings)


@pytest.fixture
def card_order(shop: None) -> Order:
    return cards.order()


def view_of(order: Order) -> PaymentView:
    return PaymentView.objects.get(payment__order=order)


def kinds() -> list[str]:
    return list(Decision.objects.filter(closed_at=None).values_list("kind", flat=True))


def test_a_card_pays_the_order(card_order: Order) -> None:
    assert card_order.payment.rail == "bank_card"
    assert not card_order.payment.takes_crypto
    session = cards.open_session(card_order)
    assert session.status == CardSession.Status.OPEN
    assert session.url.startswith("http://testserver/en/demo/card/cs_test_")
    body = cards.record_of(session).body
    assert body["amount_total"] == 93456
    assert body["currency"] == "usd"
    assert body["client_reference_id"] == card_order.public_id
    assert body["metadata"] == {"order": card_order.public_id, "attempt": "1"}
    assert view_of(card_order).status == PaymentStatus.AWAITING
    cards.pay(card_order)
    view = view_of(card_order)
    assert view.status == PaymentStatus.SETTLED
    assert view.card_minor == 93456
    assert view.flags == []
    assert card_order.status == "paid"
    assert Lease.objects.get(order_ref=card_order.public_id).status == "reserved"
    assert kinds() == []


def test_s18_the_same_event_and_another_one_make_one_lease(card_order: Order) -> None:
    session = cards.pay(card_order)
    demo_cards.tell("checkout.session.completed", cards.record_of(session).body)
    demo_cards.tell(
        "payment_intent.succeeded",
        {"id": cards.record_of(session).body["payment_intent"], "object": "payment_intent"},
    )
    cards.deliver()
    cards.deliver()
    read_card_session(session.pk)
    assert Event.objects.filter(name="payment.settled").count() == 1
    assert Event.objects.filter(name="order.paid").count() == 1
    assert Lease.objects.count() == 1
    assert CardFact.objects.filter(payment=card_order.payment).count() == 1
    assert view_of(card_order).card_minor == 93456


def test_a_lost_event_costs_a_minute_and_no_money(card_order: Order) -> None:
    session = cards.open_session(card_order)
    demo_cards.choose(session.session_id, DemoCard.SUCCESS)
    cards.look()
    card_order.refresh_from_db()
    assert card_order.status == "paid"


def test_a_declined_card_leaves_the_session_open(card_order: Order) -> None:
    session = cards.pay(card_order, DemoCard.DECLINED)
    assert session.status == CardSession.Status.OPEN
    assert view_of(card_order).status == PaymentStatus.AWAITING
    cards.pay(card_order)
    assert card_order.status == "paid"


def test_a_question_of_the_bank(card_order: Order) -> None:
    session = cards.pay(card_order, DemoCard.CHALLENGE)
    assert card_order.status == "awaiting_payment"
    assert demo_cards.confirm(session.session_id, agreed=True)
    cards.deliver()
    card_order.refresh_from_db()
    assert card_order.status == "paid"


def test_a_delayed_payment_is_seen_and_keeps_the_cards(card_order: Order) -> None:
    session = cards.pay(card_order, DemoCard.DELAYED_SUCCESS)
    assert session.status == CardSession.Status.COMPLETE
    assert view_of(card_order).status == PaymentStatus.SEEN
    assert card_order.status == "awaiting_payment"
    cards.let_time_pass(session)
    cards.deliver()
    card_order.refresh_from_db()
    assert view_of(card_order).status == PaymentStatus.SETTLED
    assert card_order.status == "paid"


def test_a_delayed_payment_that_fails_is_no_payment(card_order: Order) -> None:
    session = cards.pay(card_order, DemoCard.DELAYED_FAILURE)
    assert view_of(card_order).status == PaymentStatus.SEEN
    cards.let_time_pass(session)
    cards.deliver()
    # The processor goes on calling such a session complete and unpaid; only the payment itself tells.
    assert cards.record_of(session).body["status"] == "complete"
    assert view_of(card_order).status == PaymentStatus.AWAITING
    assert Event.objects.filter(name="payment.dropped").count() == 1
    want_card_session(order_id=card_order.public_id, language="en")
    cards.pay(card_order)
    assert card_order.status == "paid"


def _end_the_hold(order: Order, *, ago: timedelta = timedelta(seconds=5)) -> None:
    past = clock.now() - ago
    Order.objects.filter(pk=order.pk).update(hold_expires_at=past)
    Hold.objects.filter(ref=order.public_id).update(expires_at=past)
    order.payment.expires_at = past
    order.payment.save()
    CardSession.objects.filter(payment=order.payment).update(expires_at=past)


def test_nobody_pays(card_order: Order) -> None:
    session = cards.open_session(card_order)
    _end_the_hold(card_order)
    cards.look()
    session.refresh_from_db()
    assert session.status == CardSession.Status.ENDED
    assert cards.record_of(session).body["status"] == "expired"
    card_order.refresh_from_db()
    assert view_of(card_order).status == PaymentStatus.EXPIRED
    assert card_order.status == "expired"


def test_an_order_is_not_called_unpaid_while_the_processor_is_silent(
    card_order: Order, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = cards.open_session(card_order)
    demo_cards.choose(session.session_id, DemoCard.SUCCESS)
    _end_the_hold(card_order)
    with cards.processor_down(monkeypatch, cards.silence()):
        for _ in range(6):
            cards.look()
    assert view_of(card_order).status == PaymentStatus.AWAITING
    assert "card_session_failed" in kinds()
    cards.look()
    card_order.refresh_from_db()
    assert card_order.status == "paid"


def test_s20_paid_when_the_cards_are_gone(card_order: Order) -> None:
    session = cards.open_session(card_order)
    release(ref=card_order.public_id)
    demo_cards.choose(session.session_id, DemoCard.SUCCESS)
    cards.deliver()
    card_order.refresh_from_db()
    assert view_of(card_order).status == PaymentStatus.SETTLED
    assert view_of(card_order).card_minor == 93456
    assert Event.objects.filter(name="order.no_capacity").count() == 1


def test_a_cancelled_order_ends_its_session(card_order: Order) -> None:
    session = cards.open_session(card_order)
    cancel(order_id=card_order.public_id, actor="buyer")
    cards.look()
    session.refresh_from_db()
    assert session.status == CardSession.Status.ENDED
    assert not demo_cards.choose(session.session_id, DemoCard.SUCCESS)


def test_a_session_that_was_cancelled_before_it_was_opened_never_is(card_order: Order) -> None:
    cancel(order_id=card_order.public_id, actor="buyer")
    cards.look()
    assert cards.session_of(card_order).status == CardSession.Status.ENDED
    assert cards.session_of(card_order).session_id == ""


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"amount_total": 93455}, "another amount"),
        ({"currency": "eur"}, "another currency"),
        ({"client_reference_id": "ord_OF_SOMEBODY_ELSE"}, "another order's reference"),
        ({"livemode": True}, "live money"),
    ],
)
def test_s23_what_differs_does_not_pay(card_order: Order, change: dict[str, object], why: str) -> None:
    session = cards.open_session(card_order)
    demo_cards.choose(session.session_id, DemoCard.SUCCESS)
    cards.change_record(session, **change)
    cards.look()
    card_order.refresh_from_db()
    assert card_order.status == "awaiting_payment"
    assert view_of(card_order).card_minor == 0
    decision = Decision.objects.get(kind="card_mismatch")
    assert decision.facts["why"] == why
    assert CardFact.objects.get(payment=card_order.payment).problem == why
    refund_what_arrived(decision=decision, actor="anna", reason="not what was asked")
    back = Refund.objects.get()
    fact = CardFact.objects.get(payment=card_order.payment)
    assert (back.rail, back.units, back.asset) == ("bank_card", fact.amount_minor, fact.currency)
    assert (back.reason, back.payment_intent) == ("by_hand", fact.payment_intent)
    with pytest.raises(Conflict):
        refund_what_arrived(decision=decision, actor="bert", reason="again")
    card_order.refresh_from_db()
    assert card_order.status == "awaiting_payment"
    money.check_books()


def test_a_refund_made_at_the_processor_and_a_dispute_are_told(card_order: Order) -> None:
    session = cards.pay(card_order)
    rail = card_rail()
    rail.refund(
        payment_intent=cards.record_of(session).body["payment_intent"], amount_minor=100, key="k", metadata={}
    )
    cards.deliver()
    demo_cards.dispute(session.session_id)
    cards.deliver()
    cards.look()
    assert sorted(kinds()) == ["card_dispute", "card_refunded_elsewhere"]
    assert view_of(card_order).status == PaymentStatus.SETTLED
    assert CardFact.objects.filter(payment=card_order.payment).count() == 3


class TestAnotherSession:
    def test_the_one_that_is_there_is_used(self, card_order: Order) -> None:
        first = cards.open_session(card_order)
        assert want_card_session(order_id=card_order.public_id, language="en") == first

    def test_a_new_one_ends_the_old_one(self, card_order: Order) -> None:
        first = cards.open_session(card_order)
        second = want_card_session(order_id=card_order.public_id, language="de", anew=True)
        assert second.attempt == 2
        cards.look()
        first.refresh_from_db()
        assert first.status == CardSession.Status.ENDED
        assert cards.session_of(card_order).status == CardSession.Status.OPEN
        assert "/de/demo/card/" in cards.session_of(card_order).url

    def test_near_the_end_the_hold_is_prolonged_once(self, card_order: Order) -> None:
        soon = clock.now() + timedelta(minutes=3)
        Order.objects.filter(pk=card_order.pk).update(
            hold_expires_at=soon, placed_at=clock.now() - timedelta(minutes=57)
        )
        Hold.objects.filter(ref=card_order.public_id).update(expires_at=soon)
        second = want_card_session(order_id=card_order.public_id, language="en", anew=True)
        card_order.refresh_from_db()
        card_order.payment.refresh_from_db()
        hold = Hold.objects.get(ref=card_order.public_id)
        assert card_order.hold_expires_at == hold.expires_at == second.expires_at
        assert card_order.payment.expires_at == second.expires_at
        assert second.expires_at > clock.now() + timedelta(minutes=30)
        assert hold.release_at >= hold.expires_at
        # A moment later another 31 minutes would pass the new end too.
        with pytest.raises(Conflict) as refused:
            want_card_session(order_id=card_order.public_id, language="en", anew=True)
        assert refused.value.code == "hold_over"

    def test_not_for_ever(self, card_order: Order) -> None:
        for _ in range(9):
            want_card_session(order_id=card_order.public_id, language="en", anew=True)
        with pytest.raises(TooMany):
            want_card_session(order_id=card_order.public_id, language="en", anew=True)

    def test_not_after_the_hold(self, card_order: Order) -> None:
        _end_the_hold(card_order)
        with pytest.raises(Conflict) as refused:
            want_card_session(order_id=card_order.public_id, language="en")
        assert refused.value.code == "hold_over"

    def test_not_when_paid(self, card_order: Order) -> None:
        cards.pay(card_order)
        with pytest.raises(Conflict) as refused:
            want_card_session(order_id=card_order.public_id, language="en")
        assert refused.value.code == "already_done"


class TestBothWays:
    def test_a_crypto_order_is_paid_by_card(self, order: Order) -> None:
        want_card_session(order_id=order.public_id, language="en")
        cards.pay(order)
        assert order.status == "paid"
        assert view_of(order).flags == []

    def test_paid_twice_is_one_lease_and_money_too_much(self, order: Order) -> None:
        want_card_session(order_id=order.public_id, language="en")
        session = cards.open_session(order)
        demo_cards.choose(session.session_id, DemoCard.SUCCESS)
        scenario.pay(order)
        cards.deliver()
        order.refresh_from_db()
        assert order.status == "paid"
        assert Lease.objects.count() == 1
        view = view_of(order)
        assert "over" in view.flags
        assert view.card_minor == 93456
        assert view.settled_units == order.payment.crypto.due_units
        # The other payment goes back by rule: nobody is asked about it.
        assert [row.reason for row in Refund.objects.all()] == ["paid_twice"]
        assert "payment_over" not in kinds()
        assert Event.objects.filter(name="payment.settled").count() == 1

    def test_paid_on_chain_ends_the_card_session(self, order: Order) -> None:
        want_card_session(order_id=order.public_id, language="en")
        session = cards.open_session(order)
        scenario.pay(order)
        cards.look()
        session.refresh_from_db()
        assert session.status == CardSession.Status.ENDED


class TestWhatTheProcessorRefuses:
    def test_s25_no_keys_no_choice(self, shop: None, settings: Settings) -> None:
        settings.STRIPE_SECRET_KEY = ""
        with pytest.raises(Invalid) as refused:
            cards.order()
        assert refused.value.code == "unknown_rail"
        assert Hold.objects.count() == 0

    @pytest.mark.parametrize("total", ["0.00", "0.30", "1000000.00"])
    def test_s25_a_total_out_of_bounds_holds_nothing(self, shop: None, total: str) -> None:
        row = scenario.quote()
        row.total = row.subtotal = Decimal(total)
        row.tax = Decimal(0)
        row.save()
        with pytest.raises(Refusal) as refused:
            cards.order(row)
        assert refused.value.code == "card_amount"
        assert Hold.objects.filter(released_at=None).count() == 0
        row.refresh_from_db()
        assert row.status == "open"

    def test_a_refusal_ends_the_session_and_the_buyer_may_try_again(
        self, card_order: Order, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with cards.processor_down(monkeypatch, cards.refusal()):
            cards.look()
        assert cards.session_of(card_order).status == CardSession.Status.FAILED
        assert kinds() == ["card_session_failed"]
        want_card_session(order_id=card_order.public_id, language="en")
        cards.pay(card_order)
        assert card_order.status == "paid"

    def test_silence_is_tried_again(self, card_order: Order, monkeypatch: pytest.MonkeyPatch) -> None:
        with cards.processor_down(monkeypatch, cards.silence()):
            cards.look()
        session = cards.session_of(card_order)
        assert session.status == CardSession.Status.WANTED
        assert session.attempts == 1
        assert session.next_at > clock.system_now()
        cards.look()
        assert cards.session_of(card_order).status == CardSession.Status.OPEN

    def test_a_page_elsewhere_is_not_shown(self, card_order: Order, settings: Settings) -> None:
        settings.SITE_URL = "http://evil.example"
        settings.STRIPE_TRANSPORT = "demo"
        session = cards.session_of(card_order)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("billing.card_offer.is_demo_card", lambda: False)
            cards.open_session(card_order)
        session.refresh_from_db()
        assert session.status == CardSession.Status.FAILED
        assert session.url == ""
