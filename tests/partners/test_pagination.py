"""Pages by cursor: everything once, and a cursor works only where it was given."""

import base64

import pytest
from django.core import signing
from django.test import Client

from catalog.models import Accelerator
from catalog.services.seed import seed_catalog
from tests.partners.answers import problem

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _catalogue(db: None) -> None:
    seed_catalog()


def first_cursor(client: Client, path: str = "/api/v1/lots?limit=2") -> str:
    cursor = client.get(path).json()["next_cursor"]
    assert isinstance(cursor, str)
    return cursor


@pytest.mark.parametrize("limit", [1, 3, 100])
def test_all_pages_together_are_the_list_once(client: Client, limit: int) -> None:
    seen: list[str] = []
    cursor: str | None = None
    while True:
        query = {"limit": str(limit)} | ({"cursor": cursor} if cursor else {})
        body = client.get("/api/v1/accelerators", query).json()
        assert len(body["data"]) <= limit
        seen += [row["id"] for row in body["data"]]
        cursor = body["next_cursor"]
        if cursor is None:
            break
    expected = Accelerator.objects.order_by("memory_gb", "name", "slug").values_list("slug", flat=True)
    assert seen == list(expected)


def test_the_page_size_may_change_on_the_way(client: Client) -> None:
    cursor = first_cursor(client)
    assert client.get("/api/v1/lots", {"cursor": cursor, "limit": "5"}).status_code == 200
    assert client.get("/api/v1/lots/", {"cursor": cursor, "limit": "5"}).status_code == 200


def test_broken_cursors_are_refused(client: Client) -> None:
    good = first_cursor(client)
    broken = [
        "null",
        "abc",
        good + "A",
        good[:-1],
        good.upper(),
        base64.urlsafe_b64encode(b'["x","y"]').decode(),
        signing.dumps(["x", "b200-180x2"], salt="another"),
        signing.dumps("b200-180x2", salt="partners.cursor"),
        signing.dumps([1, 2, 3], salt="partners.cursor"),
        signing.dumps({"a": 1}, salt="partners.cursor"),
        "é" * 30,
        ":" * 30,
        "." + good,
    ]
    for cursor in broken:
        problem(client.get("/api/v1/lots", {"cursor": cursor}), 400, "invalid_cursor", "cursor")
    problem(client.get("/api/v1/lots", {"cursor": ""}), 400, "invalid_cursor", "cursor")
    problem(client.get("/api/v1/lots", {"cursor": "x" * 5000}), 400, "too_long", "cursor")


def test_a_cursor_of_another_list_filter_or_partner_is_refused(client: Client, key_text: str) -> None:
    cursor = first_cursor(client)
    assert client.get("/api/v1/lots", {"cursor": cursor}).status_code == 200  # else the rest proves nothing
    problem(client.get("/api/v1/accelerators", {"cursor": cursor}), 400, "invalid_cursor", "cursor")
    other_filter = {"cursor": cursor, "min_memory_gb": "80"}
    problem(client.get("/api/v1/lots", other_filter), 400, "invalid_cursor", "cursor")
    as_partner = client.get(
        "/api/v1/lots", {"cursor": cursor}, headers={"authorization": f"Bearer {key_text}"}
    )
    problem(as_partner, 400, "invalid_cursor", "cursor")


def test_a_cursor_whose_place_is_gone_is_refused(client: Client) -> None:
    cursor = first_cursor(client, "/api/v1/accelerators?limit=1")
    first = client.get("/api/v1/accelerators?limit=1").json()["data"][0]["id"]
    Accelerator.objects.filter(slug=first).update(slug="renamed")
    problem(client.get("/api/v1/accelerators", {"cursor": cursor}), 400, "invalid_cursor", "cursor")
