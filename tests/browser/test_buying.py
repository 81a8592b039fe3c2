"""A real browser buys: wide and narrow, with and without scripts, with the keyboard alone, in four languages."""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import pytest
from playwright.sync_api import Browser, Page
from pytest_django.live_server_helper import LiveServer

from core import outbox
from orders.models import Order
from tests import scenario
from tests.browser.buyer import Buyer
from tests.browser.conftest import OnThread
from tests.browser.looking import NARROW, WIDE, overflow
from tests.terms import take_logins_for_good, work

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def _context(
    live_server: LiveServer,
    browser: Browser,
    thread: ThreadPoolExecutor,
    errors: list[str],
    **options: object,
) -> Page:
    def start() -> Page:
        settled = {"locale": "en-GB", "timezone_id": "UTC"} | options
        context = browser.new_context(base_url=live_server.url, **settled)  # type: ignore[arg-type]
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda line: errors.append(line.text) if line.type == "error" else None)
        return page

    return cast(Page, OnThread(thread.submit(start).result(), thread))


@dataclass(frozen=True)
class Visit:
    """How somebody comes to the shop."""

    language: str
    width: int
    scripts: bool
    by_keyboard: bool = False


PURCHASES = [
    Visit("en", WIDE, scripts=True, by_keyboard=True),
    Visit("de", NARROW, scripts=True),
    Visit("fr", WIDE, scripts=False),
    Visit("ru", NARROW, scripts=False),
]


@pytest.fixture(
    params=[
        Visit("en", WIDE, scripts=True),
        Visit("en", NARROW, scripts=False),
        pytest.param(Visit("en", NARROW, scripts=True), marks=pytest.mark.full),
        pytest.param(Visit("en", WIDE, scripts=False), marks=pytest.mark.full),
    ],
    ids=str,
)
def any_page(
    request: pytest.FixtureRequest,
    live_server: LiveServer,
    browser: Browser,
    browser_thread: ThreadPoolExecutor,
    page_errors: list[str],
) -> Iterator[Page]:
    """A page of one width, with scripts or without."""
    page = _context(
        live_server,
        browser,
        browser_thread,
        page_errors,
        viewport={"width": request.param.width, "height": 900},
        java_script_enabled=request.param.scripts,
    )
    yield page
    page.context.close()


def _order_by(buyer: Buyer, key_file: Path) -> Order:
    """From the catalogue to the page that asks for the money."""
    buyer.goto("catalog/")
    buyer.press("link", "NVIDIA B200", within="main")
    buyer.choose('input[name="days"][value="7"]')
    buyer.press("button", buyer.words("Get a fixed quote"))
    assert buyer.heading() == buyer.words("Your quote is fixed")
    buyer.type(buyer.words("Name"), "Ada")
    buyer.type(buyer.words("E-mail"), "ada@example.com")
    if buyer.by_keyboard:
        buyer.type(buyer.words("SSH public key"), key_file.read_text(encoding="utf-8"))
    else:
        buyer.page.locator('input[type="file"]').set_input_files(str(key_file))
    buyer.choose("#id_accept_terms")
    buyer.press("button", buyer.words("Order with obligation to pay"))
    return Order.objects.get()


@pytest.mark.parametrize(("visit", "any_page"), [(v, v) for v in PURCHASES], indirect=["any_page"], ids=str)
def test_a_whole_purchase(
    any_page: Page,
    visit: Visit,
    page_errors: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    take_logins_for_good(monkeypatch)
    scenario.open_shop()
    page, buyer = any_page, Buyer(any_page, language=visit.language, by_keyboard=visit.by_keyboard)
    key_file = tmp_path / "id_ed25519.pub"
    key_file.write_text(scenario.new_key_line(), encoding="utf-8")
    order = _order_by(buyer, key_file)
    assert order.quote.total == 2028
    assert order.contact_language == visit.language
    asked = re.sub(r"\s", "", buyer.heading())
    assert re.search(r"2.?028[.,]00USDC", asked), asked
    assert page.locator(".qr svg").first.is_visible()
    assert re.sub(r"\s", "", page.locator("#addr").inner_text()) == order.payment.crypto.address
    assert order.ssh_keys[0]["fingerprint"] in page.locator("aside").inner_text()
    assert overflow(page) <= 0
    buyer.press("button", buyer.words("I have paid"))
    assert page.locator(".notice[role=status]").is_visible()
    chain = scenario.Chain()
    chain.advance()
    chain.send(order.payment, order.payment.crypto.due_units)
    chain.look(order.payment)
    _follow(buyer, buyer.words("Your transfer is seen"))
    chain.settle(order.payment)
    outbox.drain()
    _follow(buyer, buyer.words("Your cards are being prepared"))
    work()
    _follow(buyer, buyer.words("Access ready, term started"))
    assert page.locator("#ssh").inner_text().startswith("ssh -p ")
    assert overflow(page) <= 0
    assert page_errors == []


def _follow(buyer: Buyer, heading: str) -> None:
    """With scripts the page comes by itself, without them by the link that it shows."""
    reload = buyer.page.get_by_role("link", name=buyer.words("Reload now"))
    if reload.count():
        reload.click()
    buyer.page.get_by_role("heading", level=1, name=heading).wait_for(timeout=20_000)


def test_the_total_follows_the_choice(page: Page, page_errors: list[str]) -> None:
    scenario.open_shop()
    page.goto("/en/catalog/b200-180/")
    page.locator("#total", has_text="934.56").wait_for()
    page.locator('input[name="days"][value="30"]').check()
    page.locator("#total", has_text="7,476.48").wait_for()
    page.locator('input[name="option_priority-support"]').fill("1")
    page.locator("#sum", has_text="7,926.48").wait_for()
    assert page_errors == []


def test_what_is_new_is_read_out_once(page: Page) -> None:
    """The sentence about the money goes to the live region when it changes, and not with each new block."""
    scenario.open_shop()
    order = scenario.order()
    page.goto(f"/en/orders/{order.token}/")
    page.evaluate(
        "window.read = []; new MutationObserver(() => read.push(said.textContent))"
        ".observe(said, {childList: true, characterData: true, subtree: true})"
    )
    page.evaluate("htmx.trigger('#live', 'htmx:abort')")
    for sentence in ("No transfer seen yet.", "Something new."):
        page.evaluate(
            "(text) => { document.querySelector('[data-say]').textContent = text;"
            " document.dispatchEvent(new CustomEvent('htmx:afterSwap')) }",
            sentence,
        )
    assert page.evaluate("new Promise((done) => setTimeout(() => done(read), 0))") == ["Something new."]


def test_a_refused_form_takes_the_focus_to_its_summary(page: Page) -> None:
    scenario.open_shop()
    quote = scenario.quote()
    page.goto(f"/en/quotes/{quote.public_id}/")
    page.get_by_label("Name").fill("Ada")
    page.get_by_label("E-mail").fill("ada@example.com")
    page.locator("#id_accept_terms").check()
    page.get_by_role("button", name="Order with obligation to pay").click()
    assert page.locator(".error-summary").is_visible()
    assert page.evaluate("document.activeElement.className").startswith("error-summary")
    page.locator(".error-summary a").first.click()
    assert page.evaluate("document.activeElement.id") == "id_ssh_keys"
