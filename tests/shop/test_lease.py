"""Stay longer, end early, give up a late delivery: what the page offers, what each click does, what is refused."""

import re
from datetime import timedelta

import pytest
from django.core import mail
from django.test import Client

from core import clock, outbox
from core.formats import amount_text, instant_text
from core.models import OutgoingMail
from fleet import providers
from fleet.models import Lease
from fleet.providers.base import ProviderUnavailable
from fleet.services.hold import hold
from fleet.services.suspend import suspend
from orders.models import Order
from tests import scenario
from tests.factories.fleet import hold_request
from tests.fleet.doubles import FaultyProvider
from tests.terms import active_order, extension, joined_extension, lease_of, take_logins_for_good, work

pytestmark = pytest.mark.django_db
FORM = {"days": "7", "pay_with": "local:USDC"}


@pytest.fixture(autouse=True)
def logins(monkeypatch: pytest.MonkeyPatch) -> None:
    take_logins_for_good(monkeypatch)


@pytest.fixture
def order(shop: None) -> Order:
    return active_order()


@pytest.fixture
def late(shop: None, monkeypatch: pytest.MonkeyPatch) -> Order:
    double = FaultyProvider()
    double.fail("reserve", ProviderUnavailable("no answer"), times=99)
    monkeypatch.setitem(providers._PROVIDERS, "simulated", lambda: double)
    row = scenario.order()
    scenario.pay(row)
    work()
    clock.skip(timedelta(hours=2, minutes=1))
    work()
    return row


def address(order: Order, action: str = "") -> str:
    return f"/en/orders/{order.token}/{action}"


def page(buyer: Client, order: Order) -> str:
    answer = buyer.get(address(order))
    assert answer.status_code == 200
    return " ".join(re.sub(r"<[^>]*>", " ", answer.content.decode()).split())


def test_the_page_offers_three_lengths_at_todays_price(buyer: Client, order: Order) -> None:
    words = page(buyer, order)
    ends_at = lease_of(order).ends_at
    assert ends_at is not None
    for days in (3, 7, 30):
        assert f"{days} more days {amount_text(scenario.quote(days=days).total)}" in words.replace(
            "\u00a0", " "
        )
    assert f"free, to {(ends_at + timedelta(days=7)):%-d %b %Y at %H:%M} UTC" in words


def test_what_is_taken_is_said_with_its_time_and_cannot_be_chosen(buyer: Client, order: Order) -> None:
    ends_at = lease_of(order).ends_at
    assert ends_at is not None
    start = (ends_at + timedelta(days=4)).replace(minute=0, second=0, microsecond=0)
    lot = order.quote.lot
    lot.cards = 8
    hold(hold_request(lot, starts_at=start))
    words = page(buyer, order)
    assert words.count("not possible: the cards are taken from") == 2
    html = buyer.get(address(order)).content.decode()
    assert len(re.findall(r'name="days" value="\d+" required disabled', html)) == 2
    answer = buyer.post(address(order, "extend/"), FORM, follow=True)
    assert "These cards are promised to somebody else from" in answer.content.decode()
    assert not order.extensions.exists()


def test_one_click_and_the_page_of_the_extension_asks_for_its_money(buyer: Client, order: Order) -> None:
    answer = buyer.post(address(order, "extend/"), FORM)
    row = order.extensions.get()
    assert (answer.status_code, answer["Location"]) == (303, address(row))
    words = page(buyer, row)
    assert "Pay 2,028.00 USDC" in words
    assert "An extension" in words
    assert order.public_id in words
    assert address(order) in buyer.get(address(row)).content.decode()
    assert "Change this order" not in words
    assert "Pay or cancel it" in page(buyer, order)


