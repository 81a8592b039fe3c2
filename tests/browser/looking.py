"""What is looked for on every page: rules of access, no scrolling sideways, no torn sentence, no movement."""

from typing import Any, cast

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.browser.conftest import OnThread

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# 320 is what a window of 1280 has left at 400 % zoom (WCAG 1.4.10).
WIDE, NARROW, ZOOMED = 1280, 390, 320

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

# Words of a calendar that run into the next day: the page does not get wider by them.
_SPILT = """() => [...document.querySelectorAll("table.calendar td")].filter(cell => {
    const words = document.createRange();
    words.selectNodeContents(cell);
    return [...words.getClientRects()].some(part => part.right > cell.getBoundingClientRect().right + 1);
}).map(cell => cell.textContent.trim())"""
_OVERFLOW = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
_UNFOLD = "() => document.querySelectorAll('details').forEach((fold) => { fold.open = true })"
_MOVING = "() => document.getAnimations().filter((one) => one.playState === 'running').length"


def set_width(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})


def unfold(page: Page) -> None:
    page.evaluate(_UNFOLD)


def overflow(page: Page) -> int:
    """How far a page can be scrolled sideways, in pixels."""
    return int(page.evaluate(_OVERFLOW))


def spilt(page: Page) -> list[str]:
    """Days of a calendar whose words do not fit."""
    return [f"does not fit: {text}" for text in page.evaluate(_SPILT)]


def too_wide(page: Page) -> list[str]:
    """At each of the widths, widest first."""
    found = []
    for width in (WIDE, NARROW, ZOOMED):
        set_width(page, width)
        if (pixels := overflow(page)) > 0:
            found.append(f"{pixels} px too wide at {width}")
    return found


def moving(page: Page) -> int:
    """How many things move; nothing does for who has asked for less motion."""
    return int(page.evaluate(_MOVING))


def broken_rules(page: Page) -> list[str]:
    """Rules of access that the page breaks, with the first place of each."""
    options: dict[str, Any] = {
        "runOnly": {"type": "tag", "values": RULES},
        "resultTypes": ["violations"],
        # It would fetch the style sheets once more, for rules about turned screens alone.
        "preload": False,
    }
    stand_in = cast(OnThread, page)
    results = stand_in.in_thread(lambda real: Axe().run(real, options=options))
    return [f"{found['id']} {found['nodes'][0]['target']}" for found in results.response["violations"]]
