"""Every address in the place of somebody else: nobody, another buyer, another partner, staff without a permission."""

import itertools
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.utils import translation

from core.models import Event
from orders.models import Order
from tests.core.desk import staff
from tests.partners.ordering import PAY_WITH
from tests.security.world import NOBODY, NONE, Side, World

# What every member of staff may open, whatever the role; docs/operations.md says the same of the pages of the desk.
FOR_ALL_STAFF = re.compile(
    r"/admin/($|login/|logout/|tables/|jsi18n/|password_change/|search/|autocomplete/|r/"
    r"|desk/(search|security|second-factor|sign-out)/)"
)
# Public by what they are: whoever has a quote's number may see the offer, and the catalogue is for all.
PUBLIC_CALLS = {"api-accelerator", "api-quote"}
METHODS = ("get", "post", "put", "patch", "delete")
_numbers = itertools.count(1)
BODIES: dict[str, dict[str, Any]] = {
    "api-extensions": {"days": 3, "pay_with": PAY_WITH},
    "api-webhook-endpoint": {"note": "mine now"},
}


def patterns(found: list[URLPattern | URLResolver]) -> Iterator[URLPattern]:
    for pattern in found:
        if isinstance(pattern, URLResolver):
            yield from patterns(pattern.url_patterns)
        else:
            yield pattern


def parts_of(pattern: URLPattern) -> set[str]:
    return set(re.findall(r"<(?:\w+:)?(\w+)>", str(pattern.pattern)))


def named(app: str) -> list[tuple[str, set[str]]]:
    """The names of an app's addresses that take a value, with the names of the values."""
    (resolver,) = [
        one
        for outer in get_resolver().url_patterns
        for one in (outer, *getattr(outer, "url_patterns", ()))
        if isinstance(one, URLResolver) and one.app_name == app
    ]
    found = [(str(one.name), parts_of(one)) for one in patterns(resolver.url_patterns)]
    return [(name, parts) for name, parts in found if parts]


def answers(client: Client, path: str) -> list[tuple[int, str]]:
    """Status and page of GET and POST, without what differs at each request or repeats the address."""
    found = []
    for answer in (client.get(path), client.post(path, {})):
        text = answer.content.decode().replace(path.removeprefix("/en"), "")
        found.append((answer.status_code, re.sub(r"[0-9a-f]{32}|<time.*?</time>", "", text)))
    return found


def shop_path(name: str, values: dict[str, str]) -> str:
    with translation.override("en"):
        return reverse(f"shop:{name}", kwargs=values)


def test_no_order_is_reached_by_what_is_not_its_secret(world: World) -> None:
    """Every address with an order's secret: its other ids in that place get the page that nobody's secret gets."""
    mine = world.mine
    before = (Event.objects.count(), list(Order.objects.values("pk", "status")))
    walked = 0
    for name, parts in named("shop"):
        if "token" not in parts:
            continue
        values = {part: mine.values[part] for part in parts}
        none = answers(Client(), shop_path(name, values | {"token": NOBODY}))
        assert {status for status, _text in none} <= {404, 405}, name
        assert 404 in {status for status, _text in none}, name
        almost = mine.order.token[:-1] + ("A" if mine.order.token[-1] != "A" else "B")
        for guess in (almost, mine.values["invoice"]):
            assert answers(Client(), shop_path(name, values | {"token": guess})) == none, (name, guess)
        walked += 1
    assert walked > 15
    assert (Event.objects.count(), list(Order.objects.values("pk", "status"))) == before


def test_no_thing_of_another_order_is_reached_with_ones_own_secret(world: World) -> None:
    """Keys, refunds and documents: theirs under my secret are the 404 of things that are not there."""
    walked = set()
    for name, parts in named("shop"):
        others = parts - {"token"}
        if "token" not in parts or not others:
            continue
        mine = {part: world.mine.values[part] for part in parts}
        theirs = mine | {part: world.theirs.values[part] for part in others}
        none = mine | {part: NONE[part] for part in others}
        assert answers(Client(), shop_path(name, theirs)) == answers(Client(), shop_path(name, none)), name
        assert Client().get(shop_path(name, theirs)).status_code in (404, 405), name
        # Control: with what is mine the same address is there.
        assert 404 not in {status for status, _text in answers(Client(), shop_path(name, mine))}, name
        walked |= others
    assert walked >= {"key_id", "refund_id", "invoice"}


