"""A buyer at a real browser who finds things by their names, in the language of the page, with the mouse or without."""

from typing import Any

from django.utils import translation
from django.utils.translation import gettext
from playwright.sync_api import Locator, Page

# More than there are things to step through on any page.
_STEPS = 200
_HERE = "(one) => one === document.activeElement"
# The focus is on the control itself, or drawn around the label or card that stands for it.
_OUTLINED = """() => {
    const drawn = (one) => one && getComputedStyle(one).outlineStyle !== 'none'
        && parseFloat(getComputedStyle(one).outlineWidth) >= 2;
    const one = document.activeElement;
    return drawn(one) || drawn(one.closest('label')) || drawn(one.closest('.choice, .seg, .check'));
}"""


class Buyer:
    """`language` decides the names; `by_keyboard`: everything is reached with Tab and pressed with Enter or Space."""

    def __init__(self, page: Page, *, language: str, by_keyboard: bool = False) -> None:
        self.page = page
        self.language = language
        self.by_keyboard = by_keyboard

    def words(self, english: str, **values: object) -> str:
        """A sentence of the shop as this page says it."""
        with translation.override(self.language):
            return gettext(english) % values if values else gettext(english)

    def goto(self, path: str) -> None:
        self.page.goto(f"/{self.language}/{path}")

    def heading(self) -> str:
        return self.page.locator("h1").inner_text()

    def press(self, role: Any, name: str, *, within: str = "body") -> None:
        """A link or a button, by its name."""
        found = self.page.locator(within).get_by_role(role, name=name, exact=True).first
        if not self.by_keyboard:
            found.click()
            return
        self._reach(found)
        with_loading: Any = self.page
        # A key returns before the page that it opens: wait for that one.
        with_loading.in_thread(_press_and_load)

    def choose(self, selector: str) -> None:
        """A radio button or a check box."""
        found = self.page.locator(selector)
        if not self.by_keyboard:
            found.check()
        elif not found.is_checked():
            self._reach(found, arrows=True)
            if not found.is_checked():
                self.page.keyboard.press("Space")
        assert found.is_checked()

    def type(self, label: str, text: str) -> None:
        found = self.page.get_by_label(label, exact=True)
        if not self.by_keyboard:
            found.fill(text)
            return
        self._reach(found)
        self.page.keyboard.insert_text(text)

    def _reach(self, found: Locator, *, arrows: bool = False) -> None:
        """Step to it with Tab; within a group of radio buttons with the arrow keys."""
        for _step in range(_STEPS):
            if found.evaluate(_HERE):
                assert self.page.evaluate(_OUTLINED), "the focus cannot be seen"
                return
            self.page.keyboard.press("ArrowDown" if arrows and self._beside(found) else "Tab")
        raise AssertionError(f"{found} cannot be reached with the keyboard")

    def _beside(self, found: Locator) -> bool:
        """Whether the focus is on another button of the same group."""
        return bool(
            found.evaluate(
                "(one) => one.type === 'radio' && document.activeElement.type === 'radio'"
                " && document.activeElement.name === one.name && document.activeElement !== one"
            )
        )


def _press_and_load(page: Page) -> None:
    with page.expect_navigation():
        page.keyboard.press("Enter")
