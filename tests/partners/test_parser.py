"""Bodies: what the parser takes and what it refuses, through a call that echoes."""

import json
import time
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.urls import path
from rest_framework.request import Request
from rest_framework.response import Response

from anchorgpu import urls as real_urls
from partners.api.base import ApiView
from partners.api.parsers import MAX_BYTES, _depth
from tests.partners.answers import problem


class EchoView(ApiView):
    seen: Any = None

    def post(self, request: Request) -> Response:
        EchoView.seen = request.data
        return Response({"keys": sorted(request.data)})


class BrokenView(ApiView):
    def get(self, request: Request) -> Response:
        raise RuntimeError("the secret is 12345")


urlpatterns = [
    path("api/v1/echo", EchoView.as_view()),
    path("api/v1/broken", BrokenView.as_view()),
    *real_urls.urlpatterns,
]
handler404 = real_urls.handler404
pytestmark = [pytest.mark.django_db, pytest.mark.urls(__name__)]


def post(client: Client, body: str | bytes, content_type: str = "application/json") -> Any:
    return client.post("/api/v1/echo", data=body, content_type=content_type)


def test_an_object_is_taken_and_numbers_stay_exact(client: Client) -> None:
    response = post(client, '{"a": 0.1, "b": {"c": [1, "é"]}, "d": null, "e": 1e-6}')
    assert response.status_code == 200
    assert EchoView.seen == {"a": Decimal("0.1"), "b": {"c": [1, "é"]}, "d": None, "e": Decimal("0.000001")}


@pytest.mark.parametrize(
    "body", ["{", "[1", "{'a': 1}", "{a: 1}", '{"a": 1}x', '{"a": 01}', '"[[[', b"\xff\xfe{}"]
)
def test_what_is_no_json_is_refused(client: Client, body: str | bytes) -> None:
    problem(post(client, body), 400, "invalid_json")


def test_no_body_is_an_empty_object(client: Client) -> None:
    assert post(client, "").json() == {"keys": []}


@pytest.mark.parametrize("body", ["[]", "1", '"x"', "null", "true"])
def test_the_body_must_be_an_object(client: Client, body: str) -> None:
    problem(post(client, body), 400, "not_an_object")


@pytest.mark.parametrize(
    "value",
    [
        "NaN",
        "Infinity",
        "-Infinity",
        "1e999",
        "-1e-999",
        f"1e{10**20}",
        f"0e{10**20}",
        "1" * 79,
        "0." + "1" * 90,
    ],
)
def test_numbers_that_nothing_here_means_are_refused(client: Client, value: str) -> None:
    problem(post(client, f'{{"a": {value}}}'), 400, "invalid_number")


def test_depth_is_bounded(client: Client) -> None:
    def nested(depth: int) -> str:
        return '{"a": ' + "[" * (depth - 1) + "]" * (depth - 1) + "}"

    assert post(client, nested(20)).status_code == 200
    problem(post(client, nested(21)), 400, "too_deep")
    problem(post(client, nested(30_000)), 400, "too_deep")
    assert post(client, json.dumps({"a": "[" * 100 + '"' + "{" * 100})).status_code == 200


def test_size_is_bounded(client: Client) -> None:
    def sized(length: int) -> str:
        return '{"a": "' + "x" * (length - 9) + '"}'

    assert post(client, sized(64 * 1024)).status_code == 200
    problem(post(client, sized(64 * 1024 + 1)), 413, "too_large")


def test_a_name_that_stands_twice_is_refused(client: Client) -> None:
    problem(post(client, '{"a": 1, "a": 2}'), 400, "duplicate_name")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"name": "a\x00b"}, "name"),
        ({"contact": {"name": "\x00"}}, "contact.name"),
        ({"options": [{"code": "x"}, {"code": "\x00"}]}, "options.1.code"),
        ({"metadata": {"k\x00": 1}}, "metadata"),
        ({"metadata": {"deep": ["ok", "\x00"]}}, "metadata.deep.1"),
    ],
)
def test_s26_nul_names_its_field(client: Client, body: dict[str, Any], field: str) -> None:
    problem(post(client, json.dumps(body)), 400, "invalid_text", field)


def test_a_lone_surrogate_names_its_field(client: Client) -> None:
    problem(post(client, '{"name": "\\ud800"}'), 400, "invalid_text", "name")
    assert post(client, '{"name": "\\ud83d\\ude00"}').status_code == 200


@pytest.mark.parametrize(
    "content_type",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/xml",
        "a;b",
        "",
    ],
)
def test_only_json_is_taken(client: Client, content_type: str) -> None:
    problem(post(client, "{}", content_type), 415, "unsupported_media_type")


def test_a_charset_may_be_named(client: Client) -> None:
    assert post(client, '{"a": 1}', "application/json; charset=utf-8").status_code == 200


def test_an_error_of_ours_tells_nothing_but_its_id(client: Client) -> None:
    response = client.get("/api/v1/broken")
    problem(response, 500, "internal_error")
    assert b"12345" not in response.content
    assert b"RuntimeError" not in response.content


def test_the_depth_is_counted_in_one_pass() -> None:
    """An unclosed string of escapes once took half a minute at the bound of the body."""
    hostile = '{"a":"' + '\\"' * (MAX_BYTES // 2 - 8)
    started = time.process_time()
    assert _depth(hostile) == 1
    assert time.process_time() - started < 1
    assert _depth('{"a":"[[[\\"[[","b":[[1]]}') == 3
