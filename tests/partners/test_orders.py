"""The calls of a partner from a quote to the end of a term, and who may see what."""

from datetime import timedelta
from typing import Any

import pytest
from pytest_django import Settings

from core import clock, outbox
from core.models import OutgoingMail
from fleet.keys import parse_keys
from orders.models import Order
from partners import events as log
from partners.api import orders_examples as examples
from partners.models import Partner, PartnerOrder
from partners.services.make_key import make_key
from partners.services.make_partner import make_partner
from tests import scenario
from tests.partners.answers import problem, shape
from tests.partners.ordering import PAY_WITH, QUOTE_BODY, Api, created, order_body
from tests.shop.test_faces import rows_of
from tests.terms import extension, take_logins_for_good, work

pytestmark = pytest.mark.django_db
NOBODYS = "ord_" + "2" * 27


@pytest.fixture(autouse=True)
def _shop(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    take_logins_for_good(monkeypatch)
    monkeypatch.setattr(log, "SETTLING", timedelta(0))
    scenario.open_shop()


@pytest.fixture
def api(key_text: str) -> Api:
    return Api(key_text)


@pytest.fixture
def other(db: None) -> Api:
    """Another partner's program."""
    rival = make_partner(name="Rival", slug="rival", mail="api@rival.example", actor="test")
    return Api(make_key(partner_id=rival.pk, actor="test")[1])


def pay(order_id: str) -> None:
    scenario.pay(Order.objects.get(public_id=order_id))
    work()


def test_from_the_quote_to_the_end_of_the_term(api: Api) -> None:
    quote = api.quote()
    read = api.get(f"quotes/{quote['id']}")
    assert read.json() == quote
    assert shape(quote) == shape(examples.QUOTE) | {"lines": shape(quote["lines"])}
    order = api.order(quote["id"], metadata={"customer": "4711"})
    place = f"orders/{order['id']}"
    assert shape(order) == shape(examples.ORDER) | {"metadata": {"customer": "str"}}
    assert (order["status"], order["payment"]["status"], order["lease"]) == (
        "awaiting_payment",
        "awaiting",
        None,
    )
    assert api.get(place).json() == order
    assert api.get("orders").json() == {"data": [order], "next_cursor": None}
    assert api.get(f"quotes/{quote['id']}").json()["status"] == "accepted"
    again = problem(api.post("orders", order_body(quote["id"])), 409, "quote_accepted", "quote")
    assert again["order"] == order["id"]

    claimed = api.post(f"{place}/payment-claims", {"transaction_hash": "0x" + "ab" * 32})
    assert (claimed.status_code, claimed.json()["due"]) == (202, order["payment"]["amount"])
    assert shape(claimed.json()) == shape(examples.PAYMENT)
    limited = api.post(f"{place}/payment-claims")
    problem(limited, 429, "rate_limited")
    assert 1 <= int(limited["Retry-After"]) <= 10
    problem(api.get(f"{place}/access"), 409, "not_ready")
    problem(api.post(f"{place}/early-end"), 409, "not_ready")
    problem(api.post(f"{place}/extensions", {"days": 3, "pay_with": PAY_WITH}), 409, "not_extendable")

    pay(order["id"])
    access = api.get(f"{place}/access")
    assert shape(access.json()) == shape(examples.ACCESS)
    assert access["Cache-Control"] == "no-store"
    active = api.get(place).json()
    assert (active["status"], active["payment"]["status"], active["lease"]["status"]) == (
        "active",
        "settled",
        "ready",
    )
    problem(api.post(f"{place}/cancel"), 409, "already_started")

    more = created(api.post(f"{place}/extensions", {"days": 3, "pay_with": PAY_WITH}))
    assert shape(more) == shape(examples.EXTENSION)
    assert (more["extends"], more["lease"]) == (order["id"], active["lease"])
    waiting = api.post(f"{place}/extensions", {"days": 3, "pay_with": PAY_WITH})
    assert (waiting.status_code, waiting.json()["id"]) == (200, more["id"])
    longer = api.post(f"{place}/extensions", {"days": 7, "pay_with": PAY_WITH})
    assert problem(longer, 409, "extension_open", "days")["order"] == more["id"]
    pay(more["id"])
    assert api.get(f"orders/{more['id']}").json()["status"] == "active"

    ended = api.post(f"{place}/early-end")
    assert ended.status_code == 200, ended.content
    assert shape(ended.json()) == shape(examples.EARLY_END)
    assert (ended.json()["unused_days"], len(ended.json()["parts"])) == (5, 2)
    problem(api.post(f"{place}/early-end"), 409, "already_done")
    work()
    for gone in (place, f"orders/{more['id']}"):
        body = problem(api.get(f"{gone}/access"), 410, "lease_over")
        assert access.json()["user"] not in str(body)
    after = api.get(place).json()
    assert (after["status"], after["lease"]["status"]) == ("ended", "closed")
    assert shape(after["refunds"]) == [
        dict.fromkeys(("status", "amount", "asset", "network", "reason", "transaction_hash"), "str")
    ]
    names = [event["type"] for event in api.get(f"{place}/events?limit=100").json()["data"]]
    assert names[:2] == ["quote.accepted", "order.placed"]
    assert names.index("order.active") < names.index("order.ended")


def test_before_the_payment_an_order_is_cancelled_for_nothing(api: Api) -> None:
    order = api.order()
    cancelled = api.post(f"orders/{order['id']}/cancel", {})
    assert (cancelled.status_code, cancelled.json()["status"]) == (200, "cancelled")
    problem(api.post(f"orders/{order['id']}/cancel"), 409, "already_done")
    problem(api.get(f"orders/{order['id']}/access"), 410, "lease_over")
    problem(api.post(f"orders/{order['id']}/early-end"), 409, "lease_over")
    assert api.post(f"orders/{order['id']}/payment-claims").status_code == 202


def test_the_api_is_a_face_of_the_same_checkout(api: Api) -> None:
    """The same rows as by the service, which the pages use."""
    key, options = scenario.new_key_line(), [{"code": "nvme-extra", "quantity": 2}]
    quote = api.quote(options=options, bill_to={"country": "DE"})
    by_api = api.order(quote["id"], ssh_keys=[key], bill_to={"country": "DE", "kind": "consumer"})
    by_service = scenario.order(scenario.quote(options=[("nvme-extra", 2)]), keys=parse_keys(key))
    outbox.drain()
    assert rows_of(Order.objects.get(public_id=by_api["id"])) == rows_of(by_service)


def test_with_notify_partner_we_write_to_nobody_else(api: Api, partner: Partner) -> None:
    Partner.objects.filter(pk=partner.pk).update(mail_language="fr")
    order = api.order(notify="partner")
    pay(order["id"])
    created(api.post(f"orders/{order['id']}/extensions", {"days": 3, "pay_with": PAY_WITH}))
    work()
    assert OutgoingMail.objects.count() >= 4
    assert set(OutgoingMail.objects.values_list("to", "language")) == {("api@acme.example", "fr")}
    to_contact = api.order(contact={"name": "Ada", "email": "ada@example.com", "language": "de"})
    outbox.drain()
    mails = OutgoingMail.objects.filter(order_ref=to_contact["id"]).values_list("to", "language")
    assert set(mails) == {("ada@example.com", "de")}


def test_another_partner_sees_and_does_nothing(api: Api, other: Api) -> None:
    quote = api.quote()
    order = created(api.post("orders", order_body(quote["id"]), key="of-both"))
    pay(order["id"])
    extended = created(
        api.post(f"orders/{order['id']}/extensions", {"days": 3, "pay_with": PAY_WITH}, key="of-both-2")
    )
    body = {"days": 3, "pay_with": PAY_WITH}
    calls: list[tuple[str, str, Any]] = [
        ("get", "", None),
        ("get", "/access", None),
        ("get", "/events", None),
        ("post", "/payment-claims", {}),
        ("post", "/cancel", {}),
        ("post", "/early-end", {}),
        ("post", "/extensions", body),
    ]
    for method, suffix, sent in calls:
        answers = []
        for order_id in (order["id"], extended["id"], NOBODYS):
            path = f"orders/{order_id}{suffix}"
            answer = other.get(path) if method == "get" else other.post(path, sent)
            answers.append(problem(answer, 404, "not_found") | {"request_id": ""})
        assert answers[0] == answers[1] == answers[2]
    assert other.get("orders").json() == {"data": [], "next_cursor": None}
    assert other.get("events").json() == {"data": [], "next_cursor": None}
    # What the key of the other one was used for is not told either.
    theirs = other.post("orders", order_body(quote["id"]), key="of-both")
    assert "order" not in problem(theirs, 409, "quote_accepted", "quote")
    assert order["id"] not in theirs.content.decode()
    cursor = api.get("events", {"limit": "1"}).json()["next_cursor"]
    assert cursor
    problem(other.get("events", {"cursor": cursor}), 400, "invalid_cursor", "cursor")
    # The place in the log is a number and tells nothing.
    assert other.get("events", {"after": "evt_000000000001"}).json()["data"] == []
    assert Order.objects.get(public_id=order["id"]).status == "active"


def test_holds_are_bounded_by_the_partners_own_row(api: Api, partner: Partner) -> None:
    Partner.objects.filter(pk=partner.pk).update(hold_orders=1, hold_cards=4)
    problem(api.post("quotes", QUOTE_BODY | {"lots": 3}), 422, "too_many_cards", "lots")
    assert Api(None).quote(lots=3)["lots"] == 3  # a browser's bound is another one
    api.order()
    problem(api.post("orders", order_body(api.quote()["id"])), 429, "too_many_holds")
    Partner.objects.filter(pk=partner.pk).update(hold_orders=20, hold_cards=64)
    for _number in range(3):  # all from one address: there is no rule of prefixes
        api.order()


def test_a_new_partner_has_the_bounds_of_the_settings(settings: Settings) -> None:
    settings.PARTNER_HOLD_ORDERS, settings.PARTNER_HOLD_CARDS = 7, 9
    made = make_partner(name="New", slug="new", mail="api@new.example", actor="test")
    assert (made.hold_orders, made.hold_cards) == (7, 9)


def test_an_extension_that_the_customer_places_on_the_page_is_the_partners_too(api: Api, other: Api) -> None:
    order = api.order()
    pay(order["id"])
    placed = extension(Order.objects.get(public_id=order["id"]))
    # Its events are his before anybody has said so of the order: none of them comes later than its number.
    told = {(row["order"], row["type"]) for row in api.get("events", {"limit": "100"}).json()["data"]}
    assert (placed.public_id, "order.placed") in told
    outbox.drain()
    assert api.get(f"orders/{placed.public_id}").json()["extends"] == order["id"]
    problem(other.get(f"orders/{placed.public_id}"), 404, "not_found")
    web = scenario.order()
    outbox.drain()
    assert not PartnerOrder.objects.filter(order=web).exists()


def test_each_call_asks_for_its_own_scope(partner: Partner) -> None:
    for scope in ("orders:read", "orders:write", "access:read", "webhooks"):
        api = Api(make_key(partner_id=partner.pk, actor="test", scopes=[scope])[1])
        calls: list[tuple[str, Any]] = [
            ("orders:read", api.get("orders")),
            ("orders:read", api.get("events")),
            ("orders:read", api.get(f"orders/{NOBODYS}")),
            ("orders:read", api.get(f"orders/{NOBODYS}/events")),
            ("access:read", api.get(f"orders/{NOBODYS}/access")),
            ("orders:write", api.post("orders", {})),
            *(
                ("orders:write", api.post(f"orders/{NOBODYS}/{verb}", {}))
                for verb in ("cancel", "early-end", "extensions", "payment-claims")
            ),
        ]
        for needed, answer in calls:
            if needed == scope:
                assert answer.status_code in {200, 400, 404}, answer.content
            else:
                problem(answer, 403, "scope_missing")


def test_the_address_of_the_page_is_for_keys_that_may_act(api: Api, partner: Partner) -> None:
    """Whoever has it may cancel, end early and say where a refund goes."""
    order = api.order()
    reading = Api(make_key(partner_id=partner.pk, actor="test", scopes=["orders:read"])[1])
    for caller, expected in ((api, order["url"]), (reading, "")):
        assert caller.get(f"orders/{order['id']}").json()["url"] == expected
        assert [row["url"] for row in caller.get("orders").json()["data"]] == [expected]
    assert order["url"]


def test_what_was_expired_by_the_clock_reads_as_expired(api: Api) -> None:
    quote, order = api.quote(), api.order()
    clock.skip(timedelta(hours=1, minutes=1))
    assert api.get(f"quotes/{quote['id']}").json()["status"] == "expired"
    payment = api.get(f"orders/{order['id']}").json()["payment"]
    assert (payment["status"], payment["still_checking"]) == ("expired", True)
    problem(api.post("orders", order_body(quote["id"])), 422, "quote_expired", "quote")
