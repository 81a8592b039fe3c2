"""The books: pure positions that always balance, and what each step of an order's life leaves in them."""

from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest
import time_machine
from django.db import transaction
from hypothesis import given
from hypothesis import strategies as st

from billing.amounts import share_of_units, shown_step, split_evenly, value_of_share
from billing.ledger import LegFacts, OrderFacts, RefundFacts, positions
from billing.models import LedgerTransaction, Refund
from billing.services.earn import earn_due
from billing.services.post import post
from billing.services.recompute import recompute
from core import clock, outbox
from fleet.models import Lease
from orders.models import Order
from tests import scenario
from tests.billing import money
from tests.shop import states

REASONS = [str(reason) for reason in Refund.Reason]


@st.composite
def leg(draw: Any, *, card: bool) -> LegFacts:
    units = draw(st.integers(0, 10**9))
    gone = draw(st.integers(0, units)) if card else 0
    counted = draw(st.integers(0, units))
    rows = []
    for _ in range(draw(st.integers(0, 3))):
        asked = draw(st.integers(1, 10**9))
        paid = draw(st.none() | st.integers(asked, asked + 10))
        rows.append(RefundFacts(reason=draw(st.sampled_from(REASONS)), units=asked, paid=paid))
    return LegFacts(
        asset="USD" if card else "net:USDC",
        network="" if card else "net",
        units=units,
        held=units if card else draw(st.integers(0, units)),
        gone=gone,
        counted=counted,
        worth=counted if card else draw(st.integers(0, 10**6)) if counted else 0,
        refunds=rows,
    )


@st.composite
def order_facts(draw: Any) -> OrderFacts:
    legs = [draw(leg(card=False)), draw(leg(card=True))]
    worth = sum(one.worth for one in legs)
    written_off = draw(st.integers(0, 1000))
    total = worth + written_off
    tax = draw(st.integers(0, total))
    counts = draw(st.booleans())
    earned = [(date(2026, 1, day), draw(st.integers(0, 100))) for day in range(1, draw(st.integers(1, 4)))]
    return OrderFacts(
        currency="USD",
        total=total,
        tax=tax,
        is_open=draw(st.booleans()),
        counts=counts,
        legs=legs,
        earned=earned if counts else (),
        credited=draw(st.integers(0, 50)) if counts else 0,
        written_off=written_off if counts else 0,
    )


@given(order_facts())
def test_positions_balance_in_every_asset(facts: OrderFacts) -> None:
    sums: dict[str, int] = {}
    for line, units in positions(facts).items():
        sums[line.asset] = sums.get(line.asset, 0) + units
    assert all(units == 0 for units in sums.values())


@given(st.integers(0, 10**30), st.integers(1, 10**6), st.integers(0, 10**6), st.sampled_from([1, 10**6]))
def test_a_share_is_never_too_much_and_the_whole_is_whole(
    units: int, whole: int, part: int, step: int
) -> None:
    share = share_of_units(units, part=Decimal(part), whole=Decimal(whole), step=step)
    assert 0 <= share <= units
    if part < whole:
        assert share * whole <= units * part
        assert share % step == 0
    else:
        assert share == units


@given(st.integers(0, 10**12), st.integers(1, 60))
def test_a_split_adds_up_and_differs_by_one(whole: int, parts: int) -> None:
    shares = split_evenly(whole, parts)
    assert sum(shares) == whole
    assert max(shares) - min(shares) <= 1


def test_edges_of_shares() -> None:
    assert value_of_share(1, of_units=2, worth=1) == 1
    assert shown_step(decimals=18, is_native=True) == 10**10
    assert shown_step(decimals=6, is_native=False) == 1
    for bad in (
        lambda: share_of_units(1, part=Decimal(1), whole=Decimal(0)),
        lambda: value_of_share(1, of_units=0, worth=1),
        lambda: split_evenly(1, 0),
    ):
        with pytest.raises(ValueError, match=r"."):
            bad()


@pytest.mark.django_db
@pytest.mark.usefixtures("shop")
def test_the_life_of_an_order_in_the_books(order: Order) -> None:
    outbox.drain()
    assert money.balances(order) == {("receivable", "USD"): 93456, ("deferred_revenue", "USD"): -93456}
    scenario.pay(order)
    due = order.payment.crypto.due_units
    paid = {
        ("deposits:local", "local:USDC"): due,
        ("exchange", "local:USDC"): -due,
        ("exchange", "USD"): 93456,
    }
    assert money.balances(order) == paid | {("deferred_revenue", "USD"): -93456}
    lease: Lease = states.active(order)
    begins = lease.ready_at
    assert begins is not None
    for days, earned in [(0.9, 0), (1, 31152), (2.5, 62304), (2.6, 62304)]:
        with time_machine.travel(begins + timedelta(days=days), tick=False):
            earn_due()
            earn_due()
            assert money.balances(order).get(("earned_revenue", "USD"), 0) == -earned
            money.check_books()
    with time_machine.travel(begins + timedelta(days=3), tick=False):
        order.status = "ended"
        order.save()
        with transaction.atomic():
            post(order_id=order.public_id, kind="test")
        money.check_books()
    assert money.balances(order) == paid | {("earned_revenue", "USD"): -93456}
    booked = order.ledger_entries.filter(account="earned_revenue").values_list("day", "units")
    assert [(day - begins.date()).days for day, _ in booked if day] == [0, 1, 2]


@pytest.mark.django_db
@pytest.mark.usefixtures("shop")
def test_a_reorg_and_its_return_are_booked_and_a_repeat_books_nothing(order: Order) -> None:
    chain = scenario.Chain()
    chain.advance()
    transfer = chain.send(order.payment, order.payment.crypto.due_units)
    chain.settle(order.payment)
    outbox.drain()
    settled = money.balances(order)
    chain.drop(transfer)
    chain.advance(to=clock.now())
    chain.look(order.payment)
    outbox.drain()
    assert money.balances(order) == {}
    chain.send(order.payment, order.payment.crypto.due_units)
    chain.settle(order.payment)
    outbox.drain()
    assert money.balances(order) == settled
    before = LedgerTransaction.objects.count()
    with transaction.atomic():
        assert post(order_id=order.public_id, kind="again") is None
    assert LedgerTransaction.objects.count() == before
    money.check_books()


@pytest.mark.django_db
@pytest.mark.usefixtures("shop")
def test_collected_money_stays_on_record(order: Order) -> None:
    chain = scenario.Chain()
    scenario.pay(order, chain=chain)
    chain.advance(blocks=3)
    with transaction.atomic():
        for kind in ("head", "settled"):
            chain._read(order.payment, kind, chain.number, 0)
        assert money.balances(order)["deposits:local", "local:USDC"] > 0
        recompute(order_id=order.public_id, block=(chain.number, chain.time))
    books = money.balances(order)
    assert ("deposits:local", "local:USDC") not in books
    assert books["collected", "local:USDC"] == order.payment.crypto.due_units
    money.check_books()
