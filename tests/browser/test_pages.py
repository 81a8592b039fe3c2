"""Every page and every state of an order in a real browser: accessible, whole at 400 % zoom, and cheap to ask for."""

from typing import Literal

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from playwright.sync_api import Page

from tests import scenario
from tests.browser.looking import (
    NARROW,
    TORN,
    WIDE,
    broken_rules,
    moving,
    overflow,
    set_width,
    spilt,
    too_wide,
    unfold,
)
from tests.browser.pages import all_pages
from tests.order_states import open_shop_for_states

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

Theme = Literal["light", "dark"]
THEMES: tuple[Theme, ...] = ("light", "dark")
# In the demo, as here, one of them reads its clock.
ORDER_QUERIES = 8
# Pages that are errors themselves; a browser says so.
REFUSED = {"no-such-page", "planner-refused"}
# In the languages beside English all pages, but of the many states of an order each eighth; `--full` takes all.
EACH = 8


def _some(pages: dict[str, str]) -> dict[str, str]:
    states = [name for name in pages if name.startswith("order-")]
    return {name: address for name, address in pages.items() if name not in states} | {
        name: pages[name] for name in states[::EACH]
    }


def _too_many_queries(address: str) -> list[str]:
    with CaptureQueriesContext(connection) as asked:
        Client().get(address)
    return [f"{len(asked)} queries"] if len(asked) > ORDER_QUERIES else []


def _look(page: Page, address: str, width: int, theme: Theme) -> list[str]:
    page.emulate_media(color_scheme=theme, reduced_motion="reduce")
    set_width(page, width)
    page.goto(address)
    unfold(page)
    found = broken_rules(page)
    if overflow(page) > 0:
        found.append("too wide")
    return found + spilt(page)


def test_every_page_in_every_state_is_accessible_whole_and_cheap(
    page: Page, page_errors: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    open_shop_for_states(monkeypatch)
    pages = all_pages()
    wrong: list[str] = []
    for name, address in pages.items():
        found = _look(page, address, WIDE, "light")
        found += too_wide(page)
        found += [f"torn: {text}" for text in page.evaluate(TORN)]
        if moving(page):
            found.append("something moves")
        if name.startswith("order-"):
            found += _too_many_queries(address)
        if name not in REFUSED:
            found += page_errors
        page_errors.clear()
        wrong += [f"{name}: {text}" for text in found]
    others: tuple[tuple[str, Theme], ...] = (("de", "dark"), ("ru", "light"))
    for language, theme in others:
        for name, address in _some(pages).items():
            found = _look(page, address.replace("/en/", f"/{language}/"), NARROW, theme)
            wrong += [f"{name} in {language}: {text}" for text in found]
    assert wrong == [], "\n".join(wrong)


@pytest.mark.full
@pytest.mark.parametrize("language", ["en", "de", "fr", "ru"])
def test_every_page_in_every_language_width_and_colour(
    page: Page, monkeypatch: pytest.MonkeyPatch, language: str
) -> None:
    open_shop_for_states(monkeypatch)
    wrong: list[str] = []
    for name, address in all_pages().items():
        for width in (WIDE, NARROW):
            for theme in THEMES:
                target = address.replace("/en/", f"/{language}/")
                found = _look(page, target, width, theme)
                wrong += [f"{name} at {width}, {theme}: {text}" for text in found]
    assert wrong == [], "\n".join(wrong)


def test_the_checks_find_what_they_look_for(page: Page) -> None:
    """The control: each of them fails on a page that was broken on purpose."""
    scenario.open_shop()
    page.emulate_media(reduced_motion="no-preference")
    page.goto(f"/en/orders/{scenario.order().token}/")
    assert moving(page) == 1, "the mark of the live line"
    page.evaluate("document.querySelectorAll('summary > span').forEach(s => s.replaceWith(...s.childNodes))")
    assert any("It arrives after" in text for text in page.evaluate(TORN))
    page.evaluate("document.querySelector('main').style.width = '2000px'")
    assert len(too_wide(page)) == 3
    page.evaluate("document.querySelector('label[for=id_transaction_hash]').remove()")
    assert any(rule.startswith("label") for rule in broken_rules(page))
    set_width(page, NARROW)
    page.goto("/ru/catalog/b200-180/")
    assert spilt(page) == []
    page.evaluate("document.querySelector('table.calendar td time').style.whiteSpace = 'nowrap'")
    page.evaluate("document.querySelector('table.calendar td time').textContent = '30 сентября'")
    assert len(spilt(page)) == 1


def test_a_quote_and_an_order_print_as_what_they_say(page: Page) -> None:
    """On paper: the figures and the address, without the frame of the site and without what can only be pressed."""
    scenario.open_shop()
    order = scenario.order()
    quote = f"/en/quotes/{scenario.quote().public_id}/"
    page.set_viewport_size({"width": 720, "height": 1000})
    page.emulate_media(media="print")
    for address, shown in ((quote, ".held .sum"), (f"/en/orders/{order.token}/", "#addr")):
        page.goto(address)
        assert page.locator("h1").is_visible()
        assert page.locator(shown).first.is_visible()
        assert overflow(page) <= 0
        for hidden in (".strip", ".head nav", ".foot", ".copy", "form.card"):
            assert not any(found.is_visible() for found in page.locator(hidden).all()), hidden
