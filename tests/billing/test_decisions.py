"""Money that differs: what staff can decide, what the buyer can choose, what happens when nobody answers."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.db import transaction

from billing.models import Acceptance, CardFact, PaymentView, Refund
from billing.services.accept import accept_as_full
from billing.services.money_decisions import refund_excess, refund_what_arrived
from billing.services.offer_again import accept_offer, offer_late, offer_lot, sweep_offers, take_refund
from billing.services.recompute import recompute
from core import clock, outbox
from core.errors import Conflict
from core.models import OutgoingMail
from fleet.models import Hold, Lease
from fleet.services.sweep import release_overdue_holds
from orders.models import Order
from tests import races, scenario
from tests.billing import money
from tests.billing.told import kinds, told

pytestmark = pytest.mark.django_db


@pytest.fixture
def order(db: None) -> Order:
    """The only B200 node has two cards: the order takes them all."""
    scenario.open_shop(cards_per_node=2)
    return scenario.order()


def at(moment: Any) -> Any:
    return time_machine.travel(moment, tick=False)


@pytest.fixture
def late(order: Order) -> Iterator[scenario.Chain]:
    """Three minutes after the expiry the order is known to be unpaid; its cards are on sale again."""
    chain = scenario.Chain()
    with at(order.payment.expires_at + timedelta(minutes=3)):
        chain.advance(to=clock.now(), blocks=3)
        chain.look(order.payment)
        outbox.drain()
        order.refresh_from_db()
        assert order.status == "expired"
        yield chain


def send(order: Order, chain: scenario.Chain, units: int) -> PaymentView:
    chain.advance(to=clock.now())
    chain.send(order.payment, units)
    chain.advance(to=clock.now(), blocks=3)
    view = chain.look(order.payment)
    outbox.drain()
    order.refresh_from_db()
    return view


def due(order: Order) -> int:
    return order.payment.crypto.due_units


def test_c11_s20a_late_money_with_a_free_lot_is_the_buyers_choice(order: Order, late: scenario.Chain) -> None:
    view = send(order, late, due(order))
    assert (view.status, order.status, order.offered_until) == ("expired", "expired", None)
    assert not Lease.objects.exists()
    sweep_offers()
    sweep_offers()
    order.refresh_from_db()
    assert order.offered_until == clock.now() + timedelta(hours=1)
    assert Hold.objects.get(ref=order.public_id).is_open
    assert kinds(order) == []
    mail = OutgoingMail.objects.get(subject__contains="please choose")
    assert order.get_absolute_url() in mail.text
    accept_offer(order_id=order.public_id)
    order.refresh_from_db()
    assert order.status == "paid"
    assert Lease.objects.get().order_ref == order.public_id
    view.refresh_from_db()
    assert (view.status, "by_hand" in view.flags) == ("settled", True)
    outbox.drain()
    assert Acceptance.objects.get().actor == "buyer"
    with pytest.raises(Conflict) as again:
        accept_offer(order_id=order.public_id)
    assert again.value.code == "already_done"
    with pytest.raises(Conflict):
        take_refund(order_id=order.public_id)
    assert not Refund.objects.exists()
    money.check_books()
    assert money.balances(order)["exchange", "local:USDC"] == -due(order)


def test_c11_no_answer_is_a_refund(order: Order, late: scenario.Chain) -> None:
    send(order, late, due(order))
    sweep_offers()
    with at(clock.now() + timedelta(minutes=59)):
        sweep_offers()
        assert not Refund.objects.exists()
    with at(clock.now() + timedelta(minutes=60)):
        sweep_offers()
        sweep_offers()
        assert money.refunds(order) == [("late_money", due(order), "address_needed")]
        assert not Hold.objects.filter(ref=order.public_id, released_at=None).exists()
        with pytest.raises(Conflict) as over:
            accept_offer(order_id=order.public_id)
        assert over.value.code == "offer_over"
        sweep_offers()
        order.refresh_from_db()
        assert order.offered_until is None
    money.check_books()


def test_c11_the_buyer_takes_the_refund_at_once(order: Order, late: scenario.Chain) -> None:
    send(order, late, due(order))
    sweep_offers()
    take_refund(order_id=order.public_id)
    assert money.refunds(order) == [("late_money", due(order), "address_needed")]
    scenario.order()  # the cards are on sale again
    with pytest.raises(Conflict):
        take_refund(order_id=order.public_id)
    assert len(money.refunds(order)) == 1


def test_c11_twenty_hours_later_is_the_same(order: Order, late: scenario.Chain) -> None:
    with at(clock.now() + timedelta(hours=20)):
        send(order, late, due(order))
        sweep_offers()
        order.refresh_from_db()
        assert order.offered_until == clock.now() + timedelta(hours=1)


def test_s20b_late_money_and_the_lot_sold_is_never_silent(order: Order, late: scenario.Chain) -> None:
    rival = scenario.order()
    send(order, late, due(order))
    sweep_offers()
    sweep_offers()
    assert kinds(order) == ["order_no_capacity", "payment_late"]
    assert told(order, "order.").count("order.no_capacity") == 1
    assert (
        OutgoingMail.objects.filter(order_ref=order.public_id, subject__contains="cards are gone").count()
        == 1
    )
    with pytest.raises(Conflict) as none:
        offer_lot(decision=money.open_decision(order, "order_no_capacity"), actor="anna", reason="try")
    assert none.value.code == "no_capacity"
    assert kinds(order) == ["order_no_capacity", "payment_late"]
    Hold.objects.filter(ref=rival.public_id).update(release_at=clock.now())
    assert release_overdue_holds() == 1
    offer_lot(decision=money.open_decision(order, "order_no_capacity"), actor="anna", reason="free again")
    assert kinds(order) == []
    order.refresh_from_db()
    assert order.offered_until is not None


def test_s20b_without_a_lot_the_money_falls_due_after_a_day(order: Order, late: scenario.Chain) -> None:
    scenario.pay(scenario.order())
    send(order, late, due(order))
    sweep_offers()
    assert money.refunds(order) == []
    with at(clock.now() + timedelta(hours=24)):
        sweep_offers()
        assert money.refunds(order) == [("late_money", due(order), "address_needed")]
        assert kinds(order) == []


def test_money_on_time_whose_cards_had_gone(order: Order) -> None:
    chain = scenario.Chain()
    chain.advance(to=order.payment.expires_at - timedelta(minutes=1))
    chain.send(order.payment, due(order))
    with at(order.payment.expires_at + timedelta(hours=3)):
        assert release_overdue_holds() == 1
        rival = scenario.order()
        chain.advance(to=clock.now(), blocks=3)
        chain.look(order.payment)
        outbox.drain()
        order.refresh_from_db()
        assert (order.status, order.payment.view.status) == ("expired", "settled")
        assert kinds(order) == ["order_no_capacity"]
        Hold.objects.filter(ref=rival.public_id).update(release_at=clock.now())
        sweep_offers()
        order.refresh_from_db()
        assert order.offered_until is not None
        accept_offer(order_id=order.public_id)
        order.refresh_from_db()
        assert order.status == "paid"
        assert not Acceptance.objects.exists()
        outbox.drain()
        money.check_books()


def test_c04_each_fact_by_itself_and_either_way_out(order: Order) -> None:
    chain = scenario.Chain()
    chain.advance()
    whole = due(order)
    chain.send(order.payment, 10_000_000)
    chain.settle(order.payment)
    with at(order.payment.expires_at + timedelta(hours=2)):
        chain.advance(to=clock.now(), blocks=3)
        chain.look(order.payment)
        outbox.drain()
        view = send(order, chain, whole - 5_500_000)
        assert {"late", "over"} <= set(view.flags)
        facts = money.open_decision(order, "payment_late").facts
        assert (facts["received"], facts["on_time"], facts["over"]) == ("939.060000", "10.000000", "4.500000")
        assert facts["late"] == "929.060000"
        sweep_offers()
        with transaction.atomic():
            accept_offer(order_id=order.public_id)
            outbox.drain()
            refund_excess(
                decision=money.open_decision(order, "payment_over"), actor="anna", reason="4.50 too much"
            )
            assert money.refunds(order) == [("excess", 4_500_000, "address_needed")]
            money.check_books()
            transaction.set_rollback(True)
        take_refund(order_id=order.public_id)
        assert money.refunds(order) == [("late_money", whole + 4_500_000, "address_needed")]
        assert kinds(order) == []


def test_a_part_that_never_became_whole_is_accepted_or_given_back(order: Order) -> None:
    chain = scenario.Chain()
    chain.advance()
    chain.send(order.payment, due(order) - 1_000_000)
    chain.settle(order.payment)
    with at(order.payment.expires_at + timedelta(minutes=1)):
        chain.advance(to=clock.now(), blocks=3)
        chain.look(order.payment)
        outbox.drain()
        decision = money.open_decision(order, "payment_partial")
        with transaction.atomic():
            refund_what_arrived(decision=decision, actor="anna", reason="too little")
            assert money.refunds(order) == [("partial", due(order) - 1_000_000, "address_needed")]
            transaction.set_rollback(True)
        accept_as_full(decision=decision, actor="anna", reason="good enough")
        with pytest.raises(Conflict):
            accept_as_full(decision=decision, actor="bert", reason="again")
        outbox.drain()
        order.refresh_from_db()
        # Its cards had gone back on sale: a lot is kept, and the buyer says when the lease begins.
        assert order.offered_until is not None
        accept_offer(order_id=order.public_id)
        outbox.drain()
        order.refresh_from_db()
        assert order.status == "paid"
        money.check_books()
        books = money.balances(order)
        assert books["write_off", "USD"] == 100
        assert books["exchange", "USD"] == 93356


def test_c06_c36_another_asset_pays_only_by_a_persons_word(order: Order) -> None:
    chain = scenario.Chain()
    chain.advance()
    chain.look(order.payment, native=25_500_000_000_000_000_000)
    view = PaymentView.objects.get(payment=order.payment)
    assert (view.status, view.received_units, view.flags) == ("awaiting", 0, ["wrong_asset"])
    decision = money.open_decision(order, "payment_wrong_asset")
    with transaction.atomic():
        refund_what_arrived(decision=decision, actor="anna", reason="not ours")
        row = Refund.objects.get()
        assert (row.asset, row.asset_contract, row.decimals) == ("ETH", "", 18)
        assert (row.reason, row.units) == ("wrong_asset", 25_500_000_000_000_000_000)
        money.check_books()
        transaction.set_rollback(True)
    accept_as_full(decision=decision, actor="anna", reason="worth enough")
    outbox.drain()
    order.refresh_from_db()
    assert order.status == "paid"
    money.check_books()
    assert money.balances(order)["exchange", "USD"] == 93456


def test_what_was_accepted_is_taken_back_by_a_reorg_like_any_other(order: Order) -> None:
    chain = scenario.Chain()
    chain.advance()
    transfer = chain.send(order.payment, due(order) - 1)
    chain.settle(order.payment)
    with at(order.payment.expires_at + timedelta(minutes=1)):
        chain.advance(to=clock.now(), blocks=3)
        chain.look(order.payment)
        outbox.drain()
        accept_as_full(decision=money.open_decision(order, "payment_partial"), actor="a", reason="r")
        chain.drop(transfer)
        chain.advance(to=clock.now())
        assert chain.look(order.payment).status == "reversed"
        money.check_books()


def test_staff_cannot_accept_what_is_not_there_or_over(order: Order, late: scenario.Chain) -> None:
    view = send(order, late, 5)
    decision = money.open_decision(order, "payment_partial")
    refund_what_arrived(decision=decision, actor="a", reason="r")
    late.advance(to=clock.now())
    late.send(order.payment, 7)
    view = late.look(order.payment, settled_number=late.number)
    assert view.settled_units == 12
    again = money.open_decision(order, "payment_partial")
    Refund.objects.create(
        **{
            field.name: getattr(Refund.objects.get(), field.name)
            for field in Refund._meta.fields
            if field.name not in ("id", "key", "units")
        },
        key="rest",
        units=7,
    )
    with pytest.raises(Conflict) as nothing:
        accept_as_full(decision=again, actor="a", reason="r")
    assert nothing.value.code == "nothing_arrived"


@pytest.mark.django_db(transaction=True)
def test_s49_lot_and_refund_pressed_at_once_have_one_winner(order: Order, late: scenario.Chain) -> None:
    send(order, late, due(order))
    sweep_offers()
    acts: list[Callable[[], object]] = [
        lambda: accept_offer(order_id=order.public_id),
        lambda: take_refund(order_id=order.public_id),
        lambda: accept_offer(order_id=order.public_id),
        lambda: take_refund(order_id=order.public_id),
        lambda: offer_late(order_id=order.public_id),
    ]
    with races.own_connections():
        results = races.at_once(len(acts), lambda number: acts[number]())
    order.refresh_from_db()
    leased = Lease.objects.filter(order_ref=order.public_id).count()
    assert leased + len(money.refunds(order)) == 1
    assert (order.status == "paid") == bool(leased)
    assert sum(isinstance(result, Conflict) for result in results) == 3
    outbox.drain()
    money.check_books()


def by_card(order: Order, minor: int = 93456) -> None:
    """The processor says that a session was paid."""
    with transaction.atomic():
        CardFact.objects.create(
            payment=order.payment,
            kind=CardFact.Kind.SESSION,
            reference="cs_1",
            payment_intent="pi_1",
            status="complete",
            payment_status="paid",
            amount_minor=minor,
            currency="USD",
            livemode=False,
            read_at=clock.now(),
        )
        recompute(order_id=order.public_id)
    outbox.drain()


@pytest.mark.parametrize("card_first", [True, False])
def test_paid_twice_is_one_lease_and_one_refund_of_the_card(order: Order, card_first: bool) -> None:
    if card_first:
        by_card(order)
        scenario.pay(order)
    else:
        scenario.pay(order)
        by_card(order)
    by_card_again = Refund.objects.get()
    assert (by_card_again.rail, by_card_again.units, by_card_again.status) == ("bank_card", 93456, "due")
    assert (by_card_again.reason, by_card_again.payment_intent) == ("paid_twice", "pi_1")
    assert Lease.objects.count() == 1
    money.check_books()
    books = money.balances(order)
    assert books["card_clearing", "USD"] == 93456 == -books["refunds_due", "USD"]
    assert books["exchange", "USD"] == 93456


def test_a_transfer_that_comes_late_beside_a_card_goes_back_itself(order: Order) -> None:
    by_card(order)
    chain = scenario.Chain()
    with at(order.payment.expires_at + timedelta(minutes=3)):
        send(order, chain, due(order))
        assert money.refunds(order) == [("paid_twice", due(order), "address_needed")]
        money.check_books()
        assert money.balances(order)["deferred_revenue", "USD"] == -93456


def test_money_that_returns_after_the_order_was_closed_for_it_is_a_question(order: Order) -> None:
    chain = scenario.Chain()
    chain.advance()
    transfer = chain.send(order.payment, due(order))
    chain.settle(order.payment)
    outbox.drain()
    chain.drop(transfer)
    chain.advance(to=clock.now())
    chain.look(order.payment)
    outbox.drain()
    Lease.objects.filter(order_ref=order.public_id).update(status="ending", end_reason="reversed")
    Order.objects.filter(pk=order.pk).update(status="failed")
    send(order, chain, due(order))
    assert money.refunds(order) == []
    refund_what_arrived(
        decision=money.open_decision(order, "paid_after_cancel"), actor="anna", reason="used for an hour only"
    )
    assert money.refunds(order) == [("cancelled", due(order), "address_needed")]
    money.check_books()
