"""The page of the fleet: what it draws and says, who sees which part, and that it costs the same for any fleet."""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from catalog.models import Accelerator
from desk.fleet_chart import Chart, chart
from desk.fleet_figures import Period, money_tables, periods, use_tables
from fleet.models import Card, Lease, Node
from fleet.occupancy import NodeRow, Stay, What
from fleet.services.maintenance import take_out_of_service
from tests import scenario
from tests.core.desk import address, staff
from tests.factories.fleet import make_hold, make_lease, make_lot, make_node
from tests.terms import active_order, take_logins_for_good

pytestmark = pytest.mark.django_db
URL = "/admin/desk/fleet/"
NOW = datetime(2026, 12, 1, 15, 44, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture(autouse=True)
def still() -> Iterator[None]:
    with time_machine.travel(NOW, tick=False):
        yield


@pytest.fixture
def ines() -> Client:
    return staff("ines", superuser=True)


def text(response: Any) -> str:
    """What a person reads."""
    return " ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split())


def table_rows(response: Any) -> list[str]:
    body = response.content.decode().partition('id="table"')[2]
    found = re.findall(r"<tr role=\"row\">(.*?)</tr>", body, re.DOTALL)[1:]
    return [" ".join(re.sub(r"<[^>]+>", " ", row).split()) for row in found]


def test_the_table_says_what_the_picture_draws(ines: Client) -> None:
    lot = make_lot(cards=2, nodes=(4,))
    lease = make_lease(lot, starts_at=NOW + DAY)
    hold = make_hold(lot)
    answer = ines.get(URL)
    assert answer.status_code == 200
    name = Node.objects.get().name
    rows = table_rows(answer)
    assert len(rows) == 3
    assert rows[0].startswith(
        f"{name} {lot.accelerator.name} held {hold.ref} cards 2, 3 of 4 1 Dec, 15:44 UTC"
    )
    assert f"sold, not started {lease.order_ref} lease {lease.username} cards 0, 1 of 4" in rows[1]
    assert "wipe" in rows[2]
    body = answer.content.decode()
    # Each as a bar whose link says the same words, and leads where the table's link leads.
    assert re.search(rf'<a href="{address(hold)}" tabindex="-1"><g><title>{hold.ref}\. held: 1 Dec', body)
    assert body.count(f'<a href="{address(lease)}"') == 4
    assert "now, 1 Dec, 15:44 UTC" in text(answer)


def test_no_style_and_no_script_of_its_own(ines: Client) -> None:
    make_lease(make_lot())
    answer = ines.get(URL)
    body = answer.content.decode()
    assert " style=" not in body
    assert "<style" not in body
    assert not re.search(r"<script(?![^>]*\ssrc=)", body)
    assert "unsafe-inline" not in answer["Content-Security-Policy"]
    assert "no-store" in answer["Cache-Control"]


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("from=yesterday", "Write the day as year, month and day"),
        ("from=2026-02-30", "Write the day as year, month and day"),
        ("from=9999-12-31", "Choose a day within two years of today."),
        ("from=0001-01-01", "Choose a day within two years of today."),
        ("weeks=5", "Choose one of the numbers of weeks on offer."),
        ("weeks=-1", "Choose one of the numbers of weeks on offer."),
        ("weeks=x", "Choose one of the numbers of weeks on offer."),
        ("accelerator=none", "There is no such accelerator in the fleet."),
        ("node=" + "n" * 61, "at most 60 characters"),
    ],
)
def test_a_value_that_cannot_be_shown_is_named(ines: Client, query: str, words: str) -> None:
    make_lot()
    answer = ines.get(f"{URL}?{query}")
    assert answer.status_code == 400
    assert words in text(answer)
    # The usual time is shown meanwhile.
    assert "Occupancy, 28 Nov 2026 to 18 Dec 2026, UTC" in text(answer)


@pytest.mark.parametrize("page", ["0", "-1", "99", "x", "9" * 40])
def test_a_page_that_is_not_there_is_the_nearest(ines: Client, page: str) -> None:
    make_lot()
    assert ines.get(URL, {"page": page}).status_code == 200