def partner_path(name: str, side: Side | None, parts: set[str]) -> str:
    values = dict(side.values if side else NONE)
    values["key_id"] = values.get("en/partner/keys/key_id", values["key_id"])
    with translation.override("en"):
        return reverse(f"partners:{name}", kwargs={part: values[part] for part in parts})


def test_no_page_of_a_partner_opens_to_another_or_to_nobody(world: World) -> None:
    walked = 0
    for name, parts in named("partners"):
        if name == "login_link":  # the secret is the address
            continue
        theirs = partner_path(name, world.theirs, parts)
        shown = [answers(world.mine.member(), path) for path in (theirs, partner_path(name, None, parts))]
        assert shown[0] == shown[1], name
        assert {status for status, _text in shown[0]} <= {404, 405}, name
        for answer in (Client().get(theirs), Client().post(theirs)):
            assert answer.status_code in (303, 405), name
            assert answer.get("Location", "/en/partner/login/") == "/en/partner/login/", name
        walked += 1
    assert walked > 10


def call(client: Client, method: str, path: str, name: str, key: str | None) -> tuple[int, Any]:
    headers = {"idempotency-key": f"walk-{next(_numbers)}"} | (
        {"authorization": f"Bearer {key}"} if key else {}
    )
    body = {} if method == "get" else {"data": BODIES.get(name, {}), "content_type": "application/json"}
    answer = getattr(client, method)(path, headers=headers, **body)
    problem = answer.json() if answer.content else {}
    return answer.status_code, (problem.get("code"), problem.get("detail"))


def test_no_call_reaches_what_is_another_partners(world: World) -> None:
    """And without a key, whatever the browser's session says, no call about a thing is answered at all."""
    walked = 0
    browser = world.theirs.member(staff("chief", superuser=True))
    for pattern in patterns(get_resolver().url_patterns):
        name, parts = str(pattern.name), parts_of(pattern)
        if not name.startswith("api-") or name.endswith("-slash") or not parts or name in PUBLIC_CALLS:
            continue
        theirs, none = (
            reverse(name, kwargs={part: values[part] for part in parts})
            for values in (world.theirs.values, NONE)
        )
        statuses = set()
        for method in METHODS:
            found = call(Client(), method, theirs, name, world.mine.key_text)
            if found[0] == 405:
                continue
            assert found[0] == 404, (name, method, found)
            assert found == call(Client(), method, none, name, world.mine.key_text), (name, method)
            assert call(browser, method, theirs, name, None)[0] == 401, (name, method)
            statuses.add(found[0])
        assert 404 in statuses, name
        walked += 1
    assert walked > 10


def test_nobody_and_buyers_and_partners_reach_no_page_of_staff(world: World) -> None:
    browsers = (Client(), world.mine.member())
    for target in world.addresses(staff=True):
        if target == "/admin/login/":
            continue
        for browser in browsers:
            for answer in (browser.get(target), browser.post(target, {})):
                assert answer.status_code in (302, 303, 405), (target, answer.status_code)
                # Signing out leads to the desk, and from there to the login.
                wanted = "/admin/" if target == "/admin/logout/" else "/admin/login/"
                assert answer.get("Location", wanted).startswith(wanted), target


def test_staff_without_a_permission_reach_nothing_that_needs_one(world: World) -> None:
    client = staff("new")
    before = Event.objects.count()
    for target in world.addresses(staff=True):
        if FOR_ALL_STAFF.match(target):
            continue
        for answer in (client.get(target), client.post(target, {})):
            # An address of former times, and a row that is not there.
            moved = answer.get("Location") in (f"{target}change/", "/admin/")
            assert moved or answer.status_code in (403, 404, 405), (target, answer.status_code)
    assert Event.objects.count() == before


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["home", "catalog"])
def test_control_the_walk_sees_pages_that_anybody_may_open(name: str) -> None:
    assert [status for status, _text in answers(Client(), shop_path(name, {}))] == [200, 405]
