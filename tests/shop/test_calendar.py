"""The calendar of free lots on an accelerator's page."""

from datetime import timedelta
from html import unescape
from re import findall

import pytest
from django.test import Client
from django.utils.http import urlencode

from core import clock
from tests import scenario

PAGE = "/en/catalog/b200-180/"


@pytest.fixture(autouse=True)
def _shop(db: None) -> None:
    scenario.open_shop()


def page(client: Client, **query: str | int) -> str:
    response = client.get(f"{PAGE}?{urlencode(list(query.items()))}")
    assert response.status_code == 200
    return response.content.decode()


def test_each_day_says_how_many_lots_are_free(client: Client) -> None:
    text = page(client, days=7)
    assert text.count("<td data-level") == 28
    assert "A lot can start at once" in text
    scenario.order()
    today = clock.now().date().isoformat()
    assert findall(rf'datetime="{today}">[^<]*</time><a [^>]*>(\d) free', page(client)) == ["3"]


def test_a_day_leads_to_the_configurator_with_its_first_free_hour(client: Client) -> None:
    day = (clock.now() + timedelta(days=3)).date()
    start = findall(rf'datetime="{day.isoformat()}">[^<]*</time><a href="(\?[^"#]+)', page(client, days=3))
    text = client.get(PAGE + unescape(start[0])).content.decode()
    assert f'value="{day.isoformat()}"' in text
    assert '<option value="0" selected>00:00 UTC' in text


def test_when_everything_is_sold_it_says_when_it_comes_back(client: Client) -> None:
    for number in range(4):
        scenario.order(owner=f"web:{number}", prefix=f"10.{number}.0.0/24")
    text = page(client, days=3)
    assert "The earliest start is" in text
    assert '<td data-level="none">' in text


def test_later_weeks_end_at_the_horizon(client: Client) -> None:
    far = (clock.now() + timedelta(days=85)).date().isoformat()
    text = page(client, **{"from": far})
    assert "Earlier weeks" in text
    assert "Later weeks" not in text
    assert 'data-level="ahead"' in text


@pytest.mark.parametrize("first", ["", "x", "2001-01-01", "9999-12-31", "2026-02-30"])
def test_a_strange_first_day_shows_the_nearest_weeks(client: Client, first: str) -> None:
    assert "<td data-level" in page(client, **{"from": first})
