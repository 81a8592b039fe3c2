"""Pages that are kept in memory: cheap for the second reader, and never anybody else's."""

import re
import time

import pytest
from django.conf import settings as django_settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from catalog.models import Accelerator, Lot
from fleet.models import Card
from shop import kept
from tests import scenario

pytestmark = pytest.mark.django_db

LIST, PAGE = "/en/catalog/", "/en/catalog/b200-180/"
PUBLIC = [
    "/en/",
    LIST,
    f"{LIST}?days=7&compare=b200-180",
    PAGE,
    f"{PAGE}?days=30",
    "/en/plan/",
    "/en/guides/",
]
GUIDE = "/en/guides/paying-in-crypto/"
TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="(\w+)"')


def asked(client: Client, target: str) -> int:
    with CaptureQueriesContext(connection) as queries:
        assert client.get(target).status_code == 200
    return len(queries)


def text(client: Client, target: str) -> str:
    return client.get(target).content.decode()


def test_public_pages_ask_six_times_cold_and_twice_warm(buyer: Client) -> None:
    for target in [*PUBLIC, GUIDE]:
        cold, warm = asked(buyer, target), asked(buyer, target)
        assert (cold <= 6, warm <= 2) == (True, True), (target, cold, warm)


def test_no_part_of_a_kept_page_is_another_readers(buyer: Client) -> None:
    """Each of the two has a language, a look, an owner cookie and a token of his own; what he sees is his own."""
    first, second = Client(enforce_csrf_checks=True), Client(enforce_csrf_checks=True)
    first.cookies["theme"], second.cookies["theme"] = "dark", "light"
    first.post("/theme/", {})
    first.cookies["anchorgpu_owner"] = "first-owner"
    for target in (LIST, PAGE, "/en/"):
        seen = [text(client, target) for client in (first, second, first, second)]
        assert ['data-theme="dark"' in html for html in seen] == [True, False, True, False], target
        assert ['data-theme="light"' in html for html in seen] == [False, True, False, True]
        tokens = [set(TOKEN.findall(html)) for html in seen]
        assert all(len(found) == 1 for found in tokens)
        assert len(set.union(*tokens)) == 4
        assert not any("first-owner" in html or "\x00" in html for html in seen)
        for code, _name in django_settings.LANGUAGES:
            assert f'<html lang="{code}"' in text(second, target.replace("/en/", f"/{code}/"))


def test_the_token_of_a_kept_page_is_the_readers(buyer: Client) -> None:
    reader, other = Client(enforce_csrf_checks=True), Client(enforce_csrf_checks=True)
    text(other, PAGE)
    token = TOKEN.findall(text(reader, PAGE))[0]
    wrong = TOKEN.findall(text(other, PAGE))[0]
    assert reader.post("/theme/", {"theme": "dark", "csrfmiddlewaretoken": token}).status_code == 303
    assert reader.post("/theme/", {"theme": "dark", "csrfmiddlewaretoken": wrong}).status_code == 403


def test_what_one_buyer_changes_is_on_no_other_page(buyer: Client) -> None:
    """An address with more in it than filters is drawn for the one who asks."""
    mine = text(buyer, f"{PAGE}?replaces=ord_{'A' * 26}")
    assert "You are changing an order" in mine
    assert "You are changing an order" not in text(Client(), PAGE)


def test_a_booking_shows_at_once(buyer: Client) -> None:
    assert 'data-free="4"' in text(buyer, PAGE)
    assert "4 of 4 free" in text(buyer, LIST)
    scenario.order()
    assert 'data-free="3"' in text(buyer, PAGE)
    assert "3 of 4 free" in text(buyer, LIST)


def test_a_change_in_the_catalogue_shows_at_once(buyer: Client) -> None:
    assert "2,039" in text(buyer, LIST)
    Accelerator.objects.filter(slug="a100-sxm-80").update(bandwidth_gb_s=2040)
    assert "2,040" in text(buyer, LIST)
    Lot.objects.filter(code="b200-180x2").update(on_sale=False)
    assert "Not on sale" in text(buyer, PAGE)
    assert "934.56" not in text(buyer, "/en/")


def test_what_leaves_no_row_shows_after_some_seconds(buyer: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    assert 'data-free="4"' in text(buyer, PAGE)
    Card.objects.filter(node__name="b200-n00").update(in_service=False)
    assert 'data-free="4"' in text(buyer, PAGE)
    later = timezone.now().timestamp() + 11
    monkeypatch.setattr(time, "time", lambda: later)
    assert 'data-free="0"' in text(buyer, PAGE)


def test_every_count_says_when_it_was_read(buyer: Client) -> None:
    read_at = re.compile(r'<time datetime="\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ">[^<]+ UTC</time>')
    for target in (LIST, PAGE):
        assert read_at.search(text(buyer, target)), target


def test_the_number_of_kept_pages_is_bounded() -> None:
    store: kept._Store[int] = kept._Store(size=3)
    for number in range(5):
        store.put(number, "stamp", 60, number)
    assert store.get(4, "stamp") == 4
    assert list(store.entries) == [2, 3, 4]
    assert store.get(4, "another") is None
