"""The buyer made of code, against a served shop: it reads the pages and finds its way by them alone."""

from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from billing.models import Claim, DemoCardEvent, DemoTransfer
from billing.services import demo_card_work
from core import outbox
from fleet.models import Lease
from orders.models import Order
from shop.demo_buyer import login, purchase
from shop.demo_buyer.browser import Browser, PageError
from shop.demo_buyer.purchase import Wish
from tests import cards, scenario
from tests.shop.states import active

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def browser(live_server: LiveServer) -> Browser:
    scenario.open_shop()
    return Browser(live_server.url)


def test_the_whole_way(browser: Browser, tmp_path: Path) -> None:
    wish = Wish(lot=None, lots=1, days=3)
    found = purchase.find_lot(browser, wish)
    # Cheaper cards are in the catalogue, but no machine of theirs is in this fleet.
    assert (found.lot, str(found.amount)) == ("h100-sxm-80x1", "251.28")
    key = login.new_key(tmp_path)
    assert oct(key.file.stat().st_mode & 0o777) == "0o600"
    page = purchase.place_order(browser, purchase.make_quote(browser, wish, found), key.public_line)
    order = Order.objects.get()
    assert order.ssh_keys[0]["data"] in key.public_line
    purchase.pay(browser, page)
    assert DemoTransfer.objects.filter(payment=order.payment).count() == 1
    purchase.claim(browser, page)
    assert Claim.objects.count() == 1
    scenario.pay(order)
    assert purchase.claim(browser, page).status == 200
    assert Claim.objects.count() == 1
    purchase.wait_until_final(browser, page)
    active(order)
    outbox.drain()
    target = purchase.target_of(purchase.wait_until_ready(browser, page))
    lease = Lease.objects.get()
    assert target.user == lease.username
    assert target.known_hosts_line.startswith(f"[{target.host}]:{target.port} ssh-ed25519 ")


def test_the_way_with_a_test_card(
    live_server: LiveServer, settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    cards.take_cards(settings)
    settings.SITE_URL = live_server.url
    scenario.open_shop()
    browser = Browser(live_server.url)
    wish = Wish(lot=None, lots=1, days=3)
    quote = purchase.make_quote(browser, wish, purchase.find_lot(browser, wish))
    key = login.new_key(tmp_path)
    page = purchase.place_order(browser, quote, key.public_line, purchase.CARD)
    order = Order.objects.get()
    assert order.payment.rail == "bank_card"
    cards.open_session(order)
    purchase.pay_by_card(browser, page)
    # The worker's part: it signs the events and posts them over HTTP to our own webhook.
    demo_card_work.work()
    assert DemoCardEvent.objects.get().posted_at is not None
    cards.apply()
    purchase.wait_until_final(browser, page)
    order.refresh_from_db()
    assert order.status == "paid"


def test_a_way_that_is_not_offered_is_said(browser: Browser, tmp_path: Path) -> None:
    wish = Wish(lot=None, lots=1, days=3)
    quote = purchase.make_quote(browser, wish, purchase.find_lot(browser, wish))
    with pytest.raises(PageError, match="does not offer to pay by card"):
        purchase.place_order(browser, quote, login.new_key(tmp_path).public_line, purchase.CARD)


@pytest.mark.parametrize(
    ("wish", "words"),
    [
        (Wish(lot=None, lots=1, days=4), "no price for a term of 4 days"),
        (Wish(lot=None, lots=50, days=3), "50 lots"),
        (Wish(lot="b200-180x2", lots=0, days=3), "between 1 and"),
        (Wish(lot="b200-180x2", lots=9, days=3), "up to 16 cards"),
        (Wish(lot="nope-1x1", lots=1, days=3), r"^There is no lot nope-1x1\.$"),
        (Wish(lot="b200-180x3", lots=1, days=3), r"^There is no lot b200-180x3\.$"),
        (Wish(lot="mi355x-288x8", lots=1, days=3), r"^There is no lot mi355x-288x8\.$"),
        (Wish(lot="../../admin/x1", lots=1, days=3), r"^There is no lot ../../admin/x1\.$"),
        (Wish(lot="x", lots=1, days=3), r"^There is no lot x\.$"),
    ],
)
def test_what_the_shop_refuses_is_said(browser: Browser, wish: Wish, words: str) -> None:
    with pytest.raises(PageError, match=words):
        purchase.make_quote(browser, wish, purchase.find_lot(browser, wish))


def test_a_shop_that_does_not_answer_is_one_sentence(settings: Settings) -> None:
    settings.SITE_URL = "http://127.0.0.1:9"
    with pytest.raises(CommandError, match="is bin/demo running"):
        call_command("demo_buy")


def test_it_is_for_the_demo_only(settings: Settings) -> None:
    settings.DEMO = False
    with pytest.raises(CommandError, match="against a demo only"):
        call_command("demo_buy")


def test_it_leaves_its_site_for_no_link(browser: Browser) -> None:
    with pytest.raises(PageError, match="is not on"):
        browser.get("https://evil.example/")


def test_a_field_that_is_not_there_is_a_mistake(browser: Browser) -> None:
    page = browser.get("/en/catalog/b200-180/")
    with pytest.raises(PageError, match="has no field typo"):
        browser.submit(page, page.form_to("/catalog/b200-180/"), typo="1")


def test_a_login_that_nobody_answers_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = login.new_key(tmp_path)
    target = login.Target("127.0.0.1", 9, "l1", f"[127.0.0.1]:9 {key.public_line.rpartition(' ')[0]}")
    with pytest.raises(login.LoginFailed):
        login.run(target, key, "nvidia-smi")
    monkeypatch.setattr("shop.demo_buyer.login.shutil.which", lambda _name: None)
    assert login.client_name() == "asyncssh"
    with pytest.raises(login.LoginFailed):
        login.run(target, key, "nvidia-smi")