def test_s49_clicked_again_it_lands_on_the_extension_that_waits(buyer: Client, order: Order) -> None:
    for _ in range(2):
        answer = buyer.post(address(order, "extend/"), FORM)
        assert answer["Location"] == address(order.extensions.get())
    answer = buyer.post(address(order, "extend/"), FORM | {"days": "3"}, follow=True)
    assert answer.redirect_chain == [(address(order.extensions.get()), 303)]
    assert "An extension of 7 days waits for its payment." in answer.content.decode()


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"days": ""}, "Choose how many days your term goes on."),
        ({"days": "4"}, "This term is not offered."),
        ({"days": "-3"}, "This term is not offered."),
        ({"days": "1000000000000"}, "This term is not offered."),
        ({"days": "x"}, "Enter a whole number."),
        ({"pay_with": ""}, "Choose how you pay."),
        ({"pay_with": "mars:GOLD"}, "This way of paying is not offered."),
        ({"pay_with": "local:\x00"}, "Null characters are not allowed."),
    ],
)
def test_a_wrong_form_is_answered_with_a_sentence(
    buyer: Client, order: Order, changes: dict[str, str], sentence: str
) -> None:
    answer = buyer.post(address(order, "extend/"), FORM | changes, follow=True)
    assert answer.status_code == 200
    assert sentence in answer.content.decode()
    assert not order.extensions.exists()


def test_why_it_cannot_be_extended_is_said_on_the_page_and_to_the_click(buyer: Client, order: Order) -> None:
    clock.skip(timedelta(days=3) - timedelta(minutes=30))
    sentence = "A lease can be extended until 60 minutes before its end."
    assert sentence in page(buyer, order)
    assert sentence in buyer.post(address(order, "extend/"), FORM, follow=True).content.decode()


def test_a_suspended_lease_offers_neither(buyer: Client, order: Order) -> None:
    suspend(order_ref=order.public_id)
    words = page(buyer, order)
    assert "Stay longer" not in words
    assert "End early" not in words
    answer = buyer.post(address(order, "end-early/"), {"confirm": "on"}, follow=True)
    assert "Access is paused" in answer.content.decode()
    assert lease_of(order).status == "suspended"


def test_the_way_of_an_extension_on_its_page(buyer: Client, order: Order) -> None:
    row = extension(order, days=7)
    scenario.pay(row)
    assert "Your extension is paid" in page(buyer, row)
    assert "Access works by" not in page(buyer, row)
    work()
    words = page(buyer, row)
    assert "Your term is longer now" in words
    assert "Cancel the order" not in words
    assert "Part of the term" in page(buyer, order)
    assert "The term is longer now" in page(buyer, order)
    refused = buyer.post(address(row, "cancel/"))
    assert refused.status_code == 409
    assert "This extension is part of your term already." in refused.content.decode()
    clock.skip(timedelta(days=11))
    work()
    assert "The term has ended" in page(buyer, row)


def test_an_extension_can_be_cancelled_from_its_page(buyer: Client, order: Order) -> None:
    row = extension(order)
    words = page(buyer, row)
    assert "More days of your lease are kept for you until" in words
    assert "The end of your term stays as it is. Nothing is charged." in words
    assert buyer.post(address(row, "cancel/")).status_code == 303
    row.refresh_from_db()
    assert row.status == "cancelled"
    assert "Your lease goes on to the end that it had. Nothing was charged." in page(buyer, row)
    assert "on sale again" not in page(buyer, row)
    assert "Stay longer" in page(buyer, order)


def test_an_extension_that_was_not_possible_says_what_holds(buyer: Client, order: Order) -> None:
    row = extension(order)
    scenario.pay(row)
    Lease.objects.filter(order_ref=order.public_id).update(next_at=clock.system_now() + timedelta(days=1))
    clock.skip(timedelta(days=3, minutes=5))
    work()
    words = page(buyer, row)
    assert "The extension was not possible" in words
    assert "All that you paid for this extension is due back to you." in words


