"""Pictures of every page and state into var/screenshots. Not collected by itself: tests.browser.screenshots runs it."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, cast

import pytest
from playwright.sync_api import Page

from tests.browser.pages import all_pages
from tests.browser.screenshots import LANGUAGES, THEMES, WANTED, WIDTHS
from tests.order_states import open_shop_for_states

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

ROOT = Path(__file__).resolve().parents[2]
FOLDER, IMAGES = ROOT / "var" / "screenshots", ROOT / "docs" / "images"
README = {"catalogue": "catalogue.png", "order-awaiting": "payment.png", "order-active": "order.png"}


def test_pictures(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = json.loads(os.environ.get(WANTED, "{}"))
    open_shop_for_states(monkeypatch)
    if wanted.get("readme"):
        _for_readme(page)
        return
    pages = all_pages(*wanted.get("only", ()))
    for language, width, theme in _turns(wanted):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=cast(Literal["light", "dark"], theme), reduced_motion="reduce")
        for name, address in pages.items():
            page.goto(address.replace("/en/", f"/{language}/"))
            target = FOLDER / language / f"{name}-{width}-{theme}.png"
            page.screenshot(path=str(target), full_page=True)


def _for_readme(page: Page) -> None:
    """What fits on a screen, no more."""
    page.set_viewport_size({"width": 1180, "height": 780})
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    for name, address in all_pages(*README).items():
        page.goto(address)
        page.screenshot(path=str(IMAGES / README[name]))


def _turns(wanted: dict[str, Any]) -> Iterator[tuple[str, int, str]]:
    for language in wanted.get("lang") or LANGUAGES:
        for width in wanted.get("width") or WIDTHS:
            for theme in wanted.get("theme") or THEMES:
                yield language, width, theme
