"""Time that runs out while nobody looks, or in the middle of a look: the clock decides what is shown, blocks what
counts."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test import Client

from billing import locks
from billing.models import PaymentView
from billing.selectors import payment_state
from core import clock, outbox
from core.errors import Conflict
from core.locks import mark
from core.models import Decision
from fleet import locks as locks_of_fleet
from fleet.models import Hold, Lease
from fleet.services.sweep import release_overdue_holds
from orders.models import Order
from tests import races, scenario
from tests.billing import money

pytestmark = pytest.mark.django_db


@pytest.fixture
def order(db: None) -> Order:
    """The only B200 node has two cards: the order takes them all."""
    scenario.open_shop(cards_per_node=2)
    return scenario.order()


def at(moment: Any) -> Any:
    return time_machine.travel(moment, tick=False)


def paid_on_time(order: Order) -> scenario.Chain:
    """The transfer is in a block one minute before the expiry; nobody has looked yet."""
    chain = scenario.Chain()
    chain.advance(to=order.payment.expires_at - timedelta(minutes=1))
    chain.send(order.payment, order.payment.crypto.due_units)
    return chain


def test_c13_four_hours_without_a_worker_show_expired_and_sell_the_lot_once(
    order: Order, client: Client
) -> None:
    payment = order.payment
    chain = scenario.Chain()
    with at(payment.expires_at - timedelta(seconds=1)):
        state = payment_state(order)
        assert state is not None
        assert state.status == "awaiting"
    with at(payment.expires_at + timedelta(hours=1)):
        chain.advance(to=clock.now())
        chain.send(payment, payment.crypto.due_units)
    with at(payment.expires_at + timedelta(hours=3)):
        state = payment_state(order)
        assert state is not None
        assert state.status == "expired"
        assert PaymentView.objects.get(payment=payment).status == "awaiting"
        assert "Time is up" in client.get(order.get_absolute_url()).content.decode()
        rival = scenario.order()
        assert not Hold.objects.get(ref=order.public_id).is_open
        chain.advance(to=clock.now(), blocks=3)
        view = chain.look(payment)
        outbox.drain()
        order.refresh_from_db()
        assert (view.status, "late" in view.flags, order.status) == ("expired", True, "expired")
        scenario.pay(rival)
        assert [lease.order_ref for lease in Lease.objects.all()] == [rival.public_id]
        assert Decision.objects.filter(order_ref=order.public_id, kind="payment_late").exists()
        money.check_books()


def in_another_worker(act: Callable[[], Any]) -> Any:
    """In a transaction and a connection of its own."""

    def run() -> Any:
        try:
            return act()
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(run).result(timeout=30)


@pytest.mark.django_db(transaction=True)
def test_c15_the_lot_is_sold_to_another_while_a_check_is_in_flight(
    order: Order, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Expiry, release and the rival's purchase commit after the chain was read and before its answer is booked."""
    chain = paid_on_time(order)
    lock = locks.payment_for_update
    interrupted: list[Any] = []

    def interrupt_once(order_id: str) -> Any:
        if not interrupted:
            interrupted.append(in_another_worker(lambda: (release_overdue_holds(), scenario.order())))
        return lock(order_id)

    monkeypatch.setattr(locks, "payment_for_update", interrupt_once)
    with at(Hold.objects.get(ref=order.public_id).release_at + timedelta(seconds=1)):
        chain.advance(to=clock.now(), blocks=3)
        view = chain.look(order.payment)
        outbox.drain()
    [(released, rival)] = interrupted
    assert released == 1
    order.refresh_from_db()
    assert (view.status, order.status) == ("settled", "expired")
    assert Hold.objects.get(ref=rival.public_id).is_open
    assert not Lease.objects.exists()
    assert Decision.objects.get(order_ref=order.public_id).kind == "order_no_capacity"
    money.check_books()


@pytest.mark.django_db(transaction=True)
def test_c15_check_release_and_rival_at_once_end_in_one_of_two_ways(order: Order) -> None:
    chain = paid_on_time(order)

    def settle() -> str:
        view = chain.look(order.payment)
        outbox.drain()
        return str(view.status)

    with at(Hold.objects.get(ref=order.public_id).release_at + timedelta(seconds=1)):
        chain.advance(to=clock.now(), blocks=3)
        acts: list[Callable[[], Any]] = [settle, release_overdue_holds, scenario.order]
        with races.own_connections():
            status, _released, rival = races.at_once(len(acts), lambda number: acts[number]())
        outbox.drain()
    order.refresh_from_db()
    leased = Lease.objects.filter(order_ref=order.public_id).exists()
    assert status == "settled"
    assert (order.status, leased) in [("paid", True), ("expired", False)]
    if leased:
        assert isinstance(rival, Conflict)
    else:
        # Never silent: another lot is looked for, and staff and buyer know.
        assert Decision.objects.filter(order_ref=order.public_id, kind="order_no_capacity").exists()
    money.check_books()


@pytest.mark.django_db(transaction=True)
def test_c15_control_without_the_lock_on_the_hold_the_paid_order_takes_cards_that_were_sold(
    order: Order, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the look at the hold and the lease, release and rival commit: one lot, two buyers."""
    chain = paid_on_time(order)

    def read_and_be_late(ref: str) -> Hold | None:
        hold = Hold.objects.filter(ref=ref).first()
        in_another_worker(lambda: (release_overdue_holds(), scenario.order()))
        return mark(hold) if hold is not None else None

    late_locks = SimpleNamespace(**vars(locks_of_fleet) | {"hold_for_update": read_and_be_late})
    monkeypatch.setattr("fleet.services.commit.locks", late_locks)
    with at(Hold.objects.get(ref=order.public_id).release_at + timedelta(seconds=1)):
        chain.advance(to=clock.now(), blocks=3)
        chain.look(order.payment)
        outbox.drain()
    order.refresh_from_db()
    rival = Order.objects.exclude(pk=order.pk).get()
    assert Hold.objects.get(ref=rival.public_id).is_open
    assert (order.status, Lease.objects.filter(order_ref=order.public_id).exists()) == ("paid", True)
