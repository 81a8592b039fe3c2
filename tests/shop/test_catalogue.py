"""The list of accelerators: filters, order, comparison and plots, all in the address."""

import re
from html import unescape

import pytest
from django.test import Client

from tests import scenario

pytestmark = pytest.mark.django_db

LIST = "/en/catalog/"


@pytest.fixture(autouse=True)
def _shop(db: None) -> None:
    scenario.open_shop()


def html_of(client: Client, query: str, status: int = 200) -> str:
    answer = client.get(f"{LIST}?{query}")
    assert answer.status_code == status, query
    return answer.content.decode()


def rows(html: str) -> list[str]:
    return re.findall(r'data-accelerator="([^"]+)"', html)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", 17),
        ("min_memory_gb=192", 4),
        ("vendor=AMD", 3),
        ("stack=ROCm&min_memory_gb=200", 2),
        ("cards=8", 6),
        ("days=3&max_price=70", 4),
        ("free=on", 2),
        ("free=on&vendor=AMD", 0),
        ("sort=price&days=30&min_memory_gb=1000000", 0),
    ],
)
def test_filters_stand_in_the_address(client: Client, query: str, found: int) -> None:
    html = html_of(client, query)
    assert len(rows(html)) == found
    assert ("No accelerator passes these filters" in html) == (found == 0)


def test_each_order_puts_its_first_first(client: Client) -> None:
    first = {sort: rows(html_of(client, f"sort={sort}"))[0] for sort in ("price", "per_gb")}
    assert first == {"price": "rtx-a5000-24", "per_gb": "mi325x-256"}
    assert rows(html_of(client, "sort=price"))[-1] == "mi355x-288"
    assert rows(html_of(client, "sort=bandwidth"))[-1] == "rtx-a5000-24"


def test_a_size_of_lot_shows_the_price_of_that_lot(client: Client) -> None:
    html = html_of(client, "cards=8&days=7")
    assert 'data-lot="h100-sxm-80x8" data-days="7" data-amount="4362.22"' in html
    assert "b200-180" not in rows(html)


def test_the_term_goes_into_prices_and_links(client: Client) -> None:
    html = html_of(client, "days=30")
    assert 'data-lot="b200-180x2" data-days="30" data-amount="7476.48"' in html
    assert 'href="/en/catalog/b200-180/?days=30&amp;lot=b200-180x2"' in html


@pytest.mark.parametrize(
    "query", ["days=4", "days=x", "cards=3", "vendor=Foo", "sort=name", "max_price=0", "stack=x"]
)
def test_what_is_no_choice_is_refused_beside_its_field(client: Client, query: str) -> None:
    html = html_of(client, query, 400)
    assert "error-summary" in html
    assert rows(html) == []


def test_up_to_four_stand_beside_each_other(client: Client) -> None:
    chosen = ("h200-sxm-141", "b200-180", "mi300x-192", "mi355x-288")
    query = "&".join(f"compare={slug}" for slug in chosen)
    html = html_of(client, f"{query}&days=7&vendor=NVIDIA")
    table = html[html.index('id="compare"') :]
    assert [name in table for name in ("HBM3e", "3.61", "2,028.00", "not on sale")] == [True] * 4
    assert "mi300x-192" not in rows(html)
    assert 'name="vendor" value="NVIDIA"' in html
    out = [unescape(link) for link in re.findall(r'href="\?([^"]+)#compare"', html)]
    assert len(out) == 4
    assert rows(html_of(client, out[0])) == rows(html)
    assert "compare=h200-sxm-141" not in out[0]


def test_more_than_four_are_refused_in_words_and_nothing_is_lost(client: Client) -> None:
    query = "&".join(
        f"compare={slug}" for slug in ("b200-180", "b300-288", "gb200-186", "l40s-48", "mi300x-192")
    )
    html = html_of(client, query, 400)
    assert "At most 4 accelerators fit into a comparison." in html
    assert len(rows(html)) == 17
    assert html.count(" checked><span") == 5
    assert html_of(client, "compare=b200-180&compare=b200-180").count('#compare">Take out<') == 1
    assert "does not exist" in html_of(client, "compare=foo", 400)


def test_both_plots_have_their_points_and_a_table_behind(client: Client) -> None:
    html = html_of(client, "compare=b200-180")
    assert html.count('<svg class="mt halo"') == 2
    memory = html[html.index('id="memory-h"') : html.index('id="bandwidth-h"')]
    assert (
        memory.count('class="pt"') + memory.count('class="pt rocm"') == 15 + 2
    )  # the legend has one of each
    assert 'class="pt fillpt" cx=' in memory
    assert 'class="bearing"' in memory
    assert "16 accelerators. The cheapest is AMD Instinct MI325X at 1.05 ct per GB and hour" in memory
    assert "The figures of the plots as a table" in html
    assert '<svg class="mt halo"' not in html_of(client, "min_memory_gb=1000")


def test_labels_of_a_plot_lie_beside_each_other(client: Client) -> None:
    """A label that has no room is left out rather than drawn over another."""
    html = html_of(client, "")
    names = re.findall(
        r'<text class="[^"]*" x="[\d.]+%" dx="-?10" y="[\d.]+" dy="-?\d+">([^<]+)</text>', html
    )
    assert "B200" in names
    assert len(names) >= 20
