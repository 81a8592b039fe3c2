"""What a reader meets on pages that are looked at late, in another language, or read as plain text."""

import html as entities
import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from core import clock
from core.formats import instant_text
from orders.models import Order
from orders.services.cancel import cancel
from tests import scenario
from tests.shop.states import active, ended, expire_clock

pytestmark = pytest.mark.django_db


def _words(answer_text: str) -> str:
    """The text of a page as a program reads it: tags are nothing, a block or a line starts a new line."""
    text = re.sub(r"<(script|style)\b.*?</\1>", "", answer_text, flags=re.DOTALL)
    text = re.sub(r"</(p|li|dt|dd|div|h\d|td|th|label|summary|option|legend|figcaption|section)>", "\n", text)
    return entities.unescape(re.sub(r"<[^>]*>", "", text))


STATES: dict[str, Callable[[Order], object]] = {
    "waiting": lambda order: None,
    "checking": expire_clock,
    "cancelled": lambda order: cancel(order_id=order.public_id, actor="buyer"),
    "paid": scenario.pay,
    "active": lambda order: (scenario.pay(order), active(order)),
    "ended": lambda order: (scenario.pay(order), ended(order)),
}


@pytest.mark.parametrize("state", list(STATES))
def test_no_sentence_has_a_double_space(buyer: Client, state: str) -> None:
    order = scenario.order()
    STATES[state](order)
    for target in (
        "/en/",
        "/en/catalog/",
        "/en/catalog/b200-180/",
        "/en/guides/paying-in-crypto/",
        f"/en/quotes/{order.quote.public_id}/",
        f"/en/orders/{order.token}/",
        f"/en/orders/{order.token}/live/",
        f"/en/orders/{order.token}/problem/",
    ):
        words = _words(buyer.get(target).content.decode())
        found = re.findall(r"[^\n]{0,40}\S[ \u00a0]{2,}\S[^\n]{0,40}", words)
        assert not found, (target, found)


def test_an_order_that_is_read_days_later_says_which_day(
    buyer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = scenario.order()
    expire_clock(order)
    until = order.hold_expires_at
    today = f"by {instant_text(until, style='sentence')}"
    assert today in _words(buyer.get(f"/en/orders/{order.token}/").content.decode())
    later = timezone.now() + timedelta(days=9)
    monkeypatch.setattr(clock, "now", lambda: later)
    words = _words(buyer.get(f"/en/orders/{order.token}/").content.decode())
    assert f"by {until:%-d %b}" in words
    for line in re.findall(r"[^\n]*\d\d:\d\d(?::\d\d)? UTC", words):
        assert re.search(r"\d+ [A-Z][a-z]{2}( \d{4})?(,| at) \d\d:\d\d", line), line


@pytest.mark.parametrize("language", ["de", "fr", "ru"])
def test_a_page_without_translation_says_so(
    buyer: Client, settings: Settings, tmp_path: Path, language: str
) -> None:
    settings.LOCALE_PATHS = [tmp_path]
    note = "This page is not translated yet; it is shown in English."
    html = buyer.get(f"/{language}/catalog/").content.decode()
    assert html.count(note) == 1
    assert '<main id="main" lang="en">' in html
    assert note not in buyer.get("/en/catalog/").content.decode()
    folder = tmp_path / language / "LC_MESSAGES"
    folder.mkdir(parents=True)
    (folder / "django.po").write_text("")
    html = buyer.get(f"/{language}/catalog/").content.decode()
    assert 'id="untranslated"' not in html
    assert '<main id="main">' in html


def test_figures_of_an_untranslated_page_keep_the_form_of_its_language(
    buyer: Client, settings: Settings, tmp_path: Path
) -> None:
    settings.LOCALE_PATHS = [tmp_path]
    assert "7.700\u00a0GB/s" in buyer.get("/de/catalog/b200-180/").content.decode()


def test_the_accelerator_page_names_its_cores_and_starts_its_sentences_large(buyer: Client) -> None:
    words = _words(buyer.get("/en/catalog/b200-180/").content.decode())
    assert "CUDA cores" in words
    assert "Tensor cores" in words
    assert "Cores:" not in words
    assert "Bandwidth is 7.7" in words
    assert "Compute units" in _words(buyer.get("/en/catalog/mi355x-288/").content.decode())


def test_who_has_paid_for_good_is_not_asked_whether_he_has(buyer: Client) -> None:
    unpaid, paid = scenario.order(), scenario.order()
    cancel(order_id=unpaid.public_id, actor="buyer")
    scenario.pay(paid)
    cancel(order_id=paid.public_id, actor="buyer")
    assert "I have paid" in buyer.get(f"/en/orders/{unpaid.token}/").content.decode()
    html = buyer.get(f"/en/orders/{paid.token}/").content.decode()
    assert "Order cancelled" in html
    assert "I have paid" not in html


def test_once_the_money_is_final_no_block_is_waited_for(buyer: Client) -> None:
    order = scenario.order()
    assert "Last block checked" in buyer.get(f"/en/orders/{order.token}/").content.decode()
    scenario.pay(order)
    assert "Last block checked" not in buyer.get(f"/en/orders/{order.token}/").content.decode()
