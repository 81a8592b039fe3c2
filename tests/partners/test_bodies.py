"""Everything wrong, everywhere: each field of each body, each id in a path, each header, each limit of the parser."""

import copy
import gzip
import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from pytest_django import Settings
from rest_framework import serializers

from orders.models import Order, Quote
from partners.api import orders_examples as examples
from partners.api.body import Body, Metadata, all_fields
from partners.api.orders_request import ClaimBody, ExtensionBody, OrderBody, QuoteBody
from partners.api.urls import urlpatterns
from partners.models import IdempotentRequest
from tests import scenario
from tests.partners.answers import problem
from tests.partners.ordering import Api, created, order_body

pytestmark = pytest.mark.django_db
NOBODYS = "ord_" + "2" * 27
BODIES: dict[str, tuple[Body, dict[str, Any]]] = {
    "quotes": (QuoteBody(), examples.QUOTE_BODY),
    "orders": (OrderBody(), examples.ORDER_BODY),
    f"orders/{NOBODYS}/extensions": (ExtensionBody(), examples.EXTENSION_BODY),
    f"orders/{NOBODYS}/payment-claims": (ClaimBody(), examples.CLAIM_BODY),
}
NUMBERS = [True, "3", 1.5, 0, -1, 2**31, 2**63, 10**30, [], {}, "٣"]
TEXTS = [True, 1, 1.5, [], {}, ["x"], "a\x00b", "\ud800", "x" * 9_000]
LISTS = [True, 1, "x", {}, [None], [[]], [1]]
OBJECTS = [True, 1, "x", [], ["x"]]
TIMES = [
    True, 1, "", "tomorrow", "2026-12-01", "2026-13-01T00:00:00Z", "2026-12-01T24:00:00Z", "2026-12-01T09:00:60Z",
    "2026-W49-2T09:00:00Z", "0001-01-01T00:00:00+14:00", "9999-12-31T23:00:00-12:00", "2026-12-01T09:00:00z\n",
    "2026-12-01T09:00:00+99:99", "1e9", "x" * 9_000,
]  # fmt: skip
METADATA = [
    True, "x", [], {"k": 1}, {"k": None}, {"k": {}}, {"": "x"}, {"k" * 41: "x"}, {"a\nb": "x"}, {"k": "x" * 501},
    {"k": "\x00"}, {"\x00": "x"}, {str(n): "x" for n in range(21)},
]  # fmt: skip


@pytest.fixture
def api(key_text: str, settings: Settings) -> Api:
    settings.API_REQUESTS_PER_MINUTE_KEY = settings.API_REQUESTS_PER_MINUTE_ADDRESS = 10**6
    scenario.open_shop()
    return Api(key_text)


def wrong_values(field: Any) -> list[Any]:
    if isinstance(field, Metadata):
        return METADATA
    if isinstance(field, serializers.ListSerializer | serializers.ListField):
        return LISTS
    if isinstance(field, Body):
        return OBJECTS
    if isinstance(field, serializers.IntegerField):
        return NUMBERS
    if isinstance(field, serializers.DateTimeField):
        return TIMES
    return TEXTS


