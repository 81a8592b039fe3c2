"""Placing an order: one transaction, one order per quote, refusals that leave nothing behind."""

from datetime import timedelta

import pytest
import time_machine
from django.conf import settings

from billing.models import ChainState, DepositAddress, PaymentRequest
from billing.services.checkout import CheckoutRequest, CryptoChoice, checkout
from catalog.tax import BillTo
from core import clock, outbox
from core.errors import Conflict, Invalid, NotFound, Refusal, TooMany, Unavailable
from core.models import Event, OutgoingMail
from fleet.limits import HoldLimits
from fleet.models import Hold, Reservation
from orders.lifecycle import OrderStatus, QuoteStatus
from orders.models import Order
from orders.services.place import QuoteAccepted
from tests import scenario

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def shop(db: None) -> None:
    scenario.open_shop()


def nothing_is_left() -> bool:
    return not (
        Order.objects.exists()
        or Hold.objects.exists()
        or Reservation.objects.exists()
        or PaymentRequest.objects.exists()
        or DepositAddress.objects.filter(status=DepositAddress.Status.ISSUED).exists()
        or OutgoingMail.objects.exists()
    )


def test_one_transaction_writes_order_hold_payment_and_event_and_the_mail_follows() -> None:
    order = scenario.order()
    hold = Hold.objects.get(ref=order.public_id)
    payment = order.payment
    assert order.status == OrderStatus.AWAITING_PAYMENT
    assert order.quote.status == QuoteStatus.ACCEPTED
    assert hold.reservations.count() == hold.card_count == 2
    assert hold.expires_at == order.hold_expires_at == payment.expires_at
    assert payment.expires_at - order.placed_at == timedelta(seconds=settings.HOLD_SECONDS)
    assert payment.crypto.due_units == 934_560_000
    assert payment.crypto.deposit.status == DepositAddress.Status.ISSUED
    assert payment.view.status == "awaiting"
    assert not OutgoingMail.objects.exists()
    outbox.drain()
    assert list(OutgoingMail.objects.values_list("to", flat=True)) == ["ada@example.com"]
    names = list(Event.objects.filter(order_ref=order.public_id).values_list("name", flat=True))
    assert names == ["quote.accepted", "order.placed"]


def test_start_now_covers_the_whole_slack_term_and_turnaround() -> None:
    order = scenario.order()
    hold = Hold.objects.get(ref=order.public_id)
    period = hold.reservations.first().period  # type: ignore[union-attr]
    assert period.lower == hold.placed_at
    expected = hold.release_at + timedelta(hours=2) + timedelta(days=3) + timedelta(minutes=30)
    assert period.upper == expected
    assert hold.release_at - hold.expires_at == timedelta(hours=2)


def test_chosen_start_covers_half_an_hour_before_it_and_is_released_by_it() -> None:
    start = (clock.now() + timedelta(hours=6)).replace(minute=0, second=0, microsecond=0)
    order = scenario.order(scenario.quote(starts_at=start))
    hold = Hold.objects.get(ref=order.public_id)
    period = hold.reservations.first().period  # type: ignore[union-attr]
    assert period.lower == start - timedelta(minutes=30)
    assert period.upper == start + timedelta(hours=2, days=3, minutes=30)
    assert hold.release_at <= start


def test_one_quote_makes_one_order() -> None:
    quote = scenario.quote()
    first = scenario.order(quote)
    with pytest.raises(QuoteAccepted) as refused:
        scenario.order(quote)
    assert refused.value.order == first
    assert refused.value.status == 409
    assert Order.objects.count() == 1


def test_refusals_leave_nothing_behind() -> None:
    quote = scenario.quote()
    with pytest.raises(Invalid) as terms:
        scenario.order(quote, terms_version="2020-01-01")
    assert terms.value.code == "terms_not_accepted"
    with pytest.raises(Refusal) as mismatch:
        scenario.order(quote, bill_to=BillTo(country="FR", kind="consumer", vat_id=None))
    assert mismatch.value.code == "bill_to_mismatch"
    with pytest.raises(NotFound):
        scenario.order(quote, quote_id="qt_nothing")
    assert nothing_is_left()
    quote.refresh_from_db()
    assert quote.status == QuoteStatus.OPEN


def test_unknown_network_or_asset_holds_nothing() -> None:
    quote = scenario.quote()
    for choice in (CryptoChoice("elsewhere", "USDC"), CryptoChoice("local", "DOGE")):
        with pytest.raises(Invalid) as refused:
            checkout(CheckoutRequest(place=scenario.place_request(quote), pay_with=choice))
        assert (refused.value.code, refused.value.field) == ("unknown_rail", "pay_with")
    assert nothing_is_left()