def test_an_early_end_is_asked_for_says_what_is_lost_and_what_comes_back(buyer: Client, order: Order) -> None:
    clock.skip(timedelta(hours=25))
    assert "155.76 USD would come back for 1 whole unused day." in page(buyer, order)
    asked = buyer.get(address(order, "end-early/")).content.decode()
    assert "What you lose" in asked
    assert "155.76" in asked
    unconfirmed = buyer.post(address(order, "end-early/"))
    assert unconfirmed.status_code == 400
    assert "Please confirm that everything on the machine may be wiped." in unconfirmed.content.decode()
    assert lease_of(order).status == "ready"
    done = buyer.post(address(order, "end-early/"), {"confirm": "on"}, follow=True)
    assert done.redirect_chain == [(address(order), 303)]
    assert "For 1 unused day, 155.76 USD come back." in done.content.decode()
    assert f"Access ended on {instant_text(clock.now(), style='sentence')}" in page(buyer, order), (
        "not the end that it had"
    )
    again = buyer.post(address(order, "end-early/"), {"confirm": "on"}, follow=True)
    assert "This lease has already ended." in again.content.decode()
    work()
    assert "You ended the term early" in page(buyer, order)


def test_the_export_window_is_announced_only_while_it_is_ahead(buyer: Client, order: Order) -> None:
    assert "The export window opens on" in page(buyer, order)
    clock.skip(timedelta(days=2, hours=1))
    assert "Bring your results out" in page(buyer, order)
    assert "The export window opens on" not in page(buyer, order)


def test_an_early_end_on_the_last_day_says_that_nothing_comes_back(buyer: Client, order: Order) -> None:
    clock.skip(timedelta(days=2, hours=1))
    assert "nothing comes back" in buyer.get(address(order, "end-early/")).content.decode()
    done = buyer.post(address(order, "end-early/"), {"confirm": "on"}, follow=True)
    assert "No whole day was left, so nothing comes back." in done.content.decode()


def test_a_look_changes_nothing(buyer: Client, order: Order) -> None:
    joined_extension(order)
    for action in ("", "live/", "end-early/"):
        for method in (buyer.get, buyer.head):
            assert method(address(order, action)).status_code == 200
    for action in ("extend/", "give-up/"):
        assert buyer.get(address(order, action)).status_code == 405
    assert lease_of(order).status == "ready"


@pytest.mark.parametrize("action", ["extend/", "end-early/", "give-up/"])
def test_a_wrong_address_is_answered_as_if_there_were_none(buyer: Client, action: str) -> None:
    assert buyer.post(f"/en/orders/{'x' * 43}/{action}", FORM | {"confirm": "on"}).status_code == 404


@pytest.mark.parametrize("action", ["end-early/", "give-up/"])
def test_before_there_is_a_lease_there_is_nothing_to_end(buyer: Client, action: str) -> None:
    waiting = scenario.order()
    assert buyer.post(address(waiting, action), {"confirm": "on"}).status_code == 404


def test_a_late_delivery_has_two_choices_on_the_page_and_in_the_mail(buyer: Client, late: Order) -> None:
    words = page(buyer, late)
    assert "The choice is yours" in words
    assert "Take the full refund now" in words
    assert "Cancel the order" not in words
    text = OutgoingMail.objects.get(key__startswith=f"order:{late.pk}:late-").text
    assert "Wait: there is nothing to do." in text
    assert "Take the full refund now" in text
    assert not mail.outbox
    done = buyer.post(address(late, "give-up/"), follow=True)
    assert "all that you paid is due back to you" in done.content.decode()
    again = buyer.post(address(late, "give-up/"), follow=True)
    assert "This is already done." in again.content.decode()
    outbox.drain()
    late.refresh_from_db()
    assert (late.status, lease_of(late).end_reason) == ("failed", "given_up")
    assert "The choice is yours" not in page(buyer, late)


def test_a_delivery_that_is_not_late_cannot_be_given_up(buyer: Client) -> None:
    row = scenario.order()
    scenario.pay(row)
    answer = buyer.post(address(row, "give-up/"), follow=True)
    assert "This delivery is not late." in answer.content.decode()