def test_the_time_and_the_nodes_can_be_chosen(ines: Client) -> None:
    first, other = make_lot(nodes=(2,)), make_lot(nodes=(2,))
    names = [node.name for node in Node.objects.order_by("pk")]
    answer = ines.get(URL, {"from": "2026-12-24", "weeks": "1", "accelerator": other.accelerator.slug})
    assert "Occupancy, 24 Dec 2026 to 30 Dec 2026, UTC" in text(answer)
    assert "now, " not in text(answer)
    (row,) = table_rows(answer)
    assert row == f"{names[1]} {other.accelerator.name} Free in all of this time"
    # The ways on keep what was chosen.
    assert f"?from=2026-12-31&amp;weeks=1&amp;accelerator={other.accelerator.slug}" in answer.content.decode()
    (row,) = table_rows(ines.get(URL, {"node": names[0].upper()}))
    assert row.startswith(f"{names[0]} {first.accelerator.name}")
    assert "No node passes these filters" in text(ines.get(URL, {"node": "nowhere"}))


def test_a_fleet_without_nodes_says_so(ines: Client) -> None:
    assert "There are no nodes yet" in text(ines.get(URL))


def test_who_sees_what() -> None:
    lot = make_lot(cards=1, nodes=(2,))
    lease, hold = make_lease(lot), make_hold(lot)
    assert staff("nobody").get(URL).status_code == 403
    assert Client().get(URL).status_code == 302
    nodes_only = staff("nodes", "fleet.view_node").get(URL)
    assert nodes_only.status_code == 200
    assert "Utilisation" in text(nodes_only)
    assert "Revenue" not in text(nodes_only)
    assert address(lease) not in nodes_only.content.decode()
    assert hold.ref in text(nodes_only)
    more = staff("more", "fleet.view_node", "fleet.view_lease", "billing.view_ledgerentry").get(URL)
    assert "Revenue" in text(more)
    assert address(lease) in more.content.decode()
    assert address(hold) not in more.content.decode()


def queries(client: Client, **asked: str) -> int:
    with CaptureQueriesContext(connection) as seen:
        assert client.get(URL, asked).status_code == 200
    return len(seen)


def test_it_asks_as_often_for_one_node_as_for_many(ines: Client) -> None:
    lot = make_lot(cards=1, nodes=(2,))
    make_lease(lot)
    ines.get(URL)
    one = queries(ines)
    for _ in range(12):
        make_node(accelerator=lot.accelerator, cards=2)
        make_lease(lot)
        make_hold(lot)
    take_out_of_service(node_id=Node.objects.all()[0].pk, actor="ines", reason="fans")
    assert queries(ines) == one


def test_forty_nodes_stand_on_a_page(ines: Client) -> None:
    accelerator = make_lot(nodes=(1,)).accelerator
    for _ in range(44):
        make_node(accelerator=accelerator, cards=1)
    first = ines.get(URL)
    assert len(table_rows(first)) == 40
    assert "Page 1 of 2, 45 nodes in all" in text(first)
    assert len(table_rows(ines.get(URL, {"page": "2"}))) == 5


def drawn(*stays: Stay, cards: int = 8) -> Chart:
    node = Node(name="n", accelerator=Accelerator(name="B200"))
    row = NodeRow(node=node, indexes=tuple(range(cards)), stays=stays)
    return chart([row], window=(NOW - DAY, NOW + 9 * DAY), now=NOW, links={})


def stay(what: What, begins: int, ends: int | None, lanes: tuple[int, ...] = (0, 1), ref: str = "") -> Stay:
    return Stay(what, NOW + begins * DAY, None if ends is None else NOW + ends * DAY, lanes, ref=ref)


def test_a_bar_is_as_high_as_its_share_of_the_cards_and_as_wide_as_its_time() -> None:
    picture = drawn(stay(What.ACTIVE, 0, 5, lanes=(2, 3, 6)))
    (wide, narrow) = picture.rows[0].bars
    # The names take 22 % at the left; a tenth and a half of the rest are 7.8 and 39.
    assert (wide.x, wide.width, narrow.x) == ("29.800%", "39.000%", "29.800%")
    lane = (narrow.y - wide.y) / 4
    assert (wide.height + 1, narrow.height + 1) == (2 * lane, lane)
    assert picture.now_x == "29.800%"


def test_bars_are_cut_at_the_edge_and_what_lies_outside_is_left_out() -> None:
    picture = drawn(stay(What.ACTIVE, -9, 99), stay(What.WIPE, 9, 10), stay(What.WIPE, -3, -1))
    assert [(bar.x, bar.width) for bar in picture.rows[0].bars] == [("22.000%", "78.000%")]