def changed(body: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    found: Any = copy.deepcopy(body)
    *way, last = path.split(".")
    inner = found
    for step in way:
        inner = inner[int(step) if step.isdigit() else step]
    inner[last] = value
    return dict(found)


def test_s26_s28_every_wrong_value_of_every_field_is_refused_by_its_name(api: Api) -> None:
    """NUL, lone surrogates, other types, numbers that no column holds: 400 with the path; nothing is stored."""
    tried = 0
    for call, (body, right) in BODIES.items():
        for path, field in all_fields(body):
            for value in wrong_values(field):
                sent = json.dumps(changed(right, path, value))
                answer = api.post(call, sent)
                assert answer.status_code == 400, (call, path, value, answer.content)
                told = problem(answer, 400, answer.json()["code"])
                fields = {error["field"] for error in told["errors"]}
                assert fields, (call, path, value)
                assert all(name == path or name.startswith(f"{path}.") for name in fields), (path, fields)
                tried += 1
            if field.required:
                missing = api.post(call, changed(right, path, None))
                problem(missing, 400, "required", path)
        problem(api.post(call, right | {"colour": "red"}), 400, "unknown_field", "colour")
    assert tried > 200
    assert not Quote.objects.exists()
    assert not Order.objects.exists()
    assert not IdempotentRequest.objects.exists()


def test_all_faults_are_named_at_once(api: Api) -> None:
    answer = api.post("quotes", {"days": "3", "bill_to": {"kind": "robot"}, "colour": "red"})
    told = problem(answer, 400, "invalid")
    assert {error["field"]: error["code"] for error in told["errors"]} == {
        "colour": "unknown_field",
        "lot": "required",
        "days": "invalid_number",
        "image": "required",
        "bill_to.country": "required",
        "bill_to.kind": "unknown_choice",
    }
    many = api.post("quotes", {f"name{number}": 1 for number in range(500)})
    assert len(problem(many, 400, "invalid")["errors"]) == 20


# What the schema accepts and the services refuse: (change of the quote, status, code, field).
UNSOLD: list[tuple[dict[str, Any], int, str, str]] = [
    ({"days": 4}, 400, "unknown_term", "days"),
    ({"lot": "no-such-lot"}, 422, "not_on_sale", "lot"),
    ({"lot": "NO lot"}, 400, "invalid_text", "lot"),
    ({"image": "no-such-image"}, 422, "not_on_sale", "image"),
    ({"lots": 1000}, 422, "too_many_cards", "lots"),
    ({"options": [{"code": "no-such", "quantity": 1}]}, 422, "option_unknown", "options.0.code"),
    ({"options": [{"code": "nvme-extra", "quantity": 9999}]}, 400, "option_quantity", "options.0.quantity"),
    # One line up and one line down could otherwise meet at nothing.
    (
        {"options": [{"code": "nvme-extra", "quantity": 1}, {"code": "nvme-extra", "quantity": -1}]},
        400,
        "invalid_number",
        "options.1.quantity",
    ),
    ({"options": [{"code": "nvme-extra", "quantity": 1}] * 2}, 400, "option_twice", "options.1.code"),
    ({"options": [{"code": f"o-{n}", "quantity": 1} for n in range(51)]}, 400, "too_many_options", "options"),
    ({"starts_at": "2020-01-01T09:00:00Z"}, 422, "start_not_offered", "starts_at"),
    ({"starts_at": "2099-01-01T09:00:00Z"}, 422, "start_not_offered", "starts_at"),
    ({"starts_at": "2099-01-01T09:00:00"}, 400, "zone_missing", "starts_at"),
    ({"bill_to": {"country": "Germany"}}, 400, "unknown_country", "bill_to.country"),
    ({"bill_to": {"country": "DE", "vat_id": "DE123456789"}}, 400, "vat_id_for_consumer", "bill_to.vat_id"),
    (
        {"bill_to": {"country": "DE", "kind": "business", "vat_id": "!"}},
        400,
        "invalid_vat_id",
        "bill_to.vat_id",
    ),
]


def test_what_cannot_be_sold_is_refused_by_its_code(api: Api) -> None:
    for change, status, code, field in UNSOLD:
        problem(api.post("quotes", examples.QUOTE_BODY | change), status, code, field)
    assert not Quote.objects.exists()
    quote = api.quote()["id"]
    key = scenario.new_key_line()
    bad_orders: list[tuple[dict[str, Any], int, str, str]] = [
        ({"quote": "qt_" + "2" * 27}, 404, "not_found", "quote"),
        ({"accept_terms": "2020-01-01"}, 400, "terms_not_accepted", "accept_terms"),
        ({"bill_to": {"country": "FR"}}, 422, "bill_to_mismatch", "bill_to"),
        ({"contact": {"name": " ", "email": "ada@example.com"}}, 400, "required", "contact.name"),
        ({"contact": {"name": "Ada", "email": "ada@[127.0.0.1]"}}, 400, "invalid_email", "contact.email"),
        ({"ssh_keys": []}, 422, "key_rejected", "ssh_keys"),
        ({"ssh_keys": [key, "ssh-ed25519 nonsense"]}, 422, "key_rejected", "ssh_keys.1"),
        ({"ssh_keys": [key, f"command=x {key}"]}, 422, "key_rejected", "ssh_keys.1"),
        ({"ssh_keys": [key, key]}, 422, "key_rejected", "ssh_keys"),
        ({"ssh_keys": ["-----BEGIN OPENSSH PRIVATE KEY-----"]}, 422, "key_rejected", "ssh_keys.0"),
        ({"ssh_keys": [key] * 100}, 422, "key_rejected", "ssh_keys"),
        ({"pay_with": {"rail": "crypto", "network": "x", "asset": "USDC"}}, 400, "unknown_rail", "pay_with"),
        (
            {"pay_with": {"rail": "gold", "network": "x", "asset": "y"}},
            400,
            "unknown_choice",
            "pay_with.rail",
        ),
    ]
    for change, status, code, field in bad_orders:
        problem(api.post("orders", order_body(quote, **change)), status, code, field)
    assert not Order.objects.exists()
    order = api.order(quote, metadata={"näme": "x" * 500}, bill_to={"country": "DE"})
    assert order["metadata"] == {"näme": "x" * 500}
    bad_hash = api.post(f"orders/{order['id']}/payment-claims", {"transaction_hash": "0x12"})
    problem(bad_hash, 400, "invalid_hash", "transaction_hash")


def test_the_example_of_an_order_can_be_placed(api: Api) -> None:
    quote = created(api.post("quotes", examples.QUOTE_BODY))
    terms = api.get("").json()["terms_version"]
    body = examples.ORDER_BODY | {"quote": quote["id"], "accept_terms": terms}
    assert created(api.post("orders", body))["metadata"] == {"customer": "4711"}


IDS = [
    "0",
    "-1",
    "2147483648",
    "9223372036854775808",
    "1" + "0" * 30,
    "ord_1",
    "é",
    "ord_" + "x" * 27,
    "%00",
    "x" * 3000,
]


def test_s28_an_impossible_id_is_not_found(api: Api) -> None:
    for bad in IDS:
        paths = [f"quotes/{bad}", *(f"orders/{bad}{suffix}" for suffix in ("", "/access", "/events"))]
        calls = [api.get(path) for path in paths]
        calls += [api.post(f"orders/{bad}/{verb}") for verb in ("cancel", "early-end")]
        calls += [api.post(f"orders/{bad}/extensions", examples.EXTENSION_BODY)]
        for answer in calls:
            assert answer.status_code in ({400, 404} if bad == "%00" else {404}), bad
            problem(answer, answer.status_code, answer.json()["code"])


HOSTILE: dict[str, tuple[Any, int]] = {
    "20,000 arrays": ("[" * 20_000 + "]" * 20_000, 400),
    "20,000 arrays inside": ('{"metadata": {"k": ' + "[" * 20_000 + "]" * 20_000 + "}}", 400),
    "100,000 names": (json.dumps({f"n{number}": 1 for number in range(100_000)}), 413),
    "50 MB": (b"x" * 50_000_000, 413),
    "5,000 digits": ('{"days": ' + "9" * 5_000 + "}", 400),
    "a gigabyte of zeros": (gzip.compress(b"\0" * 1_000_000), 400),
}


def test_s32_very_deep_and_very_large_bodies_are_refused_quickly(api: Api) -> None:
    started = time.process_time()
    for name, (body, status) in HOSTILE.items():
        for path in ("quotes", "orders", f"orders/{NOBODYS}/cancel"):
            answer = api.post(path, body, content_encoding="gzip" if "gigabyte" in name else "identity")
            assert answer.status_code == status, name
            problem(answer, status, answer.json()["code"])
    assert time.process_time() - started < 10
    assert not IdempotentRequest.objects.exists()


def test_s32_a_wrong_length_breaks_nothing(api: Api) -> None:
    body = json.dumps(examples.QUOTE_BODY)
    for length in ("0", "-5", "abc", "5", "1" + "0" * 30, ""):
        answer = api.client.post(
            "/api/v1/quotes",
            body,
            content_type="application/json",
            headers=api.headers,
            CONTENT_LENGTH=length,
        )
        assert answer.status_code in {201, 400, 413}, (length, answer.content)


def addresses() -> Iterator[tuple[str, set[str]]]:
    yield "quotes", {"POST"}
    yield "quotes/qt_x", {"GET"}
    yield "orders", {"GET", "POST"}
    yield f"orders/{NOBODYS}", {"GET"}
    for verb in ("payment-claims", "cancel", "early-end", "extensions"):
        yield f"orders/{NOBODYS}/{verb}", {"POST"}
    yield f"orders/{NOBODYS}/access", {"GET"}
    yield f"orders/{NOBODYS}/events", {"GET"}
    yield "events", {"GET"}


def test_s33_every_call_has_both_spellings() -> None:
    """One handler for both: a redirect would turn a POST, PATCH or DELETE into a GET."""
    calls = {str(row.pattern): row.callback for row in urlpatterns if str(row.pattern).startswith("v1")}
    plain = {route: handler for route, handler in calls.items() if not route.endswith("/")}
    assert len(plain) > 20
    assert calls.keys() - plain.keys() == {f"{route}/" for route in plain}
    for route, handler in plain.items():
        assert calls[f"{route}/"] is handler, route


def test_s33_slashes_methods_and_options(api: Api) -> None:
    nobody = Api(None)
    for path, methods in addresses():
        for place in (path, f"{path}/"):
            for caller in (api, nobody):
                options = caller.client.options(f"/api/v1/{place}", headers=caller.headers)
                assert (options.status_code, options.content) == (204, b"")
                allowed = methods | {"OPTIONS"} | ({"HEAD"} if "GET" in methods else set())
                assert set(options["Allow"].split(", ")) == allowed
            for method in {"PUT", "PATCH", "DELETE", "POST", "GET"} - methods:
                answer = api.client.generic(
                    method, f"/api/v1/{place}", "{}", content_type="application/json", headers=api.headers
                )
                problem(answer, 405, "method_not_allowed")
            if "GET" in methods:
                got, head = (
                    getattr(api.client, verb)(f"/api/v1/{place}", headers=api.headers)
                    for verb in ("get", "head")
                )
                assert (head.status_code, head.content) == (got.status_code, b"")
                assert head["Content-Type"] == got["Content-Type"]
            if path not in {"quotes", "quotes/qt_x"}:
                refused = nobody.get(place) if "GET" in methods else nobody.post(place, {})
                problem(refused, 401, "unauthorized")
    placed = created(api.post("quotes/", examples.QUOTE_BODY))
    assert api.get(f"quotes/{placed['id']}/").json()["id"] == placed["id"]
