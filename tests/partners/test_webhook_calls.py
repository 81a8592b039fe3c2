"""The calls about webhooks: shapes, refusals, and nothing of another partner."""

from typing import Any

import pytest
from django.test import Client

from core import outbox, outward_target
from partners.models import Partner, WebhookEndpoint
from partners.services.make_key import make_key
from partners.services.make_partner import make_partner
from partners.services.send_test_event import send_test_event
from partners.services.send_webhooks import send_webhooks
from tests import scenario
from tests.partners import hooks
from tests.partners.answers import problem
from tests.partners.hooks import Receiver, endpoint_for
from tests.partners.ordering import Api, created

pytestmark = pytest.mark.django_db
PATH = "webhook-endpoints"
BODY = {"url": "https://hooks.example.com/in", "events": ["order.paid"], "note": "ours"}
FIELDS = {"id", "url", "events", "note", "status", "created_at", "failing_since", "paused_at"}
NONE = "wh_" + "0" * 24


@pytest.fixture(autouse=True)
def names(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """No test asks a true name server."""
    known = {"hooks.example.com": ["93.184.215.14"], "inner.example.com": ["10.0.0.1"]}
    monkeypatch.setattr(outward_target, "_ask", lambda host, _port: known.get(host, []))
    return known


@pytest.fixture
def api(key_text: str) -> Api:
    return Api(key_text)


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Receiver:
    return hooks.receive(monkeypatch)


def patch(api: Api, path: str, body: object) -> Any:
    return api.client.patch(f"/api/v1/{path}", body, content_type="application/json", headers=api.headers)


def test_an_endpoint_lives(api: Api, partner: Partner) -> None:
    answer = api.post(PATH, BODY)
    made = created(answer)
    assert set(made) == FIELDS | {"secret"}
    assert answer["Location"] == f"/api/v1/{PATH}/{made['id']}"
    assert answer["Cache-Control"] == "no-store"
    secret = made.pop("secret")
    assert secret == WebhookEndpoint.objects.get().secret
    one = f"{PATH}/{made['id']}"
    assert api.get(one).json() == made
    assert api.get(PATH).json() == {"data": [made], "next_cursor": None}
    changed = patch(api, one, {"events": [], "note": "", "url": "https://hooks.example.com:8443/x"})
    assert changed.json() == made | {"events": [], "note": "", "url": "https://hooks.example.com:8443/x"}
    paused = patch(api, one, {"status": "paused"}).json()
    assert (paused["status"], bool(paused["paused_at"])) == ("paused", True)
    assert patch(api, one, {"status": "paused"}).json() == paused
    assert patch(api, one, {"status": "active"}).json()["paused_at"] is None
    rotated = api.post(f"{one}/rotate-secret").json()
    assert rotated["secret"] != secret
    assert "secret" not in api.get(one).json()
    for url in (f"/api/v1/{one}", f"/api/v1/{one}/"):
        assert api.client.delete(url, headers=api.headers).status_code == (404 if url[-1] == "/" else 204)
    problem(api.get(one), 404, "not_found")
    assert api.get(PATH).json()["data"] == []


def test_a_repeated_request_makes_one_endpoint_and_shows_its_secret_again(api: Api) -> None:
    first, second = (api.post(PATH, BODY, key="k") for _ in range(2))
    assert first.json() == second.json()
    assert WebhookEndpoint.objects.count() == 1


def test_the_log_shows_each_attempt_and_redelivers(
    api: Api, partner: Partner, receiver: Receiver, django_assert_max_num_queries: object
) -> None:
    scenario.open_shop()
    made = created(api.post(PATH, BODY | {"events": []}))
    one = f"{PATH}/{made['id']}"
    api.order()
    outbox.drain()
    receiver.status = 503
    send_webhooks()
    receiver.status = 200
    with django_assert_max_num_queries(8):  # type: ignore[operator]
        log = api.get(f"{one}/deliveries").json()["data"]
    assert [row["type"] for row in log] == ["order.placed", "quote.accepted"]
    assert [row["attempts"] for row in log] == [0, 1]
    assert [(one["status_code"], one["error"]) for one in log[1]["tries"]] == [(503, "")]
    assert log[1]["next_attempt_at"] is not None
    again = created(api.post(f"{one}/deliveries/{log[1]['id']}/redeliver"), 202)
    assert again["id"] == log[1]["id"]
    tested = created(api.post(f"{one}/test"), 202)
    assert (tested["type"], tested["status"]) == ("webhook.test", "pending")
    send_webhooks()
    first = api.get(f"{one}/deliveries", {"limit": "2"}).json()
    rest = api.get(f"{one}/deliveries", {"limit": "2", "cursor": first["next_cursor"]}).json()
    states = [row["status"] for row in first["data"] + rest["data"]]
    assert states == ["delivered"] * 3
    assert rest["next_cursor"] is None
    problem(api.post(f"{one}/deliveries/{tested['id']}/redeliver"), 409, "test_event")
    patch(api, one, {"status": "paused"})
    problem(api.post(f"{one}/deliveries/{log[0]['id']}/redeliver"), 409, "endpoint_paused")
    problem(api.post(f"{one}/redeliver-missed"), 409, "endpoint_paused")
    hooks.tell("order.paid", order_ref=partner.orders.get().order.public_id)
    patch(api, one, {"status": "active"})
    assert created(api.post(f"{one}/redeliver-missed"), 202) == {"count": 1}


@pytest.mark.parametrize(
    ("changes", "status", "code", "field"),
    [
        ({"url": "https://10.0.0.1/"}, 422, "url_inward", "url"),
        ({"url": "https://inner.example.com/"}, 422, "url_inward", "url"),
        ({"url": "http://hooks.example.com/"}, 400, "url_not_https", "url"),
        ({"url": "http://127.0.0.1:9000/"}, 400, "url_not_https", "url"),
        ({"url": "https://hooks.example.com:6379/"}, 400, "invalid_url", "url"),
        ({"url": "https://a:b@hooks.example.com/"}, 400, "invalid_url", "url"),
        ({"url": ""}, 400, "required", "url"),
        ({"url": 7}, 400, "not_a_text", "url"),
        ({"url": "https://hooks.example.com/" + "x" * 2000}, 400, "too_long", "url"),
        ({"events": ["order.nothing"]}, 400, "unknown_event", "events"),
        ({"events": "order.paid"}, 400, "not_a_list", "events"),
        ({"events": [None]}, 400, "required", "events.0"),
        ({"note": "x" * 201}, 400, "too_long", "note"),
        ({"note": "a\x00"}, 400, "invalid_text", "note"),
        ({"secret": "whsec_x"}, 400, "unknown_field", "secret"),
    ],
)
def test_what_cannot_be_is_refused_at_both_calls(
    api: Api, partner: Partner, changes: dict[str, object], status: int, code: str, field: str
) -> None:
    problem(api.post(PATH, BODY | changes), status, code, field)
    there = endpoint_for(partner)
    problem(patch(api, f"{PATH}/{there.public_id}", changes), status, code, field)
    assert WebhookEndpoint.objects.get().url == hooks.URL


def test_a_change_of_nothing_is_refused(api: Api, partner: Partner) -> None:
    there = endpoint_for(partner)
    problem(patch(api, f"{PATH}/{there.public_id}", {}), 400, "required")
    problem(patch(api, f"{PATH}/{there.public_id}", {"status": "deleted"}), 400, "unknown_choice", "status")


def test_nothing_of_another_partner_is_seen_or_touched(api: Api, partner: Partner) -> None:
    other = make_partner(name="Other", slug="other", mail="o@other.example", actor="test")
    theirs = endpoint_for(other)
    assert api.get(PATH).json()["data"] == []
    for endpoint_id in (theirs.public_id, NONE, "x" * 500, "wh_%00"):
        one = f"{PATH}/{endpoint_id}"
        answers = [
            api.get(one),
            api.get(f"{one}/deliveries"),
            patch(api, one, {"note": "x"}),
            api.client.delete(f"/api/v1/{one}", headers=api.headers),
            *(api.post(f"{one}/{verb}") for verb in ("test", "rotate-secret", "redeliver-missed")),
            api.post(f"{one}/deliveries/whd_{'0' * 24}/redeliver"),
        ]
        details = {problem(answer, 404, "not_found")["detail"] for answer in answers}
        assert len(details) == 1
    theirs.refresh_from_db()
    assert (theirs.status, theirs.note) == ("active", "")
    mine = endpoint_for(partner)
    row = send_test_event(endpoint_id=theirs.pk, actor="test").public_id
    problem(api.post(f"{PATH}/{mine.public_id}/deliveries/{row}/redeliver"), 404, "not_found")


def test_every_call_needs_the_scope(partner: Partner) -> None:
    limited = Api(make_key(partner_id=partner.pk, actor="t", scopes=["orders:read", "orders:write"])[1])
    for api, status, code in ((limited, 403, "scope_missing"), (Api(None), 401, "unauthorized")):
        problem(api.get(PATH), status, code)
        problem(api.post(PATH, BODY), status, code)
        problem(api.post(f"{PATH}/{NONE}/test"), status, code)
        problem(patch(api, f"{PATH}/{NONE}", {"note": "x"}), status, code)
    assert Client().get(f"/api/v1/{PATH}").status_code == 401
