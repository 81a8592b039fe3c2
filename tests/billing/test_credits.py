"""Credits for outages, what an early end gives back, and who gets nothing."""

from datetime import datetime, timedelta
from decimal import Decimal

import pytest
import time_machine
from django.db import transaction

from billing.early_end_amount import early_end_amount
from billing.models import Credit
from billing.services.credits import credit_outages
from core import clock, events, outbox
from core.models import Event
from core.money import quantize
from fleet.models import Lease, Outage
from fleet.selectors import cards_of_hold
from orders.models import Order
from tests import scenario
from tests.billing import money
from tests.billing.told import told
from tests.shop import states

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("shop")]
# 934.56 for two cards and three days: 0.108166... a card-minute.
PRICE = Decimal("934.56")
CARD_MINUTES = 2 * 3 * 24 * 60


@pytest.fixture
def lease(order: Order) -> Lease:
    """A running term."""
    scenario.pay(order)
    return states.active(order)


def outage(lease: Lease, minutes: float, *, card: int = 0, cause: str = "card", after: int = 60) -> Outage:
    began = (lease.ready_at or clock.now()) + timedelta(minutes=after)
    return Outage.objects.create(
        lease=lease,
        card=cards_of_hold(lease.hold_id)[card],
        cause=cause,
        began_at=began,
        ended_at=began + timedelta(minutes=minutes),
    )


def tell(lease: Lease, name: str) -> None:
    with transaction.atomic():
        events.emit(name=name, subject=f"lease:{lease.pk}", order_ref=lease.order_ref)
    outbox.drain()


def closed(order: Order, lease: Lease, *, reason: str = "term_over", at: datetime | None = None) -> None:
    """As the fleet leaves it when the disks are wiped."""
    moment = at or lease.ends_at or clock.now()
    Lease.objects.filter(pk=lease.pk).update(
        status="closed", end_reason=reason, ending_at=moment, closed_at=moment, wiped_at=moment
    )
    for name in ("lease.ending", "lease.closed"):
        tell(lease, name)
    order.refresh_from_db()


def test_each_started_minute_of_a_card_is_credited_once(order: Order, lease: Lease) -> None:
    outage(lease, 90.1)
    tell(lease, "lease.repaired")
    tell(lease, "lease.repaired")
    credit = Credit.objects.get()
    assert credit.minutes == 91
    assert credit.amount == quantize(PRICE * 91 / CARD_MINUTES)
    assert told(order, "credit.") == ["credit.due"]
    assert Event.objects.get(name="credit.due").payload["amount"] == f"{credit.amount}"
    assert money.refunds(order) == []
    books = money.balances(order)
    assert books["credits", "USD"] == -books["credits_due", "USD"] == int(credit.amount * 100)
    money.check_books()


def test_an_open_or_empty_outage_is_worth_nothing_yet(order: Order, lease: Lease) -> None:
    row = outage(lease, 0)
    Outage.objects.create(lease=lease, card=row.card, cause="card", began_at=clock.now())
    tell(lease, "lease.repaired")
    assert not Credit.objects.exists()


def test_many_short_ones_lose_and_gain_no_cent(order: Order, lease: Lease) -> None:
    for number in range(30):
        outage(lease, 1, after=10 + 2 * number)
        with transaction.atomic():
            credit_outages(order_ref=order.public_id)
    total = sum(row.amount for row in Credit.objects.all())
    assert total == quantize(PRICE * 30 / CARD_MINUTES)


def test_the_sum_falls_due_at_the_end_as_one_refund(order: Order, lease: Lease) -> None:
    outage(lease, 60)
    outage(lease, 60, card=1)
    tell(lease, "lease.repaired")
    closed(order, lease)
    tell(lease, "lease.closed")
    assert order.status == "ended"
    credit = quantize(PRICE * 120 / CARD_MINUTES)
    assert money.refunds(order) == [("credit", int(credit * 10**6), "address_needed")]
    money.check_books()
    books = money.balances(order)
    assert ("credits_due", "USD") not in books
    assert books["credits", "USD"] == int(credit * 100)
    assert books["earned_revenue", "USD"] == -93456


def test_never_more_than_was_paid(order: Order, lease: Lease) -> None:
    outage(lease, CARD_MINUTES * 3)
    closed(order, lease)
    assert money.refunds(order) == [("credit", order.payment.crypto.due_units, "address_needed")]
    money.check_books()


def test_an_early_end_gives_back_half_of_the_whole_unused_days(order: Order, lease: Lease) -> None:
    outage(lease, 60)
    tell(lease, "lease.repaired")
    at = (lease.ready_at or clock.now()) + timedelta(hours=30)
    with time_machine.travel(at, tick=False):
        closed(order, lease, reason="early_end", at=at)
        early = early_end_amount(order, Lease.objects.get(), at=at)
        assert early.unused_days == 1
        credit = Credit.objects.get().amount
        assert money.refunds(order) == [
            ("early_end", int(early.amount * 10**6), "address_needed"),
            ("credit", int(credit * 10**6), "address_needed"),
        ]
        money.check_books()
        books = money.balances(order)
        assert books["earned_revenue", "USD"] == -93456
        assert books["credits", "USD"] == int((early.amount + credit) * 100)


def test_money_that_its_chain_took_back_gives_nothing(order: Order) -> None:
    chain = scenario.Chain()
    chain.advance()
    transfer = chain.send(order.payment, order.payment.crypto.due_units)
    chain.settle(order.payment)
    outbox.drain()
    lease = states.active(order)
    outage(lease, 60)
    chain.drop(transfer)
    chain.advance(to=clock.now())
    chain.look(order.payment)
    outbox.drain()
    lease.refresh_from_db()
    closed(order, lease, reason="reversed")
    assert order.status == "failed"
    assert money.refunds(order) == []
    money.check_books()


def test_a_delivery_that_failed_gives_all_of_it_back_once(order: Order, lease: Lease) -> None:
    outage(lease, 60, cause="late", after=-60)
    Lease.objects.filter(pk=lease.pk).update(status="failed", ready_at=None, end_reason="late")
    Order.objects.filter(pk=order.pk).update(status="provisioning")
    tell(lease, "lease.failed")
    assert money.refunds(order) == [("not_delivered", order.payment.crypto.due_units, "address_needed")]
    assert not Credit.objects.exists()
    money.check_books()
