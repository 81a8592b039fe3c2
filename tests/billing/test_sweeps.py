"""A row that breaks holds up no other, and its error is seen: sweeps of money go on to the end."""

from collections.abc import Callable
from typing import Any

import pytest
from pytest_django import Settings

from billing.models import CardSession, Refund
from billing.services import refund_questions, sweep_cards, sweep_refunds
from billing.services.open_card_session import open_card_session
from billing.services.refund import open_refund
from billing.services.refund_destination import confirm_destination
from core import outbox
from core.models import Decision
from core.sweeps import each
from orders.models import Order
from tests import cards, scenario
from tests.billing import money

pytestmark = pytest.mark.django_db


def broken_for(key: int, act: Callable[..., Any]) -> Callable[..., Any]:
    """`act`, but it breaks on this row."""

    def acts(row: int, **values: Any) -> Any:
        if row == key:
            raise RuntimeError("broken")
        return act(row, **values)

    return acts


def test_the_others_are_done_and_the_error_is_raised() -> None:
    seen: list[int] = []
    with pytest.raises(RuntimeError, match="broken"):
        each([1, 2, 3], broken_for(2, seen.append))
    assert seen == [1, 3]
    assert each([1, 2, 3], lambda row: row > 1) == 2
    assert each([1, 2, 3], seen.append, seconds=0) == 0
    assert seen == [1, 3]


def test_a_card_session_that_breaks_holds_up_no_other(
    shop: None, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    cards.take_cards(settings)
    first, second = cards.order(), cards.order()
    broken = cards.session_of(first)
    monkeypatch.setattr(sweep_cards, "open_card_session", broken_for(broken.pk, open_card_session))
    with pytest.raises(RuntimeError, match="broken"):
        sweep_cards.sweep_sessions()
    assert cards.session_of(first).status == CardSession.Status.WANTED
    assert cards.session_of(second).status == CardSession.Status.OPEN


def test_a_refund_that_breaks_holds_up_no_other(order: Order, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    monkeypatch.setattr(sweep_refunds, "due_ids", lambda: [1, 2])
    monkeypatch.setattr(sweep_refunds, "verify_refund", broken_for(1, asked.append))
    with pytest.raises(RuntimeError, match="broken"):
        sweep_refunds.sweep_refunds()
    assert asked == [2]


def test_nobody_is_asked_for_a_refund_that_was_sent_a_moment_ago(
    order: Order, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sweep has listed it before staff entered the hash."""
    scenario.pay(order)
    row = open_refund(order_id=order.public_id, key="k", reason="by_hand", leg="local:USDC", units=5)
    assert row is not None
    confirm_destination(order_id=order.public_id, refund_id=row.pk, destination=money.DESTINATION)
    Decision.objects.all().delete()

    def sent_meanwhile(rows: list[int], act: Callable[[int], object]) -> int:
        Refund.objects.filter(pk=row.pk).update(status="sent")
        return each(rows, act)

    monkeypatch.setattr(refund_questions, "each", sent_meanwhile)
    assert refund_questions.ask_again() == 0
    assert not Decision.objects.filter(kind="refund_due").exists()


def test_excess_that_goes_back_is_no_question_any_more(order: Order) -> None:
    """Whichever way it was decided: here by an amount that staff typed, in two parts."""
    scenario.pay(order, units=order.payment.crypto.due_units + 4_500_000)
    outbox.drain()
    for key, units in (("a", 1_500_000), ("b", 3_000_000)):
        assert Decision.objects.filter(kind="payment_over", closed_at=None).exists()
        open_refund(order_id=order.public_id, key=key, reason="by_hand", leg="local:USDC", units=units)
    assert not Decision.objects.filter(kind="payment_over", closed_at=None).exists()
