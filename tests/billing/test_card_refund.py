"""Refunds to a bank card: made once at the processor, verified by its word only (S20, issue 4)."""

import uuid
from collections.abc import Iterator
from threading import Barrier

import pytest
from django.db import connection
from pytest_django import Settings

from billing.lifecycle import RefundStatus
from billing.models import CardFact, DemoCardRecord, Refund, RefundMovement
from billing.rails import demo_cards
from billing.rails.card_seen import CardRailError, RefundSeen
from billing.rails.cards import card_rail
from billing.rails.stripe_rail import CardRail
from billing.services import card_refund
from billing.services.refund import open_refund
from core import clock
from core.errors import Conflict
from core.models import Decision, Event
from orders.models import Order
from tests import cards, scenario
from tests.races import at_once

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _cards_are_taken(settings: Settings) -> None:
    cards.take_cards(settings)


@pytest.fixture
def paid(shop: None) -> Order:
    order = cards.order()
    cards.pay(order)
    return order


def intent_of(order: Order) -> str:
    return str(cards.record_of(cards.session_of(order)).body["payment_intent"])


def due(order: Order, *, units: int | None = None, key: str = "test") -> Refund:
    row = open_refund(
        order_id=order.public_id,
        key=key,
        reason=Refund.Reason.BY_HAND,
        leg=f"card:{intent_of(order)}",
        units=units,
    )
    assert row is not None
    return row


def at_processor() -> list[dict[str, object]]:
    return [row.body for row in DemoCardRecord.objects.filter(kind="refund").order_by("pk")]


def again_now() -> None:
    Refund.objects.update(next_at=clock.system_now())


def test_a_refund_is_sent_and_verified(paid: Order) -> None:
    row = due(paid, units=10_000)
    assert row.status == RefundStatus.DUE
    cards.send_refunds()
    row.refresh_from_db()
    assert row.status == RefundStatus.VERIFIED
    (body,) = at_processor()
    assert (body["amount"], body["currency"], body["metadata"]) == (10_000, "usd", {"refund": str(row.pk)})
    movement = RefundMovement.objects.get()
    assert (movement.units, movement.card_refund_id) == (10_000, row.card_refund_id)
    assert list(
        Event.objects.filter(name__startswith="refund.").order_by("id").values_list("name", flat=True)
    ) == ["refund.due", "refund.sent", "refund.verified"]
    # The processor's own event of it tells nothing new, and it is nobody's question.
    cards.deliver()
    assert CardFact.objects.filter(kind="refund").count() == 1
    assert not Decision.objects.filter(kind="card_refunded_elsewhere").exists()


def test_verified_only_when_the_processor_says_so(paid: Order, monkeypatch: pytest.MonkeyPatch) -> None:
    row = due(paid)
    _answer(monkeypatch, "pending")
    cards.send_refunds()
    row.refresh_from_db()
    assert row.status == RefundStatus.SENT
    assert not RefundMovement.objects.exists()
    again_now()
    cards.send_refunds()
    row.refresh_from_db()
    assert row.status == RefundStatus.SENT
    _set("succeeded")
    again_now()
    cards.send_refunds()
    row.refresh_from_db()
    assert row.status == RefundStatus.VERIFIED


