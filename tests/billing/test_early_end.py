"""What comes back at an early end: whole unused days at half of the paid price of a day, never more than paid."""

from datetime import timedelta
from decimal import Decimal

import pytest

from billing.early_end_amount import early_end_amount, paid_for_lots
from billing.models import Refund
from billing.services.early_end import early_end, early_end_of, early_end_preview
from core import clock
from core.errors import Conflict
from fleet.services.sweep import sweep_leases
from orders.models import Order
from tests import scenario
from tests.terms import active_order, extension, joined_extension, lease_of, take_logins_for_good, work

pytestmark = pytest.mark.django_db
# Two B200 for three days, as the catalogue of the tests sells them.
PAID = Decimal("934.56")


@pytest.fixture(autouse=True)
def shop(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    take_logins_for_good(monkeypatch)
    scenario.open_shop()


@pytest.fixture
def order() -> Order:
    return active_order()


def amount_after(order: Order, passed: timedelta) -> tuple[int, Decimal]:
    lease = lease_of(order)
    assert lease.ready_at is not None
    found = early_end_amount(order, lease, at=lease.ready_at + passed)
    return found.unused_days, found.amount


@pytest.mark.parametrize(
    ("passed", "expected"),
    [
        (timedelta(seconds=0), (3, Decimal("467.28"))),
        (timedelta(seconds=1), (2, Decimal("311.52"))),
        (timedelta(days=1), (2, Decimal("311.52"))),
        (timedelta(days=1, seconds=1), (1, Decimal("155.76"))),
        (timedelta(days=2), (1, Decimal("155.76"))),
        (timedelta(days=2, seconds=1), (0, Decimal("0.00"))),
        (timedelta(days=3), (0, Decimal("0.00"))),
        (timedelta(days=9), (0, Decimal("0.00"))),
    ],
)
def test_whole_unused_days_at_half_price(
    order: Order, passed: timedelta, expected: tuple[int, Decimal]
) -> None:
    assert amount_after(order, passed) == expected


def test_options_are_not_part_of_it() -> None:
    plain = active_order()
    more = active_order(row=scenario.quote(options=[("nvme-extra", 2)]))
    assert more.quote.total > plain.quote.total
    assert amount_after(more, timedelta()) == amount_after(plain, timedelta())


def test_the_tax_on_the_lots_comes_back_with_them(order: Order) -> None:
    quote = order.quote
    quote.tax = Decimal("186.91")
    quote.total = quote.subtotal + quote.tax
    assert paid_for_lots(quote) == quote.total
    # A price that contains the tax: the line itself is what was paid.
    quote.total, quote.subtotal, quote.tax = PAID, Decimal("778.80"), Decimal("155.76")
    assert paid_for_lots(quote) == PAID


def test_days_are_taken_off_the_last_extension_first(order: Order) -> None:
    joined_extension(order, days=7)
    lease = lease_of(order)
    assert lease.ready_at is not None
    found = early_end_amount(order, lease, at=lease.ready_at + timedelta(days=1))
    week = Decimal("2028.00")
    assert [(part.days, part.amount) for part in found.parts] == [
        (7, week / 2),
        (2, Decimal("311.52")),
    ]
    assert (found.unused_days, found.amount) == (9, week / 2 + Decimal("311.52"))
    later = early_end_amount(order, lease, at=lease.ready_at + timedelta(days=5))
    assert [(part.days, part.amount) for part in later.parts] == [(5, Decimal("724.29"))]


def test_every_part_is_at_most_half_of_what_was_paid(order: Order) -> None:
    joined_extension(order, days=7)
    lease = lease_of(order)
    assert lease.ready_at is not None
    for hours in range(0, 24 * 11, 7):
        found = early_end_amount(order, lease, at=lease.ready_at + timedelta(hours=hours))
        for part in found.parts:
            assert part.amount * 2 <= Order.objects.get(public_id=part.order_id).quote.total + Decimal("0.01")


def test_ended_early_answers_what_the_page_said_and_the_facts_say_later(order: Order) -> None:
    clock.skip(timedelta(hours=25))
    shown = early_end_preview(order)
    done = early_end(order_id=order.public_id, actor="buyer")
    assert (done.unused_days, done.amount, done.currency) == (shown.unused_days, shown.amount, "USD")
    assert (done.unused_days, done.amount) == (1, Decimal("155.76"))
    clock.skip(timedelta(hours=30))
    work()
    assert early_end_of(order) == done
    with pytest.raises(Conflict) as refused:
        early_end(order_id=order.public_id, actor="buyer")
    assert refused.value.code == "already_done"


def test_it_is_the_lease_that_ends_whichever_of_its_orders_is_named(order: Order) -> None:
    row = joined_extension(order)
    done = early_end(order_id=row.public_id, actor="buyer")
    assert {part.order_id for part in done.parts} == {order.public_id, row.public_id}
    work()
    assert {Order.objects.get(pk=pk).status for pk in (order.pk, row.pk)} == {"ended"}


def test_an_extension_that_is_not_part_of_the_term_is_not_counted(order: Order) -> None:
    extension(order)
    assert [part.order_id for part in early_end_preview(order).parts] == [order.public_id]


def test_an_extension_counts_from_the_moment_that_it_is_part_of_the_term(order: Order) -> None:
    """Its order hears of it by an event. Whoever ends the lease before that gets the same sum, told and refunded."""
    row = extension(order)
    scenario.pay(row)
    sweep_leases()
    row.refresh_from_db()
    assert row.status == "paid"
    done = early_end(order_id=order.public_id, actor="buyer")
    assert [(part.order_id, part.days) for part in done.parts] == [(row.public_id, 3), (order.public_id, 2)]
    work()
    assert early_end_of(order) == done
    due = Refund.objects.filter(reason="early_end").values_list("order__public_id", "units")
    assert dict(due) == {part.order_id: int(part.amount * 10**6) for part in done.parts}


def test_another_end_leaves_nothing_due(order: Order) -> None:
    assert early_end_of(order) is None
    clock.skip(timedelta(days=4))
    work()
    assert early_end_of(order) is None
