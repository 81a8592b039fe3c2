"""The calls that exist: their shape, their refusals, and the manners of HTTP around them."""

from decimal import Decimal
from typing import Any

import pytest
from django.conf import settings
from django.db import OperationalError
from django.test import Client
from pytest_django import Settings

from catalog.models import Accelerator, Lot
from catalog.services.seed import seed_catalog
from core.version import VERSION
from partners.api import examples
from tests.partners.answers import problem

pytestmark = pytest.mark.django_db
CALLS = [
    "/api/v1",
    "/api/v1/accelerators",
    "/api/v1/accelerators/b200-180",
    "/api/v1/lots",
    "/api/v1/openapi.json",
]
HOSTILE_NUMBERS = [
    "0",
    "-1",
    "2147483648",
    "9223372036854775808",
    "1" + "0" * 30,
    "1.5",
    "1e3",
    "NaN",
    "١",
    "abc",
]


@pytest.fixture
def catalogue(db: None) -> None:
    seed_catalog()


needs_catalogue = pytest.mark.usefixtures("catalogue")


def data(client: Client, path: str) -> list[dict[str, Any]]:
    response = client.get(path)
    assert response.status_code == 200, response.content
    rows: list[dict[str, Any]] = response.json()["data"]
    return rows


def test_the_root_says_what_it_is_and_that_nothing_is_real(client: Client) -> None:
    body = client.get("/api/v1/").json()
    assert body["version"] == VERSION
    assert body["currency"] == settings.CURRENCY
    assert body["simulated"] is True
    assert "simulated" in body["notice"]


def test_a_real_installation_makes_no_such_notice(client: Client, settings: Settings) -> None:
    settings.PROVIDER = "real"
    body = client.get("/api/v1/").json()
    assert (body["simulated"], body["notice"]) == (False, None)


@needs_catalogue
def test_every_accelerator_is_listed_with_source_and_grade(client: Client) -> None:
    rows = data(client, "/api/v1/accelerators?limit=100")
    assert {row["id"] for row in rows} == set(Accelerator.objects.values_list("slug", flat=True))
    assert all(row["grade"] in {"V", "C", "S"} and row["source"] for row in rows)


@needs_catalogue
def test_unknown_is_null_and_none_is_zero(client: Client) -> None:
    Accelerator.objects.filter(slug="b200-180").update(fp4_dense_tflops=0, usable_gib=None)
    row = client.get("/api/v1/accelerators/b200-180").json()
    assert row["fp4_dense_tflops"] == 0
    assert row["usable_gib"] is None


@needs_catalogue
def test_lots_carry_prices_as_text(client: Client) -> None:
    rows = data(client, "/api/v1/lots?accelerator=b200-180&limit=100")
    assert rows
    lot = next(row for row in rows if row["id"] == "b200-180x2")
    assert {"days": 7, "amount": "2028.00", "currency": "USD"} in lot["prices"]
    assert all(isinstance(price["amount"], str) and Decimal(price["amount"]) > 0 for price in lot["prices"])


@needs_catalogue
def test_only_what_is_on_sale_is_listed(client: Client) -> None:
    Lot.objects.filter(code="b200-180x2").update(on_sale=False)
    assert "b200-180x2" not in {row["id"] for row in data(client, "/api/v1/lots?limit=100")}


@needs_catalogue
def test_the_memory_filter_holds(client: Client) -> None:
    rows = data(client, "/api/v1/lots?min_memory_gb=180&limit=100")
    assert rows
    assert all(row["memory_gb"] >= 180 for row in rows)


@needs_catalogue
def test_a_lot_of_an_unknown_accelerator_is_no_lot(client: Client) -> None:
    assert data(client, "/api/v1/lots?accelerator=no-such-card") == []


@needs_catalogue
@pytest.mark.parametrize(
    ("example", "path"), [(examples.ACCELERATOR, "accelerators"), (examples.LOT, "lots")]
)
def test_the_documented_example_has_the_shape_of_an_answer(
    client: Client, example: dict[str, Any], path: str
) -> None:
    row = data(client, f"/api/v1/{path}?limit=1")[0]
    assert set(row) == set(example)


@needs_catalogue
def test_a_page_needs_few_queries(client: Client, django_assert_max_num_queries: Any) -> None:
    with django_assert_max_num_queries(4):
        client.get("/api/v1/lots?limit=100")
    with django_assert_max_num_queries(2):
        client.get("/api/v1/accelerators?limit=100")


@pytest.mark.parametrize("value", HOSTILE_NUMBERS)
@pytest.mark.parametrize(
    ("path", "name"), [("accelerators", "limit"), ("lots", "limit"), ("lots", "min_memory_gb")]
)
def test_s28_a_number_out_of_range_names_its_field(client: Client, path: str, name: str, value: str) -> None:
    problem(client.get(f"/api/v1/{path}", {name: value}), 400, "invalid_number", name)


def test_an_empty_parameter_is_refused(client: Client) -> None:
    problem(client.get("/api/v1/lots?limit="), 400, "required", "limit")


@pytest.mark.parametrize("path", CALLS)
def test_an_unknown_parameter_is_refused(client: Client, path: str) -> None:
    problem(client.get(f"{path}?colour=red"), 400, "unknown_parameter", "colour")


def test_a_repeated_parameter_is_refused(client: Client) -> None:
    problem(client.get("/api/v1/lots?limit=1&limit=2"), 400, "repeated_parameter", "limit")


@pytest.mark.parametrize("value", ["B200", "a b", "'; drop table", "é", "x" * 500, "-"])
def test_a_filter_that_cannot_be_a_code_names_its_field(client: Client, value: str) -> None:
    problem(client.get("/api/v1/lots", {"accelerator": value}), 400, "invalid_text", "accelerator")


