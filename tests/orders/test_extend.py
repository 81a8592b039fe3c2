"""An extension is an order of its own on the same lease: priced today, paid, joined; else the old end stands."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction

from core import clock, outbox
from core.errors import Conflict, NotFound, Refusal
from core.models import Event, OutboxRow, OutgoingMail
from fleet.models import Hold, Reservation
from fleet.services.end import end_lease
from fleet.services.sweep import release_overdue_holds
from orders.models import Order
from orders.services.cancel import cancel
from orders.services.expire import expire_unpaid
from orders.services.extend import ExtensionOpen
from tests import scenario
from tests.terms import active_order, extension, joined_extension, lease_of, take_logins_for_good, work

pytestmark = pytest.mark.django_db
TERM = timedelta(days=3)


@pytest.fixture(autouse=True)
def shop(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    take_logins_for_good(monkeypatch)
    scenario.open_shop()


@pytest.fixture
def order() -> Order:
    return active_order()


def names(order: Order) -> list[str]:
    return list(Event.objects.filter(order_ref=order.public_id).order_by("pk").values_list("name", flat=True))


def mails(order: Order) -> list[str]:
    outbox.drain()
    prefix = f"order:{order.pk}:"
    keys = OutgoingMail.objects.filter(key__startswith=prefix).order_by("pk").values_list("key", flat=True)
    return [key.removeprefix(prefix) for key in keys]


def again(order: Order) -> Order:
    return Order.objects.get(pk=order.pk)


def test_it_is_an_order_of_its_own_at_todays_price(order: Order) -> None:
    row = extension(order, days=7)
    assert (row.extends, row.status, row.owner, row.ssh_keys) == (order, "awaiting_payment", order.owner, [])
    assert (row.mail_to, row.mail_language, row.notify) == (order.mail_to, order.mail_language, order.notify)
    quote = row.quote
    assert (quote.lot, quote.lots, quote.image, quote.days) == (
        order.quote.lot,
        order.quote.lots,
        order.quote.image,
        7,
    )
    assert quote.bill_to == order.quote.bill_to
    assert (quote.status, quote.total) == ("accepted", scenario.quote(days=7).total)
    assert (row.payment.amount, row.payment.expires_at) == (quote.total, row.hold_expires_at)
    assert Hold.objects.get(ref=row.public_id).extends == lease_of(order)
    assert names(row) == ["quote.accepted", "order.placed"]
    assert mails(row) == ["extension_placed"]


def test_options_by_day_go_on_and_those_charged_once_do_not() -> None:
    order = active_order(row=scenario.quote(options=[("nvme-extra", 2), ("dataset-preload", 1)]))
    row = extension(order)
    assert row.quote.options == [{"code": "nvme-extra", "quantity": 2}]


def test_paid_then_active_then_ended_with_the_lease(order: Order) -> None:
    old = lease_of(order).ends_at
    assert old is not None
    row = extension(order)
    scenario.pay(row)
    assert again(row).status == "paid"
    work()
    assert again(row).status == "active"
    assert lease_of(order).ends_at == old + TERM
    clock.skip(TERM + timedelta(hours=1))
    work()
    assert (again(order).status, again(row).status) == ("active", "active")
    clock.skip(TERM)
    work()
    assert (again(order).status, again(row).status) == ("ended", "ended")
    assert [name for name in names(row) if name.startswith("order.")] == [
        "order.placed",
        "order.paid",
        "order.active",
        "order.ended",
    ]
    assert mails(row) == ["extension_placed", "extension_joined"]


def test_an_extension_of_an_extension_extends_the_first_order(order: Order) -> None:
    first = joined_extension(order)
    second = joined_extension(first, days=7)
    assert second.extends == order
    old = lease_of(order).hold.term_seconds
    ends_at, ready_at = lease_of(order).ends_at, lease_of(order).ready_at
    assert ends_at is not None
    assert ready_at is not None
    assert ends_at - ready_at == timedelta(seconds=old) + timedelta(days=10)


def test_s49_a_second_click_lands_on_the_extension_that_waits(order: Order) -> None:
    row = extension(order)
    assert extension(order) == row
    with pytest.raises(ExtensionOpen) as refused:
        extension(order, days=7)
    assert (refused.value.code, refused.value.order) == ("extension_open", row)
    assert order.extensions.count() == 1


def test_s13_every_handler_twice_changes_nothing(order: Order) -> None:
    joined_extension(order)

    def state() -> tuple[int, int, Any]:
        return Event.objects.count(), OutgoingMail.objects.count(), lease_of(order).ends_at

    before = state()
    for row in OutboxRow.objects.select_related("event").order_by("pk"):
        with transaction.atomic():
            outbox._handlers[row.handler](row.event)
    assert state() == before


def test_nobody_extends_an_order_that_is_not_there_or_not_started() -> None:
    waiting = scenario.order()
    with pytest.raises(Conflict) as refused:
        extension(waiting)
    assert refused.value.code == "not_extendable"
    waiting.public_id = "ord_none"
    with pytest.raises(NotFound):
        extension(waiting)


def test_a_refusal_leaves_nothing_behind(order: Order) -> None:
    quotes, holds = Order.objects.count(), Hold.objects.count()
    clock.skip(TERM - timedelta(minutes=30))
    with pytest.raises(Conflict) as refused:
        extension(order)
    assert refused.value.code == "too_late_to_extend"
    assert (Order.objects.count(), Hold.objects.count()) == (quotes, holds)


def test_what_is_withdrawn_is_not_extended(order: Order) -> None:
    lot = order.quote.lot
    lot.on_sale = False
    lot.save()
    with pytest.raises(Refusal) as refused:
        extension(order)
    assert refused.value.code == "not_on_sale"
    assert not Hold.objects.filter(extends__isnull=False).exists()


def test_settled_after_the_old_end_fails_and_the_old_end_stands(order: Order) -> None:
    clock.skip(TERM - timedelta(hours=1, minutes=30))
    row = extension(order)
    old = lease_of(order).ends_at
    chain = scenario.Chain()
    chain.advance()
    chain.send(row.payment, row.payment.crypto.due_units)
    chain.look(row.payment)
    clock.skip(timedelta(hours=2))
    work()
    assert lease_of(order).ends_at == old
    assert again(row).status == "cancelled"
    chain.settle(row.payment)
    outbox.drain()
    assert again(row).status == "cancelled"
    assert lease_of(order).status == "closed"


def test_money_on_time_that_is_found_after_the_time_was_let_go_fails(order: Order) -> None:
    row = extension(order)
    chain = scenario.Chain()
    chain.advance()
    chain.send(row.payment, row.payment.crypto.due_units)
    clock.skip(timedelta(hours=4))
    release_overdue_holds()
    chain.settle(row.payment)
    outbox.drain()
    assert again(row).status == "failed"
    failed = Event.objects.get(name="order.failed", order_ref=row.public_id)
    assert failed.payload == {"reason": "not_joined"}
    assert mails(row)[-1] == "extension_failed"
    assert again(order).status == "active"


def test_an_unpaid_one_expires_and_another_can_be_ordered(order: Order) -> None:
    row = extension(order)
    with transaction.atomic():
        expire_unpaid(order_id=row.public_id)
    assert again(row).status == "expired"
    assert not Reservation.objects.filter(hold__ref=row.public_id).exclude(status="released").exists()
    assert extension(order, days=7) != row


def test_cancelled_while_unpaid_lets_the_time_go(order: Order) -> None:
    row = extension(order)
    with transaction.atomic():
        cancel(order_id=row.public_id, actor="buyer")
    assert again(row).status == "cancelled"
    assert not Reservation.objects.filter(hold__ref=row.public_id).exclude(status="released").exists()
    with pytest.raises(Conflict) as refused, transaction.atomic():
        cancel(order_id=row.public_id, actor="buyer")
    assert refused.value.code == "already_done"
    assert again(order).status == "active"


def test_cancelled_while_paid_and_not_joined_gives_all_back(order: Order) -> None:
    row = extension(order)
    scenario.pay(row)
    with transaction.atomic():
        cancel(order_id=row.public_id, actor="buyer")
    told = Event.objects.get(name="order.cancelled", order_ref=row.public_id)
    assert told.payload["paid"] is True
    old = lease_of(order).ends_at
    work()
    assert lease_of(order).ends_at == old


def test_not_cancelled_once_it_is_part_of_the_term(order: Order) -> None:
    row = joined_extension(order)
    with pytest.raises(Conflict) as refused, transaction.atomic():
        cancel(order_id=row.public_id, actor="buyer")
    assert refused.value.code == "already_started"
    assert "early" in refused.value.text
    # The lease knows first: joined, and the order has not heard of it.
    Order.objects.filter(pk=row.pk).update(status="paid")
    with pytest.raises(Conflict) as refused, transaction.atomic():
        cancel(order_id=row.public_id, actor="buyer")
    assert refused.value.code == "already_started"


def test_when_the_lease_ends_what_waits_is_cancelled_and_what_is_paid_fails(order: Order) -> None:
    waiting = extension(order)
    end_lease(lease_id=lease_of(order).pk, reason="early_end")
    work()
    assert again(waiting).status == "cancelled"
    told = Event.objects.get(name="order.cancelled", order_ref=waiting.public_id)
    assert told.payload["reason"] == "lease_ended"
    assert again(order).status == "ended"


def test_when_the_lease_ends_a_paid_one_that_never_joined_fails(
    order: Order, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = extension(order)
    scenario.pay(row)
    end_lease(lease_id=lease_of(order).pk, reason="early_end")
    work()
    assert again(row).status == "failed"
    assert mails(row)[-1] == "extension_failed"


def reverse(row: Order) -> Callable[[], None]:
    """The chain takes the settled money of an order back; the answer brings it again."""
    chain = scenario.Chain(number=1000)
    transfer = row.payment.transfers.get()
    chain.drop(transfer)
    chain.advance()
    chain.look(row.payment)
    outbox.drain()

    def back() -> None:
        chain.advance()
        chain.send(row.payment, row.payment.crypto.due_units)
        chain.settle(row.payment)
        outbox.drain()

    return back


def test_money_taken_back_before_its_time_begins_undoes_the_extension(order: Order) -> None:
    old = lease_of(order).ends_at
    row = joined_extension(order)
    back = reverse(row)
    assert again(row).status == "failed"
    assert (lease_of(order).ends_at, lease_of(order).status) == (old, "ready")
    assert Event.objects.get(name="order.failed", order_ref=row.public_id).payload == {"reason": "reversed"}
    back()
    assert again(row).status == "failed"
    assert lease_of(order).ends_at == old


def test_money_taken_back_in_its_time_suspends_the_lease_until_it_returns(order: Order) -> None:
    row = joined_extension(order)
    clock.skip(TERM + timedelta(hours=1))
    work()
    back = reverse(row)
    assert (lease_of(order).status, again(row).status) == ("suspended", "active")
    back()
    assert lease_of(order).status == "ready"


def test_money_of_an_extension_that_never_returns_fails_it_alone(order: Order) -> None:
    row = joined_extension(order)
    clock.skip(TERM + timedelta(hours=1))
    work()
    reverse(row)
    clock.skip(timedelta(hours=25))
    work()
    assert lease_of(order).status == "closed"
    assert (again(order).status, again(row).status) == ("ended", "failed")


def test_when_the_first_orders_money_is_gone_for_good_an_unbegun_extension_is_due_back(order: Order) -> None:
    row = joined_extension(order)
    reverse(order)
    assert lease_of(order).status == "suspended"
    clock.skip(timedelta(hours=25))
    work()
    assert (again(order).status, again(row).status) == ("failed", "failed")
    told = Event.objects.get(name="order.failed", order_ref=row.public_id)
    assert told.payload == {"reason": "lease_reversed"}