def test_unreadable_network_is_not_offered() -> None:
    ChainState.objects.update(offered=False, problem="no answer")
    with pytest.raises(Unavailable):
        scenario.order()
    assert nothing_is_left()


def test_empty_pool_refuses_and_holds_nothing() -> None:
    DepositAddress.objects.all().delete()
    with pytest.raises(Unavailable) as refused:
        scenario.order()
    assert refused.value.code == "payment_unavailable"
    assert nothing_is_left()


def test_stale_or_bad_checks_are_not_trusted() -> None:
    later = clock.system_now() + timedelta(seconds=settings.ADDRESS_CHECK_MAX_AGE_SECONDS + 1)
    quote_later = scenario.quote
    with time_machine.travel(later, tick=False), pytest.raises(Unavailable):
        scenario.order(quote_later())


def test_sold_out_is_no_capacity() -> None:
    for number in range(4):
        scenario.order(owner=f"web:{number}")
    with pytest.raises(Conflict) as refused:
        scenario.order(owner="web:5")
    assert (refused.value.code, refused.value.status) == ("no_capacity", 409)
    assert Order.objects.count() == 4


def test_an_owner_holds_two_unpaid_orders_and_a_prefix_four() -> None:
    for _ in range(2):
        scenario.order(owner="web:same", prefix="10.1.1.0/24")
    with pytest.raises(TooMany) as refused:
        scenario.order(owner="web:same", prefix="10.1.2.0/24")
    assert refused.value.code == "too_many_holds"


def test_one_prefix_takes_at_most_half_of_what_is_free_but_always_one() -> None:
    prefix = "10.9.9.0/24"
    scenario.order(owner="web:a", prefix=prefix)
    scenario.order(owner="web:b", prefix=prefix)
    with pytest.raises(TooMany):
        scenario.order(owner="web:c", prefix=prefix)
    scenario.order(owner="web:d", prefix="10.8.8.0/24")


def test_two_hundred_cookies_of_one_prefix_do_not_empty_the_shop() -> None:
    scenario.add_node("b200-n90", "b200-180", 8)
    scenario.add_node("b200-n91", "b200-180", 8)
    placed = 0
    for number in range(200):
        try:
            scenario.order(scenario.quote(), owner=f"web:{number}", prefix="10.7.7.0/24")
            placed += 1
        except TooMany:
            continue
    assert placed == settings.HOLD_ORDERS_PER_PREFIX
    scenario.order(owner="web:somebody", prefix="10.6.6.0/24")


def test_changing_an_order_frees_its_cards_first() -> None:
    for number in range(3):
        scenario.order(owner=f"web:{number}")
    mine = scenario.order(owner="web:me")
    changed = scenario.order(scenario.quote(days=7), owner="web:me", replaces=mine.public_id)
    mine.refresh_from_db()
    assert mine.status == OrderStatus.CANCELLED
    assert changed.status == OrderStatus.AWAITING_PAYMENT


def test_nobody_replaces_the_order_of_another() -> None:
    other = scenario.order(owner="web:other")
    scenario.order(owner="web:me", replaces=other.public_id)
    other.refresh_from_db()
    assert other.status == OrderStatus.AWAITING_PAYMENT


def test_an_order_with_money_is_not_replaced() -> None:
    mine = scenario.order(owner="web:me")
    scenario.pay(mine, units=1)
    scenario.order(owner="web:me", replaces=mine.public_id)
    mine.refresh_from_db()
    assert mine.status == OrderStatus.AWAITING_PAYMENT


def test_overdue_holds_of_others_are_let_go_by_a_rival() -> None:
    first = scenario.order(owner="web:0")
    for number in range(1, 4):
        scenario.order(owner=f"web:{number}")
    hold = Hold.objects.get(ref=first.public_id)
    with time_machine.travel(hold.release_at + timedelta(seconds=1), tick=False):
        scenario.offer_network()
        rival = scenario.order(owner="web:rival")
    assert rival.status == OrderStatus.AWAITING_PAYMENT
    hold.refresh_from_db()
    assert hold.released_at is not None


def test_partner_limits_have_no_prefix_rule() -> None:
    limits = HoldLimits(orders_per_owner=20, cards_per_owner=64, orders_per_prefix=None)
    for _ in range(4):
        scenario.order(owner="partner:1", prefix="", limits=limits)


def test_a_node_with_an_old_driver_is_not_used() -> None:
    Hold.objects.all().delete()
    from_driver = scenario.add_node("b200-old", "b200-180", 8, driver="550.1")
    for number in range(4):
        scenario.order(owner=f"web:{number}")
    assert not Reservation.objects.filter(card__node=from_driver).exists()