@pytest.mark.parametrize(
    "slug", ["no-such-card", "9223372036854775808", "-1", "B200-180", "x" * 3000, "é", "%00"]
)
def test_an_impossible_slug_is_not_found(client: Client, slug: str) -> None:
    response = client.get(f"/api/v1/accelerators/{slug}")
    assert response.status_code in ({404, 400} if slug == "%00" else {404})
    problem(response, response.status_code, response.json()["code"])


@pytest.mark.parametrize(
    "target",
    [
        "/api/v1/lots?accelerator=%00",
        "/api/v1/lots?cursor=a%00b",
        "/api/v1/lots?%00=1",
        "/api/v1/lots?limit=1%00",
        "/api/v1/lots%00",
        "/api/v1/%00",
        "/api/v1/accelerators/b200%00",
    ],
)
def test_s26_nul_is_refused_everywhere_and_never_breaks_anything(client: Client, target: str) -> None:
    response = client.get(target)
    assert response.status_code in {400, 404}
    problem(response, response.status_code, response.json()["code"])


def test_nul_in_headers_breaks_nothing(client: Client) -> None:
    headers = {"accept-language": "\x00", "x-request-id": "a\x00b", "user-agent": "\x00"}
    response = client.get("/api/v1/lots", headers=headers)
    assert response.status_code == 200
    assert "\x00" not in response["X-Request-ID"]


@needs_catalogue
@pytest.mark.parametrize("path", CALLS)
def test_the_trailing_slash_makes_no_difference(client: Client, path: str) -> None:
    without, with_slash = client.get(path), client.get(f"{path}/")
    assert without.status_code == with_slash.status_code == 200
    assert without.json() == with_slash.json()


@needs_catalogue
@pytest.mark.parametrize("path", CALLS)
@pytest.mark.parametrize("slash", ["", "/"])
def test_head_is_get_without_a_body(client: Client, path: str, slash: str) -> None:
    head, get = client.head(path + slash), client.get(path + slash)
    assert head.status_code == 200
    assert head.content == b""
    assert head["Content-Type"] == get["Content-Type"]


@pytest.mark.parametrize("path", CALLS)
@pytest.mark.parametrize("slash", ["", "/"])
def test_options_names_the_methods_and_nothing_else(client: Client, path: str, slash: str) -> None:
    response = client.options(path + slash)
    assert response.status_code == 204
    assert response.content == b""
    assert set(response["Allow"].split(", ")) == {"GET", "HEAD", "OPTIONS"}


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
@pytest.mark.parametrize("path", CALLS)
@pytest.mark.parametrize("slash", ["", "/"])
def test_another_method_is_refused_and_never_redirected(
    client: Client, path: str, slash: str, method: str
) -> None:
    response = getattr(client, method)(path + slash, data="{}", content_type="application/json")
    problem(response, 405, "method_not_allowed")
    assert "GET" in response["Allow"]


@pytest.mark.parametrize("method", ["get", "post", "put", "delete", "options", "patch"])
@pytest.mark.parametrize(
    "path", ["/api/v1/nothing", "/api/v1/lots/b200-180x2/", "/api/v1//", "/api/v1/lots/é"]
)
def test_every_other_address_is_a_problem_and_not_a_page(client: Client, path: str, method: str) -> None:
    problem(getattr(client, method)(path), 404, "not_found")


def test_only_json_can_be_had(client: Client) -> None:
    problem(client.get("/api/v1/lots", headers={"accept": "text/csv"}), 406, "not_acceptable")
    for accepted in ("application/json", "*/*", "text/html,application/xhtml+xml,*/*;q=0.8"):
        assert client.get("/api/v1/lots", headers={"accept": accepted}).status_code == 200


@pytest.mark.parametrize("accept", [";;;", "", "a/b/c", "*", "\x00", "application/json; q=éé"])
def test_a_malformed_accept_header_breaks_nothing(client: Client, accept: str) -> None:
    assert client.get("/api/v1/lots", headers={"accept": accept}).status_code in {200, 406}


def test_a_wrong_host_is_a_problem_too(client: Client) -> None:
    problem(client.get("/api/v1/lots", headers={"host": "evil.example"}), 400, "invalid")


def test_a_huge_body_is_refused_before_it_is_read(client: Client) -> None:
    response = client.post("/api/v1/lots", data="x" * 300_000, content_type="application/json")
    problem(response, 413, "too_large")


def test_without_tls_nothing_is_redirected_because_a_post_would_come_back_as_a_get(
    settings: Settings,
) -> None:
    settings.SECURE_SSL_REDIRECT = True
    for method in ("GET", "POST"):
        answer = Client().generic(method, "/api/v1/orders", "{}", content_type="application/json")
        problem(answer, 400, "url_not_https")
        assert "Location" not in answer
    assert Client().get("/api/v1/", secure=True).status_code == 200


def test_a_body_without_a_length_is_refused_and_not_taken_for_an_empty_one(client: Client) -> None:
    answer = client.generic("POST", "/api/v1/plans", HTTP_TRANSFER_ENCODING="chunked")
    problem(answer, 400, "required", "Content-Length")


def test_without_a_database_the_answer_says_to_try_again(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone() -> None:
        raise OperationalError

    monkeypatch.setattr("partners.api.views.catalogue", gone)
    problem(client.get("/api/v1/accelerators"), 503, "unavailable")


def test_language_follows_the_header_and_the_code_does_not(client: Client) -> None:
    response = client.get("/api/v1/nothing", headers={"accept-language": "de"})
    problem(response, 404, "not_found")
    assert "Accept-Language" in response["Vary"]
