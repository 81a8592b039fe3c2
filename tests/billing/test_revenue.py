"""Revenue by day, accelerator and term, against sums made by hand: 934.56 for two B200 for three days are 311.52 a
day."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest
import time_machine
from django.db import transaction

from billing.revenue import RevenueRow, planned_days, revenue
from billing.services.early_end import early_end
from billing.services.earn import earn_due
from billing.services.recompute import recompute
from billing.terms import Term
from catalog.models import Accelerator
from core import clock, events, outbox
from fleet.models import Lease, Outage
from fleet.selectors import cards_of_hold
from orders.models import Order
from orders.services.cancel import cancel
from tests import scenario
from tests.billing import money
from tests.terms import active_order, joined_extension, lease_of, take_logins_for_good, work

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)
A_DAY = Decimal("311.52")
NOTHING = Decimal("0.00")
MARCH = (date(2026, 3, 1), date(2026, 4, 1))


@pytest.fixture(autouse=True)
def shop(db: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    take_logins_for_good(monkeypatch)
    with time_machine.travel(NOON, tick=False):
        scenario.open_shop()
        yield


def rows() -> list[RevenueRow]:
    return revenue(from_day=MARCH[0], to_day=MARCH[1])


def by_day(days: int = 3) -> dict[int, tuple[Decimal, Decimal, Decimal]]:
    """Day of March -> earned, to come, given back."""
    return {row.day.day: (row.earned, row.to_come, row.given_back) for row in rows() if row.days == days}


def net() -> Decimal:
    return sum((row.net for row in rows()), NOTHING)


def test_each_day_of_a_term_counts_on_the_date_on_which_it_begins() -> None:
    active_order()
    assert by_day() == dict.fromkeys((10, 11, 12), (NOTHING, A_DAY, NOTHING))
    clock.skip(timedelta(hours=25))
    assert earn_due() == 1
    assert by_day() == {
        10: (A_DAY, NOTHING, NOTHING),
        11: (NOTHING, A_DAY, NOTHING),
        12: (NOTHING, A_DAY, NOTHING),
    }
    assert {row.accelerator_id for row in rows()} == {Accelerator.objects.get(slug="b200-180").pk}
    # Half open: the first date is in, the last is not.
    one = revenue(from_day=date(2026, 3, 11), to_day=date(2026, 3, 12))
    assert [(row.day.day, row.net) for row in one] == [(11, A_DAY)]
    clock.skip(timedelta(days=3))
    work()
    assert by_day() == dict.fromkeys((10, 11, 12), (A_DAY, NOTHING, NOTHING))
    money.check_books()


def test_what_is_paid_and_not_open_yet_is_to_come_from_its_start_on() -> None:
    order = scenario.order(scenario.quote(starts_at=NOON + timedelta(days=2)))
    assert rows() == []
    scenario.pay(order)
    assert by_day() == dict.fromkeys((12, 13, 14), (NOTHING, A_DAY, NOTHING))
    with transaction.atomic():
        cancel(order_id=order.public_id, actor="buyer", reason="")
    outbox.drain()
    assert rows() == []


def test_two_lots_earn_twice_and_add_up() -> None:
    active_order(row=scenario.quote(lots=2))
    assert by_day() == dict.fromkeys((10, 11, 12), (NOTHING, 2 * A_DAY, NOTHING))


def test_an_extension_earns_in_its_own_days_and_term() -> None:
    joined_extension(active_order(), days=7)
    assert set(by_day(3)) == {10, 11, 12}
    week = by_day(7)
    assert set(week) == set(range(13, 20))
    # 2,028.00 over seven days: the cents are shared out, none is lost.
    assert sum(amount for _, amount, _ in week.values()) == Decimal("2028.00")
    assert {amount for _, amount, _ in week.values()} == {Decimal("289.71"), Decimal("289.72")}
    assert net() == Decimal("2962.56")


def test_an_early_end_earns_the_rest_at_once_and_gives_back_half_of_the_unused_days() -> None:
    """Ended after 25 hours: one whole day is unused, half of it (155.76) goes back."""
    order = active_order()
    clock.skip(timedelta(hours=25))
    earn_due()
    early_end(order_id=order.public_id, actor="buyer")
    outbox.drain()
    ending = {10: (A_DAY, NOTHING, NOTHING), 11: (NOTHING, 2 * A_DAY, Decimal("155.76"))}
    assert by_day() == ending
    work()
    order.refresh_from_db()
    assert order.status == "ended"
    assert by_day() == {10: ending[10], 11: (2 * A_DAY, NOTHING, Decimal("155.76"))}
    assert net() == Decimal("778.80")
    money.check_books()


def test_a_credit_is_taken_off_when_it_is_granted() -> None:
    """One card for 90 minutes of the 8,640 card-minutes that 934.56 paid for: 9.735, half up 9.74."""
    order = active_order()
    lease = lease_of(order)
    assert lease.ready_at is not None
    Outage.objects.create(
        lease=lease,
        card=cards_of_hold(lease.hold_id)[0],
        cause="card",
        began_at=lease.ready_at,
        ended_at=lease.ready_at + timedelta(minutes=90),
    )
    clock.skip(timedelta(days=1))
    with transaction.atomic():
        events.emit(name="lease.repaired", subject=f"lease:{lease.pk}", order_ref=lease.order_ref)
    outbox.drain()
    assert by_day()[11] == (NOTHING, A_DAY, Decimal("9.74"))
    assert net() == Decimal("924.82")
    # At the end it falls due as a refund of the same sum: it is not taken off twice.
    clock.skip(timedelta(days=3))
    work()
    assert net() == Decimal("924.82")


def test_money_that_its_chain_took_back_earns_nothing_on_any_day() -> None:
    order = scenario.order()
    chain = scenario.Chain()
    chain.advance()
    transfer = chain.send(order.payment, order.payment.crypto.due_units)
    chain.settle(order.payment)
    outbox.drain()
    work()
    clock.skip(timedelta(hours=25))
    earn_due()
    assert net() == Decimal("934.56")
    chain.drop(transfer)
    chain.advance(to=clock.now())
    chain.look(order.payment)
    outbox.drain()
    assert rows() == []


def test_tax_is_no_revenue() -> None:
    order = active_order()
    order.quote.tax, order.quote.subtotal = Decimal("149.22"), Decimal("785.34")
    order.quote.save()
    with transaction.atomic():
        recompute(order_id=order.public_id)
    assert by_day() == {day: (NOTHING, Decimal("261.78"), NOTHING) for day in (10, 11, 12)}
    clock.skip(timedelta(days=4))
    work()
    assert net() == Decimal("785.34")


def test_a_term_that_failed_before_its_start_is_not_to_come() -> None:
    order = scenario.order()
    scenario.pay(order)
    assert net() == Decimal("934.56")
    Lease.objects.filter(order_ref=order.public_id).update(status="failed", failed_at=clock.now())
    assert Order.objects.get().status == "paid"
    assert rows() == []


@pytest.mark.parametrize(
    ("ended_after", "expected"),
    [
        (None, [(10, 33), (11, 33), (12, 34)]),
        (timedelta(0), [(10, 100)]),
        (timedelta(hours=24), [(10, 33), (11, 67)]),
        (timedelta(hours=71), [(10, 33), (11, 33), (13, 34)]),
        (timedelta(days=9), [(10, 33), (11, 33), (12, 34)]),
    ],
)
def test_all_of_a_price_falls_on_some_day(
    ended_after: timedelta | None, expected: list[tuple[int, int]]
) -> None:
    term = Term(NOON, 3, 2, None if ended_after is None else NOON + ended_after)
    assert [(day.day, amount) for day, amount in planned_days(100, term)] == expected
