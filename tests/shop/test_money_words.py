"""The words of an order page about money that differs: taken back, in part, elsewhere, at a rate."""

import re
from datetime import timedelta
from decimal import Decimal

import pytest
from django.test import Client
from pytest_django import Settings

from billing.models import PaymentRequest
from core import clock, events, outbox
from core.formats import instant_text
from fleet.models import Lease
from fleet.services.sweep import sweep_leases
from orders.models import Order
from tests import cards, scenario

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("shop")]


@pytest.fixture
def order(shop: None) -> Order:
    return scenario.order()


def page_of(client: Client, order: Order) -> str:
    answer = client.get(f"/en/orders/{order.token}/")
    assert answer.status_code == 200
    return answer.content.decode()


def heading(page: str) -> str:
    found = re.search(r"<h1>(.*?)</h1>", page)
    assert found
    return found[1]


def test_a_reversal_says_until_when_and_then_that_it_is_over(client: Client, order: Order) -> None:
    chain = scenario.Chain()
    chain.advance()
    transfer = chain.send(order.payment, order.payment.crypto.due_units)
    chain.look(order.payment)
    chain.settle(order.payment)
    outbox.drain()
    chain.drop(transfer)
    chain.advance(blocks=3)
    chain.look(order.payment)
    outbox.drain()
    page = page_of(client, order)
    assert page.count("Do not pay twice") == 2, "once in the first sentence, once in the log"
    lease = Lease.objects.get(order_ref=order.public_id)
    assert lease.suspended_at is not None
    assert f"kept until {instant_text(lease.suspended_at + timedelta(days=1), style='sentence')}" in page
    clock.skip(timedelta(days=1, minutes=1))
    sweep_leases()
    outbox.drain()
    page = page_of(client, order)
    assert heading(page) == "The order is closed"
    assert "refund is due" not in page


def test_a_transfer_whose_block_was_replaced_is_not_asked_for_again(client: Client, order: Order) -> None:
    chain = scenario.Chain()
    chain.advance()
    transfer = chain.send(order.payment, order.payment.crypto.due_units)
    chain.look(order.payment)
    chain.drop(transfer)
    chain.advance()
    chain.look(order.payment)
    assert heading(page_of(client, order)) == "Your transfer is out of the chain"
    page = page_of(client, order)
    assert "Do not pay twice" in page
    assert "Your transfer is in no block at this moment." in page


def test_part_of_the_money_comes_back_with_a_cancellation_and_the_page_says_so(
    client: Client, order: Order, settings: Settings
) -> None:
    cards.take_cards(settings)
    page = page_of(client, order)
    assert "The cards go back on sale. Nothing is charged." in page
    assert "Or pay by bank card" in page
    chain = scenario.Chain()
    chain.advance()
    chain.send(order.payment, 5_000_000)
    chain.look(order.payment)
    page = page_of(client, order)
    assert "all that you paid is due back to you" in page
    assert "Nothing is charged." not in page
    assert "Or pay by bank card" not in page, "a panel without a button"


def test_money_on_another_network_is_in_the_log(client: Client, order: Order) -> None:
    events.emit(name="payment.wrong_network", subject="payment:1", order_ref=order.public_id, payload={})
    page = page_of(client, order)
    assert "Money arrived on another network" in page


def test_the_rate_shows_the_places_that_it_has(client: Client, order: Order) -> None:
    assert "1&nbsp;USDC = 1.00&nbsp;USD" in page_of(client, order)
    PaymentRequest.objects.update(rate=Decimal("3012.5001"), rate_source="feed", rate_at=clock.now())
    page = page_of(client, order)
    assert "1&nbsp;USDC = 3,012.5001&nbsp;USD" in page
    assert ", from feed" in page
