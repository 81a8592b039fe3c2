"""A real browser goes from the catalogue to the payment page: wide and narrow, with and without scripts."""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal, cast

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page
from pytest_django.live_server_helper import LiveServer

from core import outbox
from orders.models import Order
from tests import scenario
from tests.browser.conftest import OnThread
from tests.shop.states import active

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
WIDE, NARROW = 1280, 390


def _context(
    live_server: LiveServer, browser: Browser, thread: ThreadPoolExecutor, errors: list[str], **options: Any
) -> Page:
    def start() -> Page:
        context = browser.new_context(base_url=live_server.url, locale="en-GB", timezone_id="UTC", **options)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda line: errors.append(line.text) if line.type == "error" else None)
        return page

    return cast(Page, OnThread(thread.submit(start).result(), thread))


@pytest.fixture(
    params=[
        (WIDE, True),
        (NARROW, False),
        pytest.param((NARROW, True), marks=pytest.mark.full),
        pytest.param((WIDE, False), marks=pytest.mark.full),
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
    width, scripts = request.param
    page = _context(
        live_server,
        browser,
        browser_thread,
        page_errors,
        viewport={"width": width, "height": 900},
        java_script_enabled=scripts,
    )
    yield page
    page.context.close()


def overflow(page: Page) -> int:
    """How far a page can be scrolled sideways, in pixels."""
    size = page.locator("html").bounding_box()
    viewport = page.viewport_size
    assert size is not None
    assert viewport is not None
    return int(size["width"] - viewport["width"])


def test_a_buyer_reaches_the_payment_page(any_page: Page, page_errors: list[str], tmp_path: Path) -> None:
    scenario.open_shop()
    page = any_page
    page.goto("/en/catalog/")
    page.get_by_role("link", name="NVIDIA B200").click()
    page.locator('input[name="days"][value="7"]').check()
    page.get_by_role("button", name="Get a fixed quote").click()
    assert page.locator("h1").inner_text() == "Your quote is fixed"
    assert "2,028.00" in page.locator(".held").inner_text()
    page.get_by_label("Name").fill("Ada")
    page.get_by_label("E-mail").fill("ada@example.com")
    key_file = tmp_path / "id_ed25519.pub"
    key_file.write_text(scenario.new_key_line(), encoding="utf-8")
    page.locator('input[type="file"]').set_input_files(str(key_file))
    page.locator("#id_accept_terms").check()
    page.get_by_role("button", name="Order with obligation to pay").click()
    assert page.locator("h1").inner_text() == "Pay 2,028.00 USDC"
    assert page.get_by_role("img", name="QR code of the deposit address").is_visible()
    assert overflow(page) <= 0
    page.get_by_role("button", name="I have paid").click()
    assert "nothing yet" in page.locator("main").inner_text()
    order = Order.objects.get()
    assert re.sub(r"\s", "", page.locator("#addr").inner_text()) == order.payment.crypto.address
    assert page_errors == []


def test_the_page_follows_the_money_by_itself(page: Page, page_errors: list[str]) -> None:
    scenario.open_shop()
    order = scenario.order()
    page.goto(f"/en/orders/{order.token}/")
    assert page.locator("h1").inner_text() == "Pay 934.56 USDC"
    chain = scenario.Chain()
    chain.advance()
    chain.send(order.payment, order.payment.crypto.due_units)
    chain.look(order.payment)
    page.get_by_role("heading", level=1, name="Your transfer is seen").wait_for(timeout=15_000)
    chain.settle(order.payment)
    outbox.drain()
    page.get_by_role("heading", level=1, name="Your cards are being prepared").wait_for(timeout=15_000)
    assert page_errors == []


def test_the_total_follows_the_choice(page: Page, page_errors: list[str]) -> None:
    scenario.open_shop()
    page.goto("/en/catalog/b200-180/")
    page.locator("#total", has_text="934.56").wait_for()
    page.locator('input[name="days"][value="30"]').check()
    page.locator("#total", has_text="7,476.48").wait_for()
    page.locator('input[name="option_priority-support"]').fill("1")
    page.locator("#total", has_text="7,926.48").wait_for()
    assert page_errors == []


def _order_pages() -> dict[str, str]:
    """A page of each kind, by address."""
    waiting, partial, paid = (scenario.order(scenario.quote()) for _ in range(3))
    running = scenario.order(scenario.quote(lot="h100-sxm-80x1"))
    chain = scenario.Chain()
    chain.advance()
    chain.send(partial.payment, partial.payment.crypto.due_units - 5_000_000)
    chain.look(partial.payment)
    scenario.pay(paid)
    scenario.pay(running)
    active(running)
    quote = scenario.quote(options=[("nvme-extra", 2)])
    return {
        "home": "/en/",
        "catalogue": "/en/catalog/",
        "accelerator": "/en/catalog/h100-sxm-80/",
        "not on sale": "/en/catalog/mi355x-288/",
        "planner": "/en/plan/",
        "planner, adapters": "/en/plan/?model=size&billion_params=70&method=qlora&sharding=fsdp&n_cards=2",
        "quote": f"/en/quotes/{quote.public_id}/",
        "waiting": f"/en/orders/{waiting.token}/",
        "partial": f"/en/orders/{partial.token}/",
        "paid": f"/en/orders/{paid.token}/",
        "active": f"/en/orders/{running.token}/",
        "problem": f"/en/orders/{running.token}/problem/",
        "simulated": "/en/simulated/",
        "terms": "/en/legal/terms/",
        "guides": "/en/guides/",
        "guide": "/en/guides/paying-in-crypto/",
        "mail": "/demo/mail/",
    }


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_is_accessible_and_fits(
    page: Page, page_errors: list[str], scheme: Literal["light", "dark"]
) -> None:
    scenario.open_shop(b200_nodes=2)
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    broken: list[str] = []
    for name, target in _order_pages().items():
        page.goto(target)
        for width in (WIDE, NARROW):
            page.set_viewport_size({"width": width, "height": 900})
            scroll = page.evaluate(
                "document.documentElement.scrollWidth - document.documentElement.clientWidth"
            )
            if scroll > 0:
                broken.append(f"{name} at {width}: {scroll} px too wide")
            # Colours go with the scheme, structure with the width: each of both is looked at once.
            if (scheme == "light") == (width == WIDE):
                broken += [f"{name} at {width}: {problem}" for problem in _axe(page)]
    assert broken == []
    assert page_errors == []


def _axe(page: Page) -> list[str]:
    """Rules that the page breaks, with the first place of each."""
    stand_in = cast(OnThread, page)
    results = stand_in.in_thread(
        lambda real: Axe().run(real, options={"runOnly": {"type": "tag", "values": RULES}})
    )
    return [f"{found['id']} {found['nodes'][0]['target']}" for found in results.response["violations"]]


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
