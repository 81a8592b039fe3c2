"""Paying by bank card on the pages: the choice, the link, the test card of the demo, without JavaScript."""

import re
from datetime import timedelta
from decimal import Decimal

import pytest
from django.test import Client
from pytest_django import Settings

from billing.models import CardSession, DemoCardRecord
from billing.rails.demo_cards import DemoCard
from core import clock
from fleet.models import Hold
from orders.contact import clean_contact
from orders.models import Order, Quote
from tests import cards, scenario
from tests.shop.conftest import configure, order_form

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _cards_are_taken(settings: Settings) -> None:
    cards.take_cards(settings)


def quote(buyer: Client) -> str:
    return str(buyer.post("/en/catalog/b200-180/", configure())["Location"])


def buy(buyer: Client) -> Order:
    placed = buyer.post(f"{quote(buyer)}order/", order_form(pay_with="card"))
    assert placed.status_code == 303, placed.content.decode()[:3000]
    return Order.objects.get(token=placed["Location"].split("/")[-2])


def page_of(buyer: Client, order: Order, query: str = "") -> str:
    answer = buyer.get(f"/en/orders/{order.token}/{query}")
    assert answer.status_code == 200
    return answer.content.decode()


def test_the_choice_stands_beside_crypto_and_costs_the_same(buyer: Client) -> None:
    page = buyer.get(quote(buyer)).content.decode()
    assert 'name="pay_with" value="local:USDC"' in page
    assert re.search(
        r'name="pay_with" value="card" required><span>Bank card</span><span class="num">934.56', page
    )
    assert "nothing is charged" in page


def test_s25_the_choice_is_absent_where_it_cannot_be_kept(buyer: Client, settings: Settings) -> None:
    address = quote(buyer)
    Quote.objects.update(total=Decimal("0.30"), subtotal=Decimal("0.30"), tax=0)
    assert 'value="card"' not in buyer.get(address).content.decode()
    refused = buyer.post(f"{address}order/", order_form(pay_with="card"))
    assert refused.status_code == 422
    assert "cannot be charged to a bank card" in refused.content.decode()
    assert Hold.objects.filter(released_at=None).count() == 0
    settings.STRIPE_SECRET_KEY = ""
    assert 'value="card"' not in buyer.get(address).content.decode()
    assert buyer.post(f"{address}order/", order_form(pay_with="card")).status_code == 400


def test_a_shop_with_cards_alone_can_sell(buyer: Client, settings: Settings) -> None:
    settings.EVM_NETWORKS_FILE = settings.DEPOSIT_XPUB = ""
    page = buyer.get(quote(buyer)).content.decode()
    assert 'value="card" required checked' in page
    assert "No way of paying" not in page
    order = buy(buyer)
    cards.pay(order)
    assert order.status == "paid"
    parts = buyer.get("/readyz").json()["parts"]
    assert parts["bank_card"]["ok"]
    assert "crypto" not in parts


def test_the_page_goes_from_opening_to_a_plain_link(buyer: Client) -> None:
    order = buy(buyer)
    page = page_of(buyer, order)
    assert "<h1>Pay 934.56 USD by bank card</h1>" in page
    assert "The payment page is being opened." in page
    assert '<noscript><meta http-equiv="refresh" content="4"></noscript>' in page
    assert "I have paid" not in page
    assert "USDC" not in page
    session = cards.open_session(order)
    page = page_of(buyer, order)
    assert f'href="{session.url}"' in page
    assert "http-equiv" not in page
    assert buyer.get(f"/en/orders/{order.token}/live/?mark=old")["HX-Refresh"] == "true"


def test_the_test_card_pays(buyer: Client) -> None:
    order = buy(buyer)
    session = cards.open_session(order)
    path = session.url.removeprefix("http://testserver")
    page = buyer.get(path).content.decode()
    assert "No card is charged" in page
    assert "1 lot of NVIDIA B200 for 3 days" in page
    answer = buyer.post(path, {"choice": "success"})
    assert answer.status_code == 303
    assert answer["Location"] == f"/en/orders/{order.token}/?card=back"
    page_of(buyer, order, "?card=back")
    cards.deliver()
    page = page_of(buyer, order)
    assert "<h1>Your cards are being prepared</h1>" in page
    assert "934.56 USD were paid by bank card." in page
    assert "This payment page has ended." in buyer.get(path).content.decode()
    assert buyer.post(path, {"choice": "success"}).status_code == 409
    assert buyer.post(path, {"choice": "close"})["Location"] == f"/en/orders/{order.token}/?card=back"


def test_declined_and_asked_by_the_bank(buyer: Client) -> None:
    order = buy(buyer)
    path = cards.open_session(order).url.removeprefix("http://testserver")
    assert buyer.post(path, {"choice": "declined"})["Location"] == path
    assert "The card was declined" in buyer.get(path).content.decode()
    assert buyer.post(path, {"choice": "challenge"})["Location"] == path
    assert "do you agree" in buyer.get(path).content.decode()
    assert buyer.post(path, {"choice": "refuse"})["Location"] == path
    buyer.post(path, {"choice": "challenge"})
    assert "card=back" in buyer.post(path, {"choice": "agree"})["Location"]
    cards.deliver()
    order.refresh_from_db()
    assert order.status == "paid"


