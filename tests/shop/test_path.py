"""The whole way over HTTP: catalogue, quote, order, money in every state, access, end."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils.translation import override

from billing.models import BalanceReading
from core import clock, outbox
from core.models import Decision, Event, OutgoingMail
from fleet.models import Lease, Reservation
from fleet.services.release import release
from orders.models import Order, Quote
from shop.pages.phase import Phase
from shop.pages.wording import Situation, words_for
from tests import scenario
from tests.shop.conftest import configure, order_form
from tests.shop.states import active, ended, expire_clock

pytestmark = pytest.mark.django_db


def heading(client: Client, order: Order) -> str:
    answer = client.get(f"/en/orders/{order.token}/")
    assert answer.status_code == 200
    found = re.search(r"<h1>(.*?)</h1>", answer.content.decode())
    assert found
    return found[1]


def buy(client: Client, **changes: str) -> Order:
    quoted = client.post("/en/catalog/b200-180/", configure(**changes))
    assert quoted.status_code == 303
    assert client.get(quoted["Location"]).status_code == 200
    placed = client.post(f"{quoted['Location']}order/", order_form())
    assert placed.status_code == 303, placed.content.decode()[:3000]
    return Order.objects.get(token=placed["Location"].split("/")[-2])


def test_a_buyer_gets_from_the_catalogue_to_the_payment_page(buyer: Client) -> None:
    catalogue = buyer.get("/en/catalog/").content.decode()
    assert 'data-lot="b200-180x2" data-days="3" data-amount="934.56"' in catalogue
    choices = buyer.get("/en/catalog/b200-180/").content.decode()
    assert "Compilers and libraries of CUDA 12.8, no framework; bring your own." in choices
    order = buy(buyer, days="7")
    page = buyer.get(f"/en/orders/{order.token}/").content.decode()
    assert "<h1>Pay 2,028.00 USDC</h1>" in page
    assert 'data-copy="2028.00"' in page
    assert f'data-copy="{order.payment.crypto.address}"' in page
    assert "Anchor test chain" in page
    assert "2 NVIDIA B200 cards are off sale for you until" in page
    assert Reservation.objects.filter(status="held").count() == 2
    assert order.owner.startswith("web:")
    assert order.mail_to == "ada@example.com"
    outbox.drain()
    assert OutgoingMail.objects.filter(order_ref=order.public_id).count() == 1


def test_the_quote_shows_the_signed_figures(buyer: Client) -> None:
    answer = buyer.post("/en/catalog/b200-180/", configure(days="7", **{"option_nvme-extra": "2"}))
    quote = Quote.objects.get()
    page = buyer.get(answer["Location"]).content.decode()
    assert "2,028.00" in page
    assert "16.80" in page
    assert "2,044.80" in page
    document = buyer.get(f"/en/quotes/{quote.public_id}/document.json")
    assert document.content.decode() == quote.document
    assert (
        buyer.get(f"/en/quotes/{quote.public_id}/signature.txt").content.decode().strip() == quote.signature
    )


def test_a_quote_says_before_its_form_is_filled_in_that_the_cards_are_taken(buyer: Client) -> None:
    address = f"/en/quotes/{scenario.quote(days=7).public_id}/"
    words, way_out = "no longer available", "?days=7&amp;lot=b200-180x2#calendar"
    assert words not in buyer.get(address).content.decode()
    for _ in range(2):
        scenario.order(scenario.quote(lots=2))
    page = buyer.get(address).content.decode()
    assert words in page
    assert way_out in page
    # Cards of the order that this one replaces are let go first.
    assert words not in buyer.get(f"{address}?replaces=ord_1").content.decode()


def test_money_moves_the_page(buyer: Client) -> None:
    order = buy(buyer)
    chain = scenario.Chain()
    chain.advance()
    chain.send(order.payment, order.payment.crypto.due_units - 5_000_000)
    chain.look(order.payment)
    assert heading(buyer, order) == "5.00 USDC are still missing"
    partial = buyer.get(f"/en/orders/{order.token}/").content.decode()
    assert 'data-copy="5.00"' in partial
    assert "929.56" in partial
    chain.send(order.payment, 5_000_000)
    chain.look(order.payment)
    assert heading(buyer, order) == "Your transfer is seen"
    chain.settle(order.payment)
    assert heading(buyer, order) == "Payment final"
    outbox.drain()
    assert heading(buyer, order) == "Your cards are being prepared"
    active(order)
    page = buyer.get(f"/en/orders/{order.token}/").content.decode()
    assert "<h1>Access ready, term started</h1>" in page
    lease = Lease.objects.get(order_ref=order.public_id)
    assert f"{lease.username}@127.0.0.1" in page
    assert "SHA256:" in page
    assert "[127.0.0.1]:" in page
    ended(order)
    assert heading(buyer, order) == "The term has ended"
    assert "Record of the wipe" in buyer.get(f"/en/orders/{order.token}/").content.decode()


def test_too_much_and_another_asset_are_said(buyer: Client) -> None:
    order = buy(buyer)
    chain = scenario.Chain()
    chain.advance()
    chain.send(order.payment, order.payment.crypto.due_units + 8_000_000)
    chain.look(order.payment, native=10**15)
    page = buyer.get(f"/en/orders/{order.token}/").content.decode()
    assert "8.00 USDC too much" in page
    assert "Another asset arrived at this address" in page


def test_the_clock_ends_the_hold_before_the_column_says_so(buyer: Client) -> None:
    order = buy(buyer)
    expire_clock(order)
    assert order.payment.view.status == "awaiting"
    assert heading(buyer, order) == "The time to pay is up"
    chain = scenario.Chain()
    chain.advance(to=order.hold_expires_at + timedelta(seconds=10))
    chain.look(order.payment, settled_number=chain.number)
    outbox.drain()
    order.refresh_from_db()
    assert order.status == "expired"
    assert heading(buyer, order).startswith("The hold ended on")
    assert "Nothing was charged" in buyer.get(f"/en/orders/{order.token}/").content.decode()


def test_money_on_time_without_cards_is_said(buyer: Client) -> None:
    order = buy(buyer)
    release(ref=order.public_id)
    scenario.pay(order)
    assert heading(buyer, order) == "Your money arrived, a lot is kept for you"


def test_late_money_is_said(buyer: Client) -> None:
    order = buy(buyer)
    chain = scenario.Chain()
    expire_clock(order)
    chain.advance(to=order.hold_expires_at + timedelta(minutes=21))
    chain.send(order.payment, order.payment.crypto.due_units)
    chain.look(order.payment, settled_number=chain.number)
    outbox.drain()
    page = buyer.get(f"/en/orders/{order.token}/").content.decode()
    assert "Your money came after the time was up" in page


def test_a_reversal_pauses_and_says_so(buyer: Client) -> None:
    order = buy(buyer)
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
    assert heading(buyer, order) == "Your access is paused"
    assert "Do not pay twice" in buyer.get(f"/en/orders/{order.token}/").content.decode()


def test_cancelling_frees_the_cards(buyer: Client) -> None:
    order = buy(buyer)
    answer = buyer.post(f"/en/orders/{order.token}/cancel/")
    assert answer.status_code == 303
    assert heading(buyer, order) == "Order cancelled"
    assert not Reservation.objects.exclude(status="released").exists()
    again = buyer.post(f"/en/orders/{order.token}/cancel/")
    assert again.status_code == 409
    assert "already done" in again.content.decode()


def test_after_the_start_a_cancellation_is_refused(buyer: Client) -> None:
    order = buy(buyer)
    scenario.pay(order)
    active(order)
    answer = buyer.post(f"/en/orders/{order.token}/cancel/")
    assert answer.status_code == 409
    assert "The term has started" in answer.content.decode()


def test_changing_an_order_lets_its_cards_go(buyer: Client) -> None:
    first = buy(buyer)
    page = buyer.get(f"/en/orders/{first.token}/").content.decode()
    assert f"replaces={first.public_id}" in page
    quoted = buyer.post("/en/catalog/b200-180/", configure(lots="2", replaces=first.public_id))
    shown = buyer.get(quoted["Location"]).content.decode()
    assert f'value="{first.public_id}"' in shown
    target = quoted["Location"].partition("?")[0]
    placed = buyer.post(f"{target}order/", order_form(replaces=first.public_id))
    assert placed.status_code == 303
    first.refresh_from_db()
    assert first.status == "cancelled"
    assert Reservation.objects.filter(status="held").count() == 4


def test_somebody_elses_order_is_not_replaced(buyer: Client) -> None:
    foreign = scenario.order()
    quoted = buyer.post("/en/catalog/b200-180/", configure())
    placed = buyer.post(f"{quoted['Location']}order/", order_form(replaces=foreign.public_id))
    assert placed.status_code == 303
    foreign.refresh_from_db()
    assert foreign.status == "awaiting_payment"


def test_the_demo_wallet_is_asked_once(buyer: Client) -> None:
    order = buy(buyer)
    assert "Pay from the demo wallet" in buyer.get(f"/en/orders/{order.token}/").content.decode()
    assert buyer.post(f"/en/orders/{order.token}/demo-pay/").status_code == 303
    assert buyer.post(f"/en/orders/{order.token}/demo-pay/").status_code == 409
    assert order.payment.demo_transfers.count() == 1


def test_a_problem_reaches_staff(buyer: Client) -> None:
    order = buy(buyer)
    assert buyer.get(f"/en/orders/{order.token}/problem/").status_code == 200
    answer = buyer.post(f"/en/orders/{order.token}/problem/", {"text": "The login\nhangs."})
    assert answer.status_code == 303
    decision = Decision.objects.get(kind="problem_reported", order_ref=order.public_id)
    assert decision.facts["text"] == "The login\nhangs."
    empty = buyer.post(f"/en/orders/{order.token}/problem/", {"text": " "})
    assert empty.status_code == 400


def test_the_timeline_tells_what_happened_in_words(buyer: Client) -> None:
    order = buy(buyer)
    buyer.post(f"/en/orders/{order.token}/claim/")
    scenario.pay(order)
    active(order)
    page = buyer.get(f"/en/orders/{order.token}/").content.decode()
    log = page[page.index('<ol class="log') :]
    order_of_words = [
        "Access ready, term started",
        "Payment final",
        "Transfer seen",
        "You pressed “I have paid”",
        "Order placed, cards held",
    ]
    places = [log.index(words) for words in order_of_words]
    assert places == sorted(places)
    assert Event.objects.filter(order_ref=order.public_id, name="order.placed").count() == 1


@pytest.mark.parametrize("phase", list(Phase))
def test_every_phase_has_words(buyer: Client, phase: Phase) -> None:
    order = scenario.order()
    with override("en"):
        words = words_for(phase, Situation(order, None, None))
    assert words.heading
    assert words.lede
    assert words.badge
    assert "%(" not in words.heading + words.lede


def test_the_live_part_reloads_the_page_only_when_more_has_changed(buyer: Client) -> None:
    order = buy(buyer)
    page = buyer.get(f"/en/orders/{order.token}/").content.decode()
    mark = re.search(r"live/\?mark=([0-9a-f]{16})", page)
    assert mark
    same = buyer.get(f"/en/orders/{order.token}/live/?mark={mark[1]}")
    assert "HX-Refresh" not in same
    assert "<html" not in same.content.decode()
    chain = scenario.Chain()
    chain.advance()
    chain.send(order.payment, 1_000_000)
    chain.look(order.payment)
    assert buyer.get(f"/en/orders/{order.token}/live/?mark={mark[1]}")["HX-Refresh"] == "true"


def test_a_get_changes_nothing(buyer: Client) -> None:
    order = buy(buyer)
    before = (Event.objects.count(), BalanceReading.objects.count(), Quote.objects.count())
    for target in ("/en/catalog/b200-180/", f"/en/orders/{order.token}/", f"/en/orders/{order.token}/live/"):
        buyer.get(target)
        buyer.head(target)
    for action in ("claim", "cancel", "demo-pay"):
        assert buyer.get(f"/en/orders/{order.token}/{action}/").status_code == 405
    assert buyer.get(f"/en/quotes/{order.quote.public_id}/order/").status_code == 405
    assert before == (Event.objects.count(), BalanceReading.objects.count(), Quote.objects.count())
    assert clock.now() < order.hold_expires_at
