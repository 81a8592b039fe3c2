"""S01 from outside: ten buyers, by browser and as partners, order the one free lot in the same moment."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db.backends.postgresql.psycopg_any import DateTimeTZRange
from django.test import Client

from catalog.models import Lot
from core import clock
from core.errors import Refusal
from fleet.limits import HoldLimits
from fleet.models import Hold, Reservation
from fleet.selectors import free_lots
from orders.models import Order
from tests import races, scenario
from tests.shop.conftest import configure, order_form

pytestmark = pytest.mark.django_db(transaction=True)

BUYERS = 10
BROWSERS = 6
ACCELERATOR, LOT = "h100-sxm-80", "h100-sxm-80x8"
# Until orders have a call of their own in the API, a partner's order is the checkout with a partner's limits.
PARTNER = HoldLimits(orders_per_owner=20, cards_per_owner=64, orders_per_prefix=None)


@pytest.fixture(autouse=True)
def one_free_lot(transactional_db: None) -> Iterator[None]:
    scenario.open_shop(b200_nodes=0)
    with races.own_connections():
        yield


def by_browser(number: int, days: int) -> tuple[Client, str, dict[str, Any]]:
    buyer = Client(REMOTE_ADDR=f"10.1.{number}.1")
    quoted = buyer.post(f"/en/catalog/{ACCELERATOR}/", configure(lot=LOT, days=str(days)))
    return buyer, f"{quoted['Location']}order/", order_form()


def as_partner(number: int, days: int) -> dict[str, Any]:
    return {
        "row": scenario.quote(lot=LOT, days=days, limits=PARTNER),
        "owner": f"partner:{number}",
        "prefix": "",
        "limits": PARTNER,
    }


def order_at_once(terms: list[int]) -> list[tuple[int, str]]:
    """What each of the ten heard: a status, and the words or the code that came with it."""
    days = [terms[number % len(terms)] for number in range(BUYERS)]
    browsers = [by_browser(number, days[number]) for number in range(BROWSERS)]
    partners = [as_partner(number, days[number]) for number in range(BROWSERS, BUYERS)]

    def act(number: int) -> tuple[int, str]:
        if number < BROWSERS:
            buyer, target, values = browsers[number]
            answer = buyer.post(target, values)
            return answer.status_code, answer.content.decode()
        try:
            scenario.order(**partners[number - BROWSERS])
        except Refusal as refusal:
            return refusal.status, refusal.text
        return 303, ""

    results = races.at_once(BUYERS, act)
    assert [result for result in results if isinstance(result, BaseException)] == []
    return results


def free_now() -> int:
    period = DateTimeTZRange(clock.now(), clock.now() + timedelta(days=3))
    return free_lots(lot=Lot.objects.get(code=LOT), period=period).lots


@pytest.mark.parametrize("terms", [[3], [3, 7, 30]], ids=["one term", "terms mixed"])
def test_s01_one_of_ten_gets_the_last_lot_and_nine_are_told(terms: list[int]) -> None:
    assert free_now() == 1
    answers = order_at_once(terms)
    assert sorted(status for status, _ in answers) == [303] + [409] * 9
    for status, text in answers:
        if status == 409:
            assert "no longer available" in text or "Many orders are being placed" in text
    assert Order.objects.count() == Hold.objects.count() == 1
    assert Reservation.objects.filter(status="held").count() == 8
    assert free_now() == 0


def test_s01_control_without_lock_and_constraint_it_is_sold_ten_times(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with races.cards_unprotected(monkeypatch, threads=BUYERS):
        answers = order_at_once([3, 7, 30])
        assert [status for status, _ in answers].count(303) > 1
        assert Reservation.objects.filter(status="held").count() > 8
