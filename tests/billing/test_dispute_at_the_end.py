"""A bank-card dispute that is open when a lease ends: what falls due is given back once the dispute is won."""

from datetime import timedelta

import pytest
from pytest_django import Settings

from billing.models import DemoCardRecord, Refund
from billing.rails import demo_cards
from billing.services.early_end import early_end
from core import clock
from fleet.models import Outage
from fleet.selectors import cards_of_hold
from orders.models import Order
from tests import cards, scenario
from tests.billing import money
from tests.terms import lease_of, take_logins_for_good, work

pytestmark = pytest.mark.django_db


@pytest.fixture
def order(db: None, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Order:
    """Paid by card and running; the cardholder disputes it."""
    cards.take_cards(settings)
    take_logins_for_good(monkeypatch)
    scenario.open_shop()
    row = cards.order()
    session = cards.pay(row)
    work()
    row.refresh_from_db()
    assert row.status == "active"
    assert demo_cards.dispute(session.session_id) is not None
    cards.deliver()
    return row


def dispute_is(status: str) -> None:
    record = DemoCardRecord.objects.get(kind="dispute")
    record.body["status"] = status
    record.save()
    cards.look()
    cards.look()


def test_an_early_end_falls_due_when_the_dispute_is_won(order: Order) -> None:
    clock.skip(timedelta(hours=1))
    early_end(order_id=order.public_id, actor="buyer")
    work()
    dispute_is("under_review")
    assert money.refunds(order) == []
    dispute_is("won")
    assert money.refunds(order) == [("early_end", 31_152, "due")]
    money.check_books()
    dispute_is("won")
    assert Refund.objects.count() == 1


def test_a_dispute_that_is_lost_gives_nothing_back(order: Order) -> None:
    early_end(order_id=order.public_id, actor="buyer")
    work()
    dispute_is("lost")
    assert money.refunds(order) == []


def test_credits_fall_due_when_the_dispute_is_won(order: Order) -> None:
    lease = lease_of(order)
    assert lease.ready_at is not None
    Outage.objects.create(
        lease=lease,
        card=cards_of_hold(lease.hold_id)[0],
        cause="card",
        began_at=lease.ready_at,
        ended_at=lease.ready_at + timedelta(minutes=60),
    )
    clock.skip(timedelta(days=4))
    for _ in range(4):
        work()
    assert lease_of(order).status == "closed"
    assert money.refunds(order) == []
    dispute_is("won")
    assert money.refunds(order) == [("credit", 649, "due")]
    money.check_books()
