"""The HTML part says what the text says, links only pages of this shop, and loads nothing."""

import re

import pytest
from pytest_django import Settings

from core.mail_html import SIGNATURE, Block, Line, blocks_of, html_of

TEXT = f"""First sentence.
Second one.

You choose:
- Wait.
- Take it & go.

Your order page:
http://testserver/de/orders/abc/

{SIGNATURE}
A note.
"""


def _html(text: str) -> str:
    return html_of(subject="Order <1>", text=text, language="de")


def test_paragraphs_and_lists_are_found() -> None:
    def lines(*texts: str) -> tuple[Line, ...]:
        return tuple(Line(text, is_link=False) for text in texts)

    assert blocks_of("One.\nTwo.\n\n\n- a\n- b\nThree.\n") == [
        Block(False, lines("One.", "Two.")),
        Block(True, lines("a", "b")),
        Block(False, lines("Three.")),
    ]
    assert blocks_of("\n \n") == []


def test_each_sentence_is_there_once_and_in_order() -> None:
    html = _html(TEXT)
    assert html.count("<li>") == 2
    words = re.sub(r"<style>.*?</style>|<title>.*?</title>|<[^>]+>", " ", html, flags=re.DOTALL)
    assert " ".join(words.split()) == (
        "AnchorGPU Order &lt;1&gt; First sentence. Second one. You choose: Wait. Take it &amp; go. "
        "Your order page: http://testserver/de/orders/abc/ A note."
    )
    assert html.index("A note.") > html.index('class="notes"')
    assert '<html lang="de">' in html


@pytest.mark.parametrize(
    ("line", "is_link"),
    [
        ("http://testserver/en/", True),
        ("http://testserver.evil.example/", False),
        ("http://evil.example/?http://testserver/", False),
        ("see http://testserver/en/", False),
        ("javascript:alert(1)", False),
        ("http://testserver/ and more", False),
        ('http://testserver/"><script>', True),
    ],
)
def test_only_a_line_that_is_an_address_of_this_shop_is_a_link(
    settings: Settings, line: str, is_link: bool
) -> None:
    html = _html(line)
    assert html.count("<a ") == is_link
    assert "<script" not in html


def test_nothing_is_loaded_and_nothing_needs_its_styles() -> None:
    html = _html(TEXT)
    assert not re.search(r"<(img|link|script|table|iframe)\b|url\(|@import|\sstyle=", html)
    assert "prefers-color-scheme: dark" in html
    assert 'name="color-scheme" content="light dark"' in html
