"""Attacks on money that goes back: a listed sender, money that is not final, one answer beside another."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.db import transaction

from billing.models import CardFact, Refund
from billing.services.accept import accept_as_full
from billing.services.money_decisions import (
    clear_screening,
    refund_by_hand,
    refund_excess,
    refund_what_arrived,
)
from billing.services.offer_again import accept_offer, take_refund
from billing.services.recompute import recompute
from core import clock, outbox
from core.errors import Conflict
from orders.models import Order
from orders.services.cancel import cancel
from tests import scenario
from tests.billing import money
from tests.billing.told import kinds

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("shop")]
SENDER = "0x" + "11" * 20  # of every transfer of the scenario
COIN = 7 * 10**17


@pytest.fixture
def listed(tmp_path: Path, settings: Any) -> Path:
    """A list on which the sender stands."""
    file = tmp_path / "list.txt"
    file.write_text(f"{SENDER}\n")
    settings.SCREENING_FILE = file
    settings.SCREENING_UNKNOWN = "pass"
    return file


def cancelled(order: Order) -> None:
    with transaction.atomic():
        cancel(order_id=order.public_id, actor="buyer")
    outbox.drain()


def paid_by_card(order: Order) -> None:
    with transaction.atomic():
        CardFact.objects.create(
            payment=order.payment,
            kind=CardFact.Kind.SESSION,
            reference="cs_1",
            payment_intent="pi_1",
            status="complete",
            payment_status="paid",
            amount_minor=93456,
            currency="USD",
            livemode=False,
            read_at=clock.now(),
        )
        recompute(order_id=order.public_id)
    outbox.drain()


# A listed sender gets nothing back by himself


@pytest.mark.parametrize("share", [1, 2])
def test_a_listed_sender_cannot_cancel_first_and_be_refunded(order: Order, listed: Path, share: int) -> None:
    cancelled(order)
    due = order.payment.crypto.due_units
    scenario.pay(order, units=due // share)
    assert not Refund.objects.exists()
    assert "payment_screening" in kinds(order)
    clear_screening(decision=money.open_decision(order, "payment_screening"), actor="anna", reason="r")
    outbox.drain()
    assert money.refunds(order) == [("cancelled", due // share, "address_needed")]
    money.check_books()


def test_a_part_of_a_listed_sender_is_not_refunded_by_the_cancel(order: Order, listed: Path) -> None:
    scenario.pay(order, units=5_000_000)
    cancelled(order)
    assert not Refund.objects.exists()
    assert "payment_screening" in kinds(order)
    refund_what_arrived(decision=money.open_decision(order, "payment_screening"), actor="anna", reason="r")
    assert money.refunds(order) == [("screening", 5_000_000, "address_needed")]


def test_a_listed_sender_cannot_take_the_refund_of_late_money(order: Order, listed: Path) -> None:
    chain = scenario.Chain()
    with time_machine.travel(order.payment.expires_at + timedelta(minutes=3), tick=False):
        chain.advance(to=clock.now(), blocks=3)
        chain.look(order.payment)
        outbox.drain()
        chain.send(order.payment, order.payment.crypto.due_units)
        chain.advance(to=clock.now(), blocks=3)
        chain.look(order.payment)
        outbox.drain()
        with pytest.raises(Conflict) as held:
            take_refund(order_id=order.public_id)
    assert held.value.code == "money_under_review"
    assert not Refund.objects.exists()
    assert "payment_screening" in kinds(order)


def test_a_second_payment_of_a_listed_sender_does_not_go_back_by_itself(order: Order, listed: Path) -> None:
    paid_by_card(order)
    scenario.pay(order)
    order.refresh_from_db()
    assert order.status == "paid"
    assert not Refund.objects.exists()
    assert "payment_screening" in kinds(order)


def test_staff_hear_of_a_listed_sender_before_they_give_money_back(order: Order, listed: Path) -> None:
    chain = scenario.Chain()
    chain.advance()
    chain.send(order.payment, 5_000_000)
    chain.advance(blocks=3)
    chain.look(order.payment, native=COIN)
    wrong = money.open_decision(order, "payment_wrong_asset")
    with pytest.raises(Conflict) as held:
        refund_what_arrived(decision=wrong, actor="anna", reason="r")
    assert held.value.code == "screening_hold"
    assert kinds(order) == ["payment_screening", "payment_wrong_asset"]
    clear_screening(decision=money.open_decision(order, "payment_screening"), actor="anna", reason="r")
    refund_what_arrived(decision=wrong, actor="anna", reason="r")
    assert money.refunds(order) == [("wrong_asset", COIN, "address_needed")]


@pytest.mark.parametrize("way", ["excess", "by_hand"])
def test_no_other_way_gives_money_of_a_listed_sender_back(
    order: Order, listed: Path, settings: Any, way: str
) -> None:
    """The list came after the payment had settled."""
    settings.SCREENING_FILE = None
    scenario.pay(order, units=order.payment.crypto.due_units + 5_000_000)
    settings.SCREENING_FILE = listed
    over = money.open_decision(order, "payment_over")

    def give_back() -> None:
        if way == "excess":
            refund_excess(decision=over, actor="anna", reason="r")
        else:
            refund_by_hand(payment=order.payment, actor="anna", reason="r", amount="5")

    with pytest.raises(Conflict) as held:
        give_back()
    assert held.value.code == "screening_hold"
    assert not Refund.objects.exists()
    assert "payment_screening" in kinds(order)
    clear_screening(decision=money.open_decision(order, "payment_screening"), actor="anna", reason="r")
    give_back()
    assert [units for _reason, units, _status in money.refunds(order)] == [5_000_000]


# Money that is not final


def test_money_in_another_asset_goes_back_only_once_it_is_final(order: Order) -> None:
    chain = scenario.Chain()
    chain.advance()
    chain.look(order.payment, native=COIN, native_settled=0)
    cancelled(order)
    assert not Refund.objects.exists()
    chain.advance(blocks=3)
    chain.look(order.payment, native=COIN, native_settled=COIN)
    outbox.drain()
    assert money.refunds(order) == [("cancelled", COIN, "address_needed")]
    money.check_books()


def test_money_in_another_asset_is_accepted_only_once_it_is_final(order: Order) -> None:
    chain = scenario.Chain()
    chain.advance()
    chain.look(order.payment, native=COIN, native_settled=0)
    with pytest.raises(Conflict) as early:
        accept_as_full(decision=money.open_decision(order, "payment_wrong_asset"), actor="a", reason="r")
    assert early.value.code == "nothing_arrived"


# One answer beside another


def test_what_was_accepted_as_payment_does_not_go_back_by_the_other_question(order: Order) -> None:
    chain = scenario.Chain()
    chain.advance()
    chain.send(order.payment, 5_000_000)
    chain.advance(blocks=3)
    chain.look(order.payment, native=COIN, native_settled=COIN)
    outbox.drain()
    wrong = money.open_decision(order, "payment_wrong_asset")
    with time_machine.travel(order.payment.expires_at + timedelta(minutes=3), tick=False):
        chain.advance(to=clock.now(), blocks=3)
        chain.look(order.payment, native=COIN, native_settled=COIN)
        accept_as_full(decision=money.open_decision(order, "payment_partial"), actor="anna", reason="r")
        outbox.drain()
        accept_offer(order_id=order.public_id)
        order.refresh_from_db()
        assert order.status == "paid"
        with pytest.raises(Conflict) as refused:
            refund_what_arrived(decision=wrong, actor="bert", reason="r")
    assert refused.value.code == "nothing_left"
    assert not Refund.objects.exists()


def test_a_second_click_on_a_refund_by_hand_is_not_a_second_refund(order: Order) -> None:
    scenario.pay(order)
    refund_by_hand(payment=order.payment, actor="anna", reason="a favour", amount="4.50")
    with pytest.raises(Conflict) as again:
        refund_by_hand(payment=order.payment, actor="anna", reason="a favour", amount="4.50")
    assert again.value.code == "already_done"
    with time_machine.travel(clock.now() + timedelta(hours=1), tick=False):
        refund_by_hand(payment=order.payment, actor="anna", reason="a favour", amount="4.50")
    assert [units for _, units, _ in money.refunds(order)] == [4_500_000, 4_500_000]


def test_half_that_went_back_does_not_pay_for_the_order(order: Order) -> None:
    """Half arrives, staff give it back while the order still waits, the other half arrives: it is not paid."""
    due = order.payment.crypto.due_units
    chain = scenario.Chain()
    scenario.pay(order, units=due // 2, chain=chain)
    with pytest.raises(Conflict) as refused:
        refund_by_hand(payment=order.payment, actor="anna", reason="r", amount="467.28")
    assert refused.value.code == "order_open"
    assert not Refund.objects.exists()


def test_a_coin_that_the_operator_collected_is_booked_as_collected(order: Order) -> None:
    chain = scenario.Chain()
    for left in (COIN, 1):
        chain.advance(blocks=3)
        chain.look(order.payment, native=left)
    books = money.balances(order)
    assert (books["deposits:local", "local:ETH"], books["collected", "local:ETH"]) == (1, COIN - 1)
    money.check_books()
