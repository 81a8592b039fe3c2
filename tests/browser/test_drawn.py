"""What only a drawn page shows: gaps within a sentence, fields that step aside, the viewer of the API document."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from orders.models import Order
from tests import scenario
from tests.shop.states import active, ended, expire_clock

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

# In a flex or grid box a bare text and the element beside it are set apart by the gap: "after  18:45 UTC".
TORN = """() => [...document.querySelectorAll("main *")].filter(box => {
    const style = getComputedStyle(box);
    if (!/flex|grid/.test(style.display) || parseFloat(style.columnGap) === 0 || box.closest("svg, select"))
        return false;
    const text = [...box.childNodes].some(node => node.nodeType === 3 && node.textContent.trim());
    const beside = [...box.children].some(child => !child.matches("svg, input")
        && getComputedStyle(child).position !== "absolute" && child.textContent.trim());
    return text && beside;
}).map(box => box.textContent.trim())"""

STATES: dict[str, Callable[[Order], object]] = {
    "waiting": lambda order: None,
    "checking": expire_clock,
    "active": lambda order: (scenario.pay(order), active(order)),
    "ended": lambda order: (scenario.pay(order), ended(order)),
}


@pytest.fixture(autouse=True)
def _shop() -> None:
    scenario.open_shop()


@pytest.mark.parametrize("state", list(STATES))
def test_no_sentence_of_an_order_page_is_torn(page: Page, state: str, page_errors: list[str]) -> None:
    order = scenario.order()
    STATES[state](order)
    page.goto(f"/en/orders/{order.token}/")
    assert page.evaluate(TORN) == []
    assert page_errors == []


def test_the_check_for_torn_sentences_finds_one(page: Page) -> None:
    order = scenario.order()
    page.goto(f"/en/orders/{order.token}/")
    page.evaluate("document.querySelectorAll('summary > span').forEach(s => s.replaceWith(...s.childNodes))")
    assert any("It arrives after" in text for text in page.evaluate(TORN))


@pytest.mark.parametrize("target", ["/en/", "/en/catalog/", "/en/catalog/b200-180/", "/de/catalog/"])
def test_no_sentence_of_the_catalogue_is_torn(page: Page, target: str) -> None:
    page.goto(target)
    assert page.evaluate(TORN) == []


def test_day_and_hour_show_only_to_who_chooses_them(page: Page) -> None:
    page.goto("/en/catalog/b200-180/")
    assert not page.is_visible("#id_start_date")
    assert not page.is_visible("#id_start_hour")
    page.check('input[name="start"][value="chosen"]')
    assert page.is_visible("#id_start_date")
    assert page.is_visible("#id_start_hour")
    page.check('input[name="start"][value="soon"]')
    assert not page.is_visible("#id_start_date")


def test_a_chosen_start_without_a_day_shows_its_error(page: Page) -> None:
    page.goto("/en/catalog/b200-180/")
    page.check('input[name="start"][value="chosen"]')
    page.click('#configurator button:not([type="button"])')
    page.wait_for_selector(".error-summary")
    assert page.is_visible("#id_start_date_error")


def test_the_api_reference_is_read_under_the_strict_policy(page: Page, page_errors: list[str]) -> None:
    page.goto("/api/docs/")
    page.wait_for_selector("#swagger-ui .opblock")
    assert page.locator("#swagger-ui .opblock").count() >= 4
    assert page.locator("main h1").count() == 1
    assert page.get_attribute("a.brand", "href") == "/en/"
    page.click("#swagger-ui .opblock-summary-control >> nth=1")
    page.wait_for_selector("#swagger-ui .opblock-body .responses-wrapper")
    assert page_errors == []
