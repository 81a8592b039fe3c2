"""GET availability: free lots by day, and what is asked wrongly."""

from datetime import timedelta

import pytest
from django.test import Client

from core import clock
from partners.api.availability import AVAILABILITY
from tests import scenario

PATH = "/api/v1/availability"


@pytest.fixture(autouse=True)
def _shop(db: None) -> None:
    scenario.open_shop()


def test_free_lots_by_day_with_the_time_of_the_look(client: Client) -> None:
    answer = client.get(f"{PATH}?lot=b200-180x2&days=3")
    assert answer.status_code == 200
    body = answer.json()
    assert body.keys() == AVAILABILITY.keys()
    assert body["free"][0].keys() == AVAILABILITY["free"][0].keys()
    assert body["earliest_start"] == body["as_of"]
    assert body["as_of"].endswith("Z")
    assert len(body["free"]) == 28
    assert {day["free_lots"] for day in body["free"]} == {4}
    assert client.get(f"{PATH}/?lot=b200-180x2&days=3").status_code == 200


def test_a_held_lot_is_gone_and_more_lots_wait(client: Client) -> None:
    scenario.order()
    body = client.get(f"{PATH}?lot=b200-180x2&days=3&lots=4").json()
    assert body["free"][0]["free_lots"] == 3
    assert body["earliest_start"] > body["as_of"]
    assert client.get(f"{PATH}?lot=b200-180x2&days=3&lots=5").json()["earliest_start"] is None


def test_days_may_be_chosen_within_the_horizon(client: Client) -> None:
    last = (clock.now() + timedelta(days=90)).date().isoformat()
    body = client.get(f"{PATH}?lot=b200-180x2&days=30&from={last}&to={last}").json()
    assert body["free"] == [{"day": last, "free_lots": 4, "start_at": f"{last}T00:00:00Z", "offered": False}]


@pytest.mark.parametrize(
    ("query", "status", "field", "code"),
    [
        ("", 400, "lot", "required"),
        ("?lot=b200-180x2", 400, "days", "required"),
        ("?lot=&days=3", 400, "lot", "required"),
        ("?lot=b200-180x2&days=4", 400, "days", "unknown_term"),
        ("?lot=b200-180x2&days=3&lots=0", 400, "lots", "invalid_number"),
        ("?lot=b200-180x2&days=3&lots=-1", 400, "lots", "invalid_number"),
        ("?lot=b200-180x2&days=3&lots=1000000000000", 400, "lots", "invalid_number"),
        ("?lot=b200-180x2&days=3&from=yesterday", 400, "from", "invalid_date"),
        ("?lot=b200-180x2&days=3&to=2026-13-01", 400, "to", "invalid_date"),
        ("?lot=b200-180x2&days=3&to=20261231", 400, "to", "invalid_date"),
        ("?lot=b200-180x2&days=3&to=2026-1-5", 400, "to", "invalid_date"),
        ("?lot=b200-180x2&days=3&from=2001-01-01", 400, "from", "invalid_period"),
        ("?lot=b200-180x2&days=3&from=9999-12-31", 400, "from", "invalid_period"),
        ("?lot=b200-180x2&days=3&to=2999-01-01", 400, "from", "invalid_period"),
        ("?lot=b200-180x2&days=3&colour=red", 400, "colour", "unknown_parameter"),
        ("?lot=nothing&days=3", 422, "lot", "not_on_sale"),
        ("?lot=%00&days=3", 400, "lot", "invalid_text"),
    ],
)
def test_what_is_asked_wrongly(client: Client, query: str, status: int, field: str, code: str) -> None:
    answer = client.get(PATH + query)
    assert answer.status_code == status
    assert answer["Content-Type"] == "application/problem+json"
    assert [(row["field"], row["code"]) for row in answer.json()["errors"]] == [(field, code)]
