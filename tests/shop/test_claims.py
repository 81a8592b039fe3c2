""" "I have paid" without paying (C19): a hint, limited, and never more than a hint."""

import re
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from pytest_django import Settings

from billing.models import ChainState, Claim
from billing.services import watch
from core import claims, clock, outbox
from orders.models import Order
from tests import scenario
from tests.core.desk import staff

pytestmark = pytest.mark.django_db


@pytest.fixture
def order(shop: None) -> Order:
    return scenario.order()


def press(client: Client, order: Order, transaction_hash: str = "") -> int:
    answer = client.post(f"/en/orders/{order.token}/claim/", {"transaction_hash": transaction_hash})
    return answer.status_code


def test_the_answer_says_what_was_looked_at(order: Order) -> None:
    answer = Client().post(f"/en/orders/{order.token}/claim/", follow=True)
    assert answer.redirect_chain[0][1] == 303
    html = answer.content.decode()
    assert "We looked at block 100: nothing yet" in html
    assert "<h1>Pay 934.56 USDC</h1>" in html


def test_c19_fifty_presses_are_one_claim_and_friendly_answers(order: Order) -> None:
    client = Client()
    foreign = "0x" + "ab" * 32
    codes = [press(client, order, foreign) for _ in range(50)]
    assert codes == [303] + [429] * 49
    assert Claim.objects.count() == 1
    order.payment.view.refresh_from_db()
    assert order.payment.view.status == "awaiting"


def test_c19_fifty_presses_of_fifty_browsers_are_one_check(
    order: Order, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    """The limit is the order's and not the browser's: whoever has the address cannot make us ask a node more."""
    hints: list[str] = []
    monkeypatch.setattr(outbox, "hint", lambda task, *_arguments: hints.append(task))
    with django_capture_on_commit_callbacks(execute=True):
        codes = [press(Client(REMOTE_ADDR=f"10.0.0.{number}"), order) for number in range(50)]
    assert codes == [303] + [429] * 49
    assert hints == ["partners.on_event", "billing.watch_network"]
    page = Client().get(f"/en/orders/{order.token}/").content.decode()
    assert "<h1>Pay 934.56 USDC</h1>" in page
    assert 'Last block checked: <span class="mono">100</span> of ' in page


def test_c19_fifty_presses_of_others_are_not_found_and_check_nothing(
    order: Order, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    foreign = scenario.order()
    hints: list[str] = []
    monkeypatch.setattr(outbox, "hint", lambda task, *_arguments: hints.append(task))
    visitors = [Client(), Client(), staff("anna", superuser=True)]
    with django_capture_on_commit_callbacks(execute=True):
        for number in range(50):
            known = (order.public_id, foreign.public_id, order.token[:-1], order.token.swapcase())[number % 4]
            answer = visitors[number % 3].post(f"/en/orders/{known}/claim/")
            assert answer.status_code == 404
    assert not Claim.objects.exists()
    assert hints == []


def look_twice(monkeypatch: pytest.MonkeyPatch) -> tuple[int, list[bool]]:
    """A second worker comes while the first one looks: how many looked, and what the second one heard."""
    looks = 0
    heard: list[bool] = []

    def look(*_arguments: object) -> None:
        nonlocal looks
        looks += 1
        if looks == 1:
            heard.append(watch.watch_network("local"))

    monkeypatch.setattr(watch, "_look", look)
    assert watch.watch_network("local")
    return looks, heard


def test_c19_one_check_at_a_time(order: Order, monkeypatch: pytest.MonkeyPatch) -> None:
    assert look_twice(monkeypatch) == (1, [False])
    assert look_twice(monkeypatch) == (1, [False]), "the next look finds the network free again"


def test_c19_control_without_the_claim_both_look(order: Order, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims, "claim", lambda *_arguments, **_options: uuid4())
    assert look_twice(monkeypatch) == (2, [True])


def test_too_soon_is_a_sentence_with_the_seconds(order: Order) -> None:
    client = Client()
    press(client, order)
    answer = client.post(f"/en/orders/{order.token}/claim/")
    assert answer.status_code == 429
    assert 1 <= int(answer["Retry-After"]) <= 11
    html = answer.content.decode()
    assert f"The next look is possible in {answer['Retry-After']} seconds." in html
    assert "<h1>Pay 934.56 USDC</h1>" in html


def test_twenty_in_an_hour_are_the_limit(order: Order, settings: Settings) -> None:
    moment = clock.system_now()
    for number in range(settings.CLAIM_HOURLY_LIMIT):
        Claim.objects.create(
            payment=order.payment, by="page", at=moment - timedelta(minutes=30, seconds=number)
        )
    answer = Client().post(f"/en/orders/{order.token}/claim/")
    assert answer.status_code == 429
    assert int(answer["Retry-After"]) > 1000


@pytest.mark.parametrize("text", ["0x12", "ab" * 32, "0x" + "g" * 64, "0x" + "ab" * 33, "x" * 150])
def test_a_hash_that_is_none_is_refused_beside_its_field(order: Order, text: str) -> None:
    answer = Client().post(f"/en/orders/{order.token}/claim/", {"transaction_hash": text})
    assert answer.status_code == 400
    html = answer.content.decode()
    assert 'id="id_transaction_hash_error"' in html
    assert "0x and 64 characters" in html
    assert not Claim.objects.exists()


def test_an_expired_order_may_still_be_claimed(order: Order) -> None:
    past = clock.now() - timedelta(seconds=5)
    Order.objects.filter(pk=order.pk).update(hold_expires_at=past)
    order.payment.expires_at = past
    order.payment.save()
    html = Client().get(f"/en/orders/{order.token}/").content.decode()
    assert "I have paid" in html
    assert press(Client(), order) == 303


def test_a_silent_chain_is_said(order: Order) -> None:
    stopped = clock.now() - timedelta(minutes=10)
    ChainState.objects.update(
        checked_at=clock.system_now() - timedelta(minutes=10), checked_product_at=stopped
    )
    html = Client().get(f"/en/orders/{order.token}/").content.decode()
    assert re.search(rf"The chain has not answered since .{{10,12}}, {stopped:%H:%M:%S} UTC", html)
    ChainState.objects.update(checked_at=clock.system_now())
    assert "has not answered" not in Client().get(f"/en/orders/{order.token}/").content.decode()
