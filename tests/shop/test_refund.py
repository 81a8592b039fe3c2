"""The buyer's side of money that goes back: where it goes, in two steps; the choice that late money leaves."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.db import transaction
from django.test import Client
from django.urls import reverse

from billing.models import Refund
from billing.services.offer_again import sweep_offers
from billing.services.send_refund import mark_sent
from core import clock, outbox
from fleet.models import Lease
from orders.models import Order
from orders.services.cancel import cancel
from tests import scenario
from tests.billing import money

pytestmark = pytest.mark.django_db


@pytest.fixture
def order(db: None) -> Order:
    scenario.open_shop(cards_per_node=2)
    return scenario.order()


@pytest.fixture
def refund(order: Order) -> Refund:
    """A cancelled order whose money waits for an address."""
    scenario.pay(order)
    with transaction.atomic():
        cancel(order_id=order.public_id, actor="buyer")
    outbox.drain()
    return Refund.objects.get()


def page(order: Order) -> str:
    response = Client().get(reverse("shop:order", kwargs={"token": order.token}))
    assert response.status_code == 200
    return response.content.decode()


def url(order: Order, row: Refund) -> str:
    return reverse("shop:order_refund", kwargs={"token": order.token, "refund_id": row.pk})


def post(order: Order, row: Refund, **data: str) -> Any:
    return Client().post(url(order, row), data)


def test_the_page_asks_for_the_address_and_shows_it_back(order: Order, refund: Refund) -> None:
    shown = page(order)
    assert url(order, refund) in shown
    assert "Your address is needed" in shown
    asked = Client().get(url(order, refund))
    assert asked.status_code == 200
    assert "Anchor test chain" in asked.content.decode()
    checked = post(order, refund, destination=money.DESTINATION.lower(), step="check")
    assert checked.status_code == 200
    assert "Is this your address?" in checked.content.decode()
    assert money.DESTINATION in checked.content.decode()
    refund.refresh_from_db()
    assert (refund.status, refund.destination) == ("address_needed", "")
    confirmed = post(order, refund, destination=money.DESTINATION, step="confirm")
    assert confirmed.status_code == 303
    refund.refresh_from_db()
    assert (refund.status, refund.destination) == ("due", money.DESTINATION)
    shown = page(order)
    assert "To be sent" in shown
    assert "Change the address" in shown
    assert "Your money goes back to you. Each step is shown below." in shown


@pytest.mark.parametrize("step", ["check", "confirm"])
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0x5aaeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "checksum does not match"),
        ("0x" + "0" * 40, "belongs to nobody"),
        ("own", "one of our own deposit addresses"),
        ("token", "contract of a token"),
        ("", "required"),
        ("x\x00", "Null characters"),
        ("9" * 10_000, "at most 100"),
    ],
)
def test_each_refusal_says_why_beside_the_field(
    order: Order, refund: Refund, text: str, said: str, step: str
) -> None:
    crypto = order.payment.crypto
    typed = {"own": crypto.address, "token": crypto.contract}.get(text, text)
    refused = post(order, refund, destination=typed, step=step)
    assert refused.status_code == 400
    assert said in refused.content.decode()
    refund.refresh_from_db()
    assert refund.destination == ""


def test_a_sent_refund_shows_its_transaction_and_keeps_its_address(order: Order, refund: Refund) -> None:
    post(order, refund, destination=money.DESTINATION, step="confirm")
    tx_hash = "0x" + "ab" * 32
    mark_sent(refund_id=refund.pk, actor="anna", reason="sent", transaction_hash=tx_hash)
    shown = page(order)
    assert tx_hash in shown
    assert "Sent, not confirmed yet" in shown
    assert "Change the address" not in shown
    assert post(order, refund, destination=money.OTHER, step="confirm").status_code == 404


def test_when_all_of_it_has_arrived_the_page_says_so(order: Order, refund: Refund) -> None:
    Refund.objects.filter(pk=refund.pk).update(status="verified", destination=money.DESTINATION)
    shown = page(order)
    assert "What was due back to you has arrived." in shown
    assert "A person sends" not in shown


def test_the_refund_of_another_order_is_not_found(order: Order, refund: Refund) -> None:
    scenario.add_node("b200-n09", "b200-180", 2)
    other = scenario.order()
    assert Client().get(url(other, refund)).status_code == 404
    assert post(other, refund, destination=money.DESTINATION, step="confirm").status_code == 404


@pytest.fixture
def offered(order: Order) -> Any:
    """Late money, and a lot that is kept."""
    chain = scenario.Chain()
    with time_machine.travel(order.payment.expires_at + timedelta(minutes=3), tick=False):
        chain.advance(to=clock.now(), blocks=3)
        chain.look(order.payment)
        outbox.drain()
        chain.send(order.payment, order.payment.crypto.due_units)
        chain.advance(to=clock.now(), blocks=3)
        chain.look(order.payment)
        sweep_offers()
        yield order


def press(order: Order, name: str) -> Any:
    return Client().post(reverse(f"shop:{name}", kwargs={"token": order.token}))


def test_s20_the_buyer_starts_the_lease(offered: Order) -> None:
    shown = page(offered)
    assert "<h1>Your money arrived, a lot is kept for you</h1>" in shown
    assert "A person decides" not in shown, "the choice is the buyer's"
    assert "I have paid" not in shown.split("<ol")[0], "all of it is here"
    assert "Start the lease now" in shown
    assert "Take the refund" in shown
    assert Client().get(reverse("shop:order_take_lot", kwargs={"token": offered.token})).status_code == 405
    assert press(offered, "order_take_lot").status_code == 303
    assert Lease.objects.filter(order_ref=offered.public_id).count() == 1
    assert press(offered, "order_take_lot").status_code == 303
    assert press(offered, "order_take_money").status_code == 303
    assert not Refund.objects.exists()
    assert "Start the lease now" not in page(offered)


def test_s20_the_buyer_takes_the_refund(offered: Order) -> None:
    assert press(offered, "order_take_money").status_code == 303
    assert press(offered, "order_take_money").status_code == 303
    assert Refund.objects.count() == 1
    assert "Name your address" in page(offered)
    assert not Lease.objects.exists()


def test_s20_without_a_lot_the_page_says_so_and_the_refund_can_be_taken(order: Order) -> None:
    chain = scenario.Chain()
    with time_machine.travel(order.payment.expires_at + timedelta(minutes=3), tick=False):
        chain.advance(to=clock.now(), blocks=3)
        chain.look(order.payment)
        outbox.drain()
        scenario.pay(scenario.order())
        chain.send(order.payment, order.payment.crypto.due_units)
        chain.advance(to=clock.now(), blocks=3)
        chain.look(order.payment)
        sweep_offers()
        shown = page(order)
        assert "No such cards are free at this moment" in shown
        assert "<h1>Your money arrived, the cards are gone</h1>" in shown
        assert "A person decides" not in shown
        assert press(order, "order_take_money").status_code == 303
        shown = page(order)
        assert "Name your address" in shown
        assert "We need your address for it" in shown
        assert "Your choice is needed" not in shown
