"""The list of orders: every order once, a cursor for nobody else, and as many queries for many rows as for few."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core import signing
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from orders.models import Order
from partners import events as log
from partners.models import ApiKey, Partner
from tests import scenario
from tests.partners.answers import problem
from tests.partners.ordering import PAY_WITH, QUOTE_BODY, Api, created, order_body
from tests.partners.rows import make_orders
from tests.terms import take_logins_for_good, work

pytestmark = pytest.mark.django_db
MAX_QUERIES = 8


@pytest.fixture
def api(key_text: str) -> Api:
    return Api(key_text)


def test_s31_every_order_is_seen_once_while_others_come_and_change(api: Api, partner: Partner) -> None:
    scenario.open_shop(offered=False)
    old = {order.public_id for order in make_orders(partner, 250)}
    seen: list[str] = []
    cursor: str | None = ""
    page = 0
    while cursor is not None:
        body = api.get("orders", {"limit": "30"} | ({"cursor": cursor} if cursor else {})).json()
        assert len(body["data"]) <= 30
        seen += [row["id"] for row in body["data"]]
        cursor, page = body["next_cursor"], page + 1
        make_orders(partner, 3)
        changed = Order.objects.filter(public_id__in=old).order_by("?").values_list("pk", flat=True)[:2]
        Order.objects.filter(pk__in=list(changed)).update(status="cancelled")
    assert page == 9
    assert len(seen) == len(set(seen))
    assert set(seen) == old
    newest = api.get("orders", {"limit": "1"}).json()["data"][0]["id"]
    assert newest == Order.objects.order_by("-pk")[0].public_id


@pytest.mark.parametrize("path", ["orders", "events"])
def test_s30_broken_cursors_and_sizes_are_refused_by_every_list(
    api: Api, partner: Partner, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario.open_shop(offered=False)
    monkeypatch.setattr(log, "SETTLING", timedelta(0))
    own = make_orders(partner, 3)
    good = ""
    if path == "orders":
        good = api.get("orders", {"limit": "1"}).json()["next_cursor"]
        assert api.get("orders", {"cursor": good}).status_code == 200  # else the rest proves nothing
    binding = signing.loads(good, salt="partners.cursor")[0] if good else "x"
    broken = ["", "null", "abc", "e30=", good + "A", good[:-1], "é", ":" * 30]
    # Signed by us, and still no place in this list.
    broken += [
        signing.dumps([binding, place], salt="partners.cursor")
        for place in ("2026-12-01", "-1", "٣", "", None)
    ]
    for cursor in broken:
        problem(api.get(path, {"cursor": cursor}), 400, "invalid_cursor", "cursor")
    for limit in ("0", "-1", "abc", "101", "1000000000", "1000000000000", "1.0"):
        problem(api.get(path, {"limit": limit}), 400, "invalid_number", "limit")
    problem(api.get(path, {"page": "2"}), 400, "unknown_parameter", "page")
    if good:
        for list_of_another_kind in ("events", f"orders/{own[0].public_id}/events"):
            problem(api.get(list_of_another_kind, {"cursor": good}), 400, "invalid_cursor", "cursor")
    # A number above every key is only a place behind the end.
    if good:
        end = signing.dumps([binding, "9" * 18], salt="partners.cursor")
        assert len(api.get(path, {"cursor": end}).json()["data"]) == 3


class TestQueries:
    """Counted without the row of the demo's clock, which is asked for by nothing else."""

    @pytest.fixture(autouse=True)
    def _shop(self, db: None, monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
        take_logins_for_good(monkeypatch)
        monkeypatch.setattr(log, "SETTLING", timedelta(0))
        scenario.open_shop(b200_nodes=3)

    def count(self, call: Callable[[], Any], status: int = 200) -> int:
        ApiKey.objects.update(last_used_at=None)  # the call of a minute that notes the use of the key
        with CaptureQueriesContext(connection) as queries:
            answer = call()
        assert answer.status_code == status, answer.content
        left_out = ("SAVEPOINT", "RELEASE")
        return len(
            [
                row
                for row in queries
                if "core_clockoffset" not in row["sql"] and not row["sql"].startswith(left_out)
            ]
        )

    def test_no_get_has_more_than_eight_and_none_grows_with_rows(self, api: Api) -> None:
        first = api.order()
        scenario.pay(Order.objects.get(public_id=first["id"]))
        work()
        place = f"orders/{first['id']}"
        paths = [
            "orders",
            place,
            f"{place}/access",
            f"{place}/events",
            "events",
            f"quotes/{first['quote']}",
            "",
        ]
        few = {path: self.count(lambda path=path: api.get(path)) for path in paths}  # type: ignore[misc]
        assert max(few.values()) <= MAX_QUERIES, few
        created(api.post(f"{place}/extensions", {"days": 3, "pay_with": PAY_WITH}))
        for _number in range(4):
            api.order(api.quote(lots=2)["id"])
        many = {path: self.count(lambda path=path: api.get(path)) for path in paths}  # type: ignore[misc]
        assert many == few

    def test_the_queries_of_each_post_are_few_and_do_not_grow(self, api: Api) -> None:
        """With an idempotency key: one statement to claim it, one to keep the answer."""
        few = self.of_posts(api, lots=1)
        scenario.add_node("b200-n90", "b200-180", 8)
        for _number in range(3):
            api.order()
        assert self.of_posts(api, lots=2) == few
        assert few == POSTS

    def of_posts(self, api: Api, *, lots: int) -> dict[str, int]:
        found = {"quotes": self.count(lambda: api.post("quotes", QUOTE_BODY | {"lots": lots}), 201)}
        body = order_body(api.quote(lots=lots)["id"])
        found["orders"] = self.count(lambda: api.post("orders", body), 201)
        order_id = Order.objects.order_by("-pk")[0].public_id
        place = f"orders/{order_id}"
        found["payment-claims"] = self.count(lambda: api.post(f"{place}/payment-claims"), 202)
        other = api.order(api.quote(lots=lots)["id"])["id"]
        found["cancel"] = self.count(lambda: api.post(f"orders/{other}/cancel"))
        scenario.pay(Order.objects.get(public_id=order_id))
        work()
        more = {"days": 3, "pay_with": PAY_WITH}
        found["extensions"] = self.count(lambda: api.post(f"{place}/extensions", more), 201)
        found["early-end"] = self.count(lambda: api.post(f"{place}/early-end"))
        return found


POSTS = {
    "quotes": 6,
    "orders": 19,
    "payment-claims": 12,
    "cancel": 17,
    "extensions": 43,
    "early-end": 17,
}
