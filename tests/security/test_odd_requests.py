"""Any text in any parameter, any body to any address: an answer below 500, and SQL is never made of what was sent."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from desk.fleet_form import FleetForm
from shop.forms.catalog import CatalogFilterForm
from shop.forms.configure import ConfigureForm
from shop.forms.plan import PlanForm
from tests.core.desk import staff
from tests.security.odd import NASTY, TEXTS
from tests.security.world import World

ROOT = Path(__file__).resolve().parents[2]
BOUNDARY = "multipart/form-data; boundary=xx"
# A body and what it says it is.
BODIES: tuple[tuple[bytes, str], ...] = (
    (b"", "application/x-www-form-urlencoded"),
    (b"\xff\xfe=%ff&%&=&a=%zz&" + b"text=" * 300, "application/x-www-form-urlencoded; charset=utf-8"),
    (b"a=1", "application/x-www-form-urlencoded; charset=no-such-charset"),
    (b"--xx\r\nContent-Disposition: form-data; name=\"text\"\r\n\r\nhalf", BOUNDARY),
    (b"--xx\r\nContent-Disposition: form-data; name=\"file\"; filename=\"../x\"\r\n\r\n\xff\x00\r\n--xx--", BOUNDARY),
    (b"x", "multipart/form-data"),
    (b"[" * 3000, "application/json"),
    (b'{"a": 1e9999, "a": "\\ud800"}', "application/json"),
    (b"\x00" * 100, "application/octet-stream"),
    (b"x" * 300_000, "text/plain"),
    (b"a=1", "\xff/\xfe"),
)  # fmt: skip


def names_asked_for() -> list[str]:
    """Every parameter that a page reads: by name in the source, and the fields of the forms that a GET fills."""
    found = {"q", "p", "o", "e", "limit", "cursor", "from", "to", "lot", "accelerator", "min_memory_gb"}
    for app in ("shop", "partners", "desk", "core", "guides", "anchorgpu"):
        for file in (ROOT / app).rglob("*.py"):
            found |= set(
                re.findall(r"\.GET(?:\.get\(|\[|\.getlist\()\"(\w+)\"", file.read_text(encoding="utf-8"))
            )
    for form in (CatalogFilterForm, ConfigureForm, PlanForm, FleetForm):
        found |= set(form.base_fields)
    return sorted(found)


def test_the_parameters_are_found() -> None:
    assert set(names_asked_for()) >= {
        "q",
        "page",
        "next",
        "replaces",
        "mark",
        "card",
        "weeks",
        "stack",
        "seq_len",
    }


@pytest.fixture
def everybody(world: World) -> Client:
    """All sessions in one browser: no page stops at its door. An error inside is raised, not shown."""
    return world.mine.member(staff("chief", superuser=True))


PAUSED = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large]
WANTED = st.dictionaries(st.sampled_from(names_asked_for()), TEXTS, min_size=1, max_size=5)


def reads(everybody: Client, world: World, examples: int) -> None:
    targets = world.addresses()

    @settings(max_examples=examples, deadline=None, suppress_health_check=PAUSED, derandomize=examples < 1000)
    @given(st.sampled_from(targets), WANTED)
    def ask(target: str, query: dict[str, str]) -> None:
        status = everybody.get(target, query).status_code
        # Of the shop's own state: nobody works for it here.
        assert status < 500 or (target, status) == ("/readyz", 503), (target, query)

    ask()


def test_odd_text_in_any_parameter_is_answered(everybody: Client, world: World) -> None:
    reads(everybody, world, 60)


@pytest.mark.full
def test_odd_text_in_any_parameter_is_answered_many(everybody: Client, world: World) -> None:
    reads(everybody, world, 2000)


def test_each_page_that_filters_takes_each_nasty_text(everybody: Client, world: World) -> None:
    """Each parameter gets another text in each request, so that together every parameter gets many of them."""
    names = names_asked_for()
    for path in (
        "/en/catalog/",
        "/en/plan/",
        "/admin/desk/search/",
        "/admin/desk/fleet/",
        "/admin/orders/order/",
    ):
        for shift in range(0, len(NASTY), 6):
            query = {name: NASTY[(place + shift) % len(NASTY)] for place, name in enumerate(names)}
            assert everybody.get(path, query).status_code < 500, (path, shift)
    order = world.mine.order.public_id
    assert order in everybody.get("/admin/desk/search/", {"q": order}).content.decode()
    # SQL in a search is a text that nothing is called.
    for text in (f"{order}' OR '1'='1", f"{order}%", f"{order}\\", "%", "_" * 31, "' OR 1=1--"):
        answer = everybody.get("/admin/desk/search/", {"q": text})
        assert answer.status_code == 200
        assert "/admin/orders/order/" not in answer.content.decode(), text


def test_any_body_to_any_address_is_answered(everybody: Client, world: World) -> None:
    """Each address of shop, partners, API and desk gets two of the bodies; together they get all of them."""
    targets = [one for one in world.addresses() if not one.startswith("/admin/") or "/desk/" in one]
    number = 0
    for target in targets:
        for _try in range(2):
            body, kind = BODIES[number % len(BODIES)]
            number += 1
            answer = everybody.generic("POST", target, body, content_type=kind)
            assert answer.status_code < 500, (target, kind, answer.status_code)


def writes(everybody: Client, world: World, examples: int) -> None:
    targets = world.addresses()
    fields = st.dictionaries(st.sampled_from(FIELDS), TEXTS, max_size=8)

    @settings(max_examples=examples, deadline=None, suppress_health_check=PAUSED, derandomize=examples < 1000)
    @given(st.sampled_from(targets), fields)
    def send(target: str, values: dict[str, Any]) -> None:
        assert everybody.post(target, values).status_code < 500, (target, values)

    send()


FIELDS = sorted(
    {*names_asked_for(), "reason", "text", "name", "email", "company", "ssh_keys", "member", "transaction_hash"}
    | {"destination", "days", "size", "rate", "rate_unit", "url", "note", "events", "scopes", "mail", "code", "address"}
    | {"draft", "revision", "table", "first", "last", "separator", "choice", "anew", "pay_with"}
    | {"accept_terms", "amount"}
)  # fmt: skip


def test_odd_forms_to_any_address_are_answered(everybody: Client, world: World) -> None:
    writes(everybody, world, 60)


@pytest.mark.full
def test_odd_forms_to_any_address_are_answered_many(everybody: Client, world: World) -> None:
    writes(everybody, world, 2000)