def test_a_delayed_payment_on_the_page(buyer: Client) -> None:
    order = buy(buyer)
    session = cards.pay(order, DemoCard.DELAYED_SUCCESS)
    page = page_of(buyer, order)
    assert "<h1>Your payment is on its way</h1>" in page
    assert "block" not in re.sub(r"<[^>]*>", "", page.split("<main")[1].split("</main>")[0]).lower()
    cards.let_time_pass(session)
    cards.deliver()
    assert "<h1>Your cards are being prepared</h1>" in page_of(buyer, order)


def test_the_return_writes_nothing(buyer: Client) -> None:
    order = buy(buyer)
    session = cards.open_session(order)
    before = list(CardSession.objects.values()), list(DemoCardRecord.objects.values())
    assert page_of(buyer, order, "?card=back")
    assert buyer.head(f"/en/orders/{order.token}/?card=back").status_code == 200
    assert buyer.get(session.url.removeprefix("http://testserver")).status_code == 200
    assert (list(CardSession.objects.values()), list(DemoCardRecord.objects.values())) == before


def test_the_return_asks_a_worker_to_look(buyer: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    order = buy(buyer)
    session = cards.open_session(order)
    hints: list[tuple[object, ...]] = []
    monkeypatch.setattr("core.outbox.hint", lambda *asked: hints.append(asked))
    page_of(buyer, order, "?card=back")
    page_of(buyer, order, "?card=back")
    assert hints == [("billing.read_card_session", session.pk)]


def test_a_crypto_order_may_be_paid_by_card(buyer: Client) -> None:
    placed = buyer.post(f"{quote(buyer)}order/", order_form())
    order = Order.objects.get(token=placed["Location"].split("/")[-2])
    page = page_of(buyer, order)
    assert "Or pay by bank card" in page
    assert "I have paid" in page
    answer = buyer.post(f"/de/orders/{order.token}/card/")
    assert answer.status_code == 303
    session = cards.open_session(order)
    assert "/de/demo/card/" in session.url
    assert f'href="{session.url}"' in page_of(buyer, order)
    buyer.post(f"/en/orders/{order.token}/card/")
    assert CardSession.objects.count() == 1
    buyer.post(f"/en/orders/{order.token}/card/", {"anew": "1"})
    assert CardSession.objects.count() == 2


def test_a_page_that_could_not_be_opened(buyer: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    order = buy(buyer)
    with cards.processor_down(monkeypatch, cards.refusal()):
        cards.look()
    page = page_of(buyer, order)
    assert "The payment page could not be opened. Nothing was charged." in page
    assert f'action="/en/orders/{order.token}/card/"' in page


def test_a_link_to_elsewhere_is_never_shown(buyer: Client) -> None:
    order = buy(buyer)
    cards.open_session(order)
    CardSession.objects.update(url="https://evil.example/pay")
    page = page_of(buyer, order)
    assert "evil.example" not in page


def test_the_end_of_the_hold(buyer: Client) -> None:
    order = buy(buyer)
    cards.open_session(order)
    past = clock.now() - timedelta(seconds=1)
    Order.objects.update(hold_expires_at=past)
    CardSession.objects.update(expires_at=past)
    order.payment.expires_at = past
    order.payment.save()
    assert "<h1>The time to pay is up</h1>" in page_of(buyer, order)
    answer = buyer.post(f"/en/orders/{order.token}/card/")
    assert "not held long enough" in buyer.get(answer["Location"]).content.decode()
    cards.look()
    assert "Nothing was charged." in page_of(buyer, order)


@pytest.mark.parametrize("change", [{"STRIPE_TRANSPORT": ""}, {"DEMO": False}])
def test_the_test_card_is_in_the_demo_only(
    buyer: Client, settings: Settings, change: dict[str, object]
) -> None:
    path = cards.open_session(buy(buyer)).url.removeprefix("http://testserver")
    for name, value in change.items():
        setattr(settings, name, value)
    assert buyer.get(path).status_code == 404
    assert buyer.post(path, {"choice": "success"}).status_code == 404


def test_unknown_sessions_and_choices(buyer: Client) -> None:
    path = cards.open_session(buy(buyer)).url.removeprefix("http://testserver")
    assert buyer.post(path, {"choice": "free"}).status_code == 400
    assert buyer.post(path).status_code == 400
    assert buyer.get("/en/demo/card/cs_test_" + "0" * 32 + "/").status_code == 404
    assert buyer.get("/en/demo/card/cs_live_1/").status_code == 404
    assert buyer.post(f"/en/orders/{'x' * 43}/card/").status_code == 404


def test_size_is_bounded_before_the_signature(db: None) -> None:
    answer = cards.post(b" " * (256 * 1024 + 1))
    assert (answer.status_code, answer.content) == (413, b"The event is too large.\n")
    assert answer["Content-Type"].startswith("text/plain")


def test_the_line_holds_nothing_that_the_buyer_typed(shop: None) -> None:
    order = cards.order(
        scenario.quote(),
        contact=clean_contact(name="Ж" * 200, email="a@example.com", company="👩‍👩‍👧‍👦" * 28, language="ru"),
    )
    assert cards.open_session(order).status == CardSession.Status.OPEN
    body = cards.record_of(cards.session_of(order)).body
    assert "Ж" not in str(body)
    assert order.public_id in body["name"]