def test_a_label_is_there_only_where_it_fits() -> None:
    ref = "ord_" + "7G2MKQ4T8H3NPXRA5BCDEFJVWYZ"
    lanes = tuple(range(8))
    labels = [drawn(stay(What.ACTIVE, 0, days, lanes, ref)).rows[0].bars[0].label for days in (1, 3, 9)]
    assert labels == ["", "ord_7G2MKQ…", ref]
    leased = replace(stay(What.ACTIVE, 0, 1, lanes, ref), username="l1043")
    assert drawn(leased).rows[0].bars[0].label == "l1043"
    (low,) = drawn(stay(What.ACTIVE, 0, 9, (0,), ref)).rows[0].bars
    assert low.label == ""
    assert ref in low.words


def test_long_names_are_cut_where_their_column_ends() -> None:
    (row,) = drawn(cards=2).rows
    assert (row.name, row.about) == ("n", "B200 × 2")
    node = Node(name="a" * 60, accelerator=Accelerator(name="NVIDIA RTX PRO 6000 Blackwell"))
    picture = chart([NodeRow(node, (0, 1), ())], window=(NOW, NOW + DAY), now=NOW, links={})
    assert (picture.rows[0].name, picture.rows[0].about) == ("a" * 22 + "…", "RTX PRO 6000 Black… × 2")


def test_what_is_off_sale_lies_behind_what_is_booked_and_a_fault_so_far_before_it() -> None:
    booked = stay(What.ACTIVE, -1, 3)
    picture = drawn(booked, stay(What.UNHEALTHY, -1, None), stay(What.OUT_OF_SERVICE, -1, None))
    assert [(bar.css, bar.x, bar.width) for bar in picture.rows[0].bars] == [
        ("b-bad", "29.800%", "70.200%"),
        ("b-off", "22.000%", "78.000%"),
        ("b-active", "22.000%", "31.200%"),
        ("b-bad", "22.000%", "7.800%"),
    ]


def test_both_periods_meet_at_midnight() -> None:
    last, following = periods(NOW.date())
    assert (last.begins, last.ends) == (datetime(2026, 11, 1, tzinfo=UTC), datetime(2026, 12, 1, tzinfo=UTC))
    assert (following.begins, following.ends) == (last.ends, datetime(2026, 12, 31, tzinfo=UTC))


def test_the_figures_by_accelerator_and_term(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight B200 for 30 days: 5,760 card-hours, of which an order of two for three days takes 144: 2.5 %."""
    take_logins_for_good(monkeypatch)
    scenario.open_shop()
    active_order()
    following: Period = periods(NOW.date())[1]
    (uses,), (money,) = use_tables([following]), money_tables([following])
    assert uses.terms == money.terms == (3, 7, 30)
    b200 = next(row for row in uses.rows if row.name == "NVIDIA B200")
    assert (b200.cards, b200.sellable_hours) == (8, Decimal(5760))
    assert (b200.whole.hours, b200.whole.share) == (Decimal(144), Decimal("0.025"))
    assert dict(b200.shares)[7].share == 0
    # With eight H100 that nobody took: half of it.
    assert (uses.total.cards, uses.total.whole.share) == (16, Decimal("0.013"))
    (row,) = money.rows
    assert (row.name, dict(row.amounts), row.net) == (
        "NVIDIA B200",
        {3: Decimal("934.56"), 7: Decimal(0), 30: Decimal(0)},
        Decimal("934.56"),
    )
    assert money.total.net == Decimal("934.56")


def test_the_page_says_a_fault_in_words(ines: Client) -> None:
    lease = make_lease(make_lot(cards=1, nodes=(1,)))
    Card.objects.update(healthy=False, note="fell off the bus")
    Lease.objects.filter(pk=lease.pk).update(
        status="degraded", ready_at=NOW - DAY, ends_at=NOW + 2 * DAY, degraded_at=NOW
    )
    rows = "\n".join(table_rows(ines.get(URL)))
    assert re.search(r"unhealthy – its 1 card 28 Nov, 00:00 UTC not known fell off the bus", rows)
    assert re.search(r"active order-\d+ lease l\d+ its 1 card .* degraded", rows)
