"""What only a drawn page shows: fields that step aside, the viewer of the API document."""

import pytest
from playwright.sync_api import Page

from tests import scenario

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture(autouse=True)
def _shop() -> None:
    scenario.open_shop()


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