def test_one_that_failed_is_a_decision_and_can_be_sent_anew(
    paid: Order, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = due(paid)
    _answer(monkeypatch, "pending")
    cards.send_refunds()
    _set("failed")
    again_now()
    cards.send_refunds()
    row.refresh_from_db()
    assert row.status == RefundStatus.FAILED
    decision = Decision.objects.get(kind="card_refund_failed", closed_at=None)
    card_refund.send_again(decision=decision, actor="staff", reason="the bank says it works again")
    with pytest.raises(Conflict):
        card_refund.send_again(decision=decision, actor="staff", reason="twice")
    again_now()
    cards.send_refunds()
    _set("succeeded", last=True)
    again_now()
    cards.send_refunds()
    row.refresh_from_db()
    assert row.status == RefundStatus.VERIFIED
    assert [body["status"] for body in at_processor()] == ["failed", "succeeded"]


def test_a_refusal_is_a_decision(paid: Order) -> None:
    row = due(paid)
    card_rail().refund(payment_intent=intent_of(paid), amount_minor=93456, key="elsewhere", metadata={})
    cards.send_refunds()
    row.refresh_from_db()
    assert row.status == RefundStatus.FAILED
    assert "already been refunded" in row.last_error
    assert Decision.objects.filter(kind="card_refund_failed", closed_at=None).count() == 1
    assert len(at_processor()) == 1


def test_each_time_that_staff_send_it_again_is_a_request_of_its_own(
    paid: Order, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The processor keeps its answer to a key for a day, also a no: with the same key it would say no again."""
    row = due(paid)
    keys: list[str] = []

    def says_no(_rail: object, *, key: str, **_: object) -> RefundSeen:
        keys.append(key)
        raise CardRailError("balance too low" if len(keys) < 4 else "no answer", is_final=len(keys) < 4)

    monkeypatch.setattr(CardRail, "refund", says_no)
    cards.send_refunds()
    for _ in range(3):
        decision = Decision.objects.get(kind="card_refund_failed", closed_at=None)
        card_refund.send_again(decision=decision, actor="staff", reason="topped up")
        again_now()
        cards.send_refunds()
    assert len(set(keys)) == len(keys) == 4
    # Silence: the same request once more.
    again_now()
    cards.send_refunds()
    assert keys[3] == keys[4]
    row.refresh_from_db()
    assert row.status == RefundStatus.DUE


def test_silence_is_tried_again_and_sends_once(paid: Order, monkeypatch: pytest.MonkeyPatch) -> None:
    row = due(paid)
    with cards.processor_down(monkeypatch, cards.silence()):
        cards.send_refunds()
    row.refresh_from_db()
    assert row.status == RefundStatus.DUE
    assert row.attempts == 1
    again_now()
    cards.send_refunds()
    row.refresh_from_db()
    assert row.status == RefundStatus.VERIFIED


def test_a_worker_that_is_killed_after_the_call_does_not_send_twice(
    paid: Order, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = due(paid)
    with monkeypatch.context() as patch:
        patch.setattr(card_refund, "_mine", _killed)
        with pytest.raises(KeyboardInterrupt):
            card_refund.send_card_refund(row.pk)
    assert len(at_processor()) == 1
    # The processor's event comes first: our own refund is not taken for somebody else's.
    cards.deliver()
    assert not Decision.objects.filter(kind="card_refunded_elsewhere").exists()
    # Even after the processor has forgotten the key.
    DemoCardRecord.objects.filter(kind="key").delete()
    cards.send_refunds()
    row.refresh_from_db()
    assert row.status == RefundStatus.VERIFIED
    assert len(at_processor()) == 1


def _killed(*_: object) -> None:
    raise KeyboardInterrupt


def test_several_parts_of_one_payment(paid: Order) -> None:
    due(paid, units=456, key="a")
    due(paid, units=1000, key="b")
    cards.send_refunds()
    assert sorted(body["amount"] for body in at_processor()) == [456, 1000]  # type: ignore[type-var]
    assert Refund.objects.filter(status=RefundStatus.VERIFIED).count() == 2


@pytest.fixture
def committed(transactional_db: None) -> Iterator[Order]:
    scenario.open_shop()
    order = cards.order()
    cards.pay(order)
    yield order
    connection.close()


def test_workers_at_once_send_one_refund(committed: Order) -> None:
    row = due(committed)
    results = at_once(4, lambda _: card_refund.send_card_refund(row.pk))
    assert sorted(results) == [False, False, False, True]
    assert len(at_processor()) == 1


@pytest.mark.parametrize(("protected", "made"), [(True, 1), (False, 4)])
def test_without_the_claim_the_processor_still_makes_one(
    committed: Order, monkeypatch: pytest.MonkeyPatch, protected: bool, made: int
) -> None:
    """Four workers call at once. The control goes without the look at what is there and without the key."""
    row = due(committed, units=100)
    token = uuid.uuid4()
    Refund.objects.filter(pk=row.pk).update(claim_token=token)
    everybody_is_here = Barrier(4, timeout=30)
    make = card_refund._make

    def together(refund: Refund) -> RefundSeen:
        everybody_is_here.wait()
        if protected:
            return make(refund)
        return card_rail().refund(
            payment_intent=refund.payment_intent, amount_minor=100, key=uuid.uuid4().hex, metadata={}
        )

    monkeypatch.setattr(card_refund, "_claim", lambda *_: token)
    monkeypatch.setattr(card_refund, "_make", together)
    at_once(4, lambda _: card_refund.send_card_refund(row.pk))
    assert len(at_processor()) == made


def test_staff_see_the_button(settings: Settings) -> None:
    kinds = settings.DECISION_KINDS
    assert set(kinds["card_refund_failed"]["actions"]) == {"send_again", "note"}
    for kind in ("card_mismatch", "card_dispute", "card_refunded_elsewhere", "card_session_failed"):
        assert "note" in kinds[kind]["actions"]


def _answer(monkeypatch: pytest.MonkeyPatch, status: str) -> None:
    """Refunds that are made from now on begin in this state."""
    add = demo_cards.add

    def other(kind: str, body: dict[str, object]) -> DemoCardRecord:
        return add(kind, body | {"status": status} if kind == "refund" else body)

    monkeypatch.setattr(demo_cards, "add", other)


def _set(status: str, *, last: bool = False) -> None:
    row = DemoCardRecord.objects.filter(kind="refund").order_by("-pk" if last else "pk").first()
    assert row is not None
    row.body["status"] = status
    row.save()
