"""Idempotency keys: one effect and one answer, whoever sends a request how often, and whatever is killed meanwhile."""

import json
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
import time_machine
from django.db import transaction

from core import clock
from core.errors import Conflict
from orders.models import Order, Quote
from partners.api import idempotent, orders
from partners.api import urls as api_urls
from partners.models import IdempotentRequest, Partner
from partners.services import idempotency
from partners.services.idempotency import Asked, Claim, InProgress, StoredAnswer
from partners.services.make_key import make_key
from partners.services.revoke_key import revoke_key
from tests import races, scenario
from tests.partners.answers import problem
from tests.partners.ordering import PAY_WITH, QUOTE_BODY, Api, created, order_body

pytestmark = pytest.mark.django_db
# Calls that need no key because they have no effect: the same body gets the same answer anyway.
WITHOUT_EFFECT = {"api-plans"}


@pytest.fixture(autouse=True)
def _shop(db: None) -> None:
    scenario.open_shop()


@pytest.fixture
def api(key_text: str) -> Api:
    return Api(key_text)


def test_s34_a_key_with_the_same_request_is_answered_again_with_another_one_refused(
    api: Api, partner: Partner
) -> None:
    body = order_body(api.quote()["id"])
    first = api.post("orders", body, key="k")
    assert first.status_code == 201
    assert not first.has_header("Idempotent-Replay")
    # (a) other order of names, other spacing, with the slash, by a newer key of the same partner
    shuffled = json.dumps(dict(reversed(body.items())), indent=3)
    newer = Api(make_key(partner_id=partner.pk, actor="test")[1])
    for again in (
        api.post("orders", shuffled, key="k"),
        api.post("orders/", body, key="k"),
        newer.post("orders", body, key="k"),
    ):
        assert (again.status_code, again.content) == (201, first.content)
        assert again["Idempotent-Replay"] == "true"
        assert again["Location"] == first["Location"]
        assert again["Content-Type"] == "application/json"
    # (b) another body, (c) another endpoint; also one that the schema would refuse
    order_id = first.json()["id"]
    others: list[tuple[str, Any]] = [
        ("orders", body | {"notify": "partner"}),
        ("orders", body | {"nonsense": 1}),
        ("quotes", body),
        (f"orders/{order_id}/extensions", {"days": 3, "pay_with": PAY_WITH}),
        (f"orders/{order_id}/cancel", {}),
    ]
    for path, other in others:
        problem(api.post(path, other, key="k"), 422, "idempotency_mismatch")
    assert Order.objects.count() == 1
    assert Order.objects.get().status == "awaiting_payment"


def test_s34_another_body_is_refused_while_the_first_is_still_running(api: Api, partner: Partner) -> None:
    _locked(partner, "k", "POST /api/v1/quotes", QUOTE_BODY)
    problem(api.post("quotes", QUOTE_BODY | {"days": 7}, key="k"), 422, "idempotency_mismatch")
    waiting = api.post("quotes", QUOTE_BODY, key="k")
    problem(waiting, 409, "idempotency_in_progress")
    assert waiting["Retry-After"] == "1"
    assert not Quote.objects.exists()


def test_s34_a_malformed_key_is_refused(api: Api) -> None:
    for key in ("", " ", "a b", "x" * 256, "x" * 1000, "schlüssel", "\x7f", "a\tb"):
        answer = api.client.post(
            "/api/v1/quotes",
            QUOTE_BODY,
            content_type="application/json",
            headers=api.headers,
            HTTP_IDEMPOTENCY_KEY=key,
        )
        problem(answer, 400, "invalid_idempotency_key", "Idempotency-Key")
    assert not Quote.objects.exists()
    created(api.post("quotes", QUOTE_BODY, key="!" + "x" * 253 + "~"))


def test_orders_and_extensions_need_a_key_and_nothing_else_does(api: Api) -> None:
    order = api.order()
    for path in ("orders", f"orders/{order['id']}/extensions"):
        problem(api.post(path, {}, key=None), 400, "idempotency_key_required", "Idempotency-Key")
    assert api.post("quotes", QUOTE_BODY, key=None).status_code == 201
    assert api.post(f"orders/{order['id']}/cancel", key=None).status_code == 200
    # A caller without an API key has nothing that it could be bound to.
    one, two = (Api(None).post("quotes", QUOTE_BODY, key="k").json()["id"] for _ in range(2))
    assert one != two


def test_every_call_that_writes_takes_a_key() -> None:
    posts = {}
    for pattern in api_urls.urlpatterns:
        view = getattr(pattern.callback, "cls", object)
        if hasattr(view, "post") and not str(pattern.name).endswith("-slash"):
            posts[pattern.name] = hasattr(view.post, "idempotent")
    assert len(posts) >= 7
    assert {name for name, takes in posts.items() if not takes} == WITHOUT_EFFECT


def test_a_refusal_is_kept_and_answered_again(api: Api) -> None:
    quote = api.quote()
    body = order_body(quote["id"], pay_with=PAY_WITH | {"asset": "DOGE"})
    first = api.post("orders", body, key="k")
    problem(first, 400, "unknown_rail", "pay_with")
    sold = order_body(quote["id"])
    created(api.post("orders", sold, key="sold"))
    used = api.post("orders", order_body(quote["id"], ssh_keys=sold["ssh_keys"]), key="used")
    assert problem(used, 409, "quote_accepted", "quote")["order"]
    for key, sent, kept in (("k", body, first), ("used", sold, used)):
        again = api.post("orders", sent, key=key)
        assert (again.status_code, again.content) == (kept.status_code, kept.content)
        assert again["Content-Type"] == "application/problem+json"
        assert again["Idempotent-Replay"] == "true"


def test_what_passes_is_not_kept_so_that_the_same_key_may_succeed(
    api: Api, partner: Partner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A body that the schema refuses, a limit, a rival, something that does not answer, and our own fault."""
    problem(api.post("quotes", QUOTE_BODY | {"days": "3"}, key="k"), 400, "invalid_number", "days")
    Partner.objects.filter(pk=partner.pk).update(hold_orders=0)
    body = order_body(api.quote()["id"])
    problem(api.post("orders", body, key="k"), 429, "too_many_holds")
    Partner.objects.filter(pk=partner.pk).update(hold_orders=20)

    def refuse(**_rest: Any) -> Order:
        raise Conflict(code="busy", message="Busy.")

    def fail(**_rest: Any) -> Order:
        raise RuntimeError

    for act, status, code in ((refuse, 409, "busy"), (fail, 500, "internal_error")):
        with monkeypatch.context() as patch:
            patch.setattr(orders, "place_order", act)
            problem(api.post("orders", body, key="k"), status, code)
        assert not IdempotentRequest.objects.filter(key="k").exists()
    created(api.post("orders", body, key="k"))


def test_effect_and_answer_are_written_together_or_not_at_all(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    def break_down(_claimed: Claim, _answer: StoredAnswer) -> None:
        raise RuntimeError

    body = order_body(api.quote()["id"])
    monkeypatch.setattr(idempotent, "keep", break_down)
    problem(api.post("orders", body, key="k"), 500, "internal_error")
    assert not Order.objects.exists()
    monkeypatch.undo()
    created(api.post("orders", body, key="k"))


def test_a_worker_that_was_killed_keeps_its_key_for_a_minute_at_most(api: Api, partner: Partner) -> None:
    _locked(partner, "k", "POST /api/v1/quotes", QUOTE_BODY)
    now = clock.system_now()
    with time_machine.travel(now + timedelta(seconds=59), tick=False):
        problem(api.post("quotes", QUOTE_BODY, key="k"), 409, "idempotency_in_progress")
    with time_machine.travel(now + timedelta(seconds=61), tick=False):
        problem(api.post("quotes", QUOTE_BODY | {"days": 7}, key="k"), 422, "idempotency_mismatch")
        first = created(api.post("quotes", QUOTE_BODY, key="k"))
        assert api.post("quotes", QUOTE_BODY, key="k").json() == first


def test_who_was_overtaken_takes_back_what_he_did(partner: Partner) -> None:
    """A worker that hangs for a minute and comes back: his claim is another one's by then."""
    asked = Asked(partner_id=partner.pk, key="k", endpoint="POST /x", body_hash="h")
    slow = idempotency.claim(asked)
    assert isinstance(slow, Claim)
    with pytest.raises(InProgress):
        idempotency.claim(asked)
    with time_machine.travel(clock.system_now() + idempotency.LOCK + timedelta(seconds=1), tick=False):
        quick = idempotency.claim(asked)
    assert isinstance(quick, Claim)
    with pytest.raises(InProgress), transaction.atomic():
        idempotency.keep(slow, StoredAnswer(201, {}, "slow"))
    idempotency.let_go(slow)
    with transaction.atomic():
        idempotency.keep(quick, StoredAnswer(201, {}, "quick"))
    assert idempotency.claim(asked) == StoredAnswer(201, {}, "quick")


def test_after_a_day_a_key_is_new_and_its_row_is_removed(api: Api, partner: Partner) -> None:
    first = created(api.post("quotes", QUOTE_BODY, key="k"))
    created(api.post("quotes", QUOTE_BODY, key="old"))
    now = clock.system_now()
    with time_machine.travel(now + timedelta(hours=23, minutes=59), tick=False):
        assert api.post("quotes", QUOTE_BODY, key="k").json() == first
        assert idempotency.forget_old() == 0
    with time_machine.travel(now + timedelta(hours=24, seconds=1), tick=False):
        assert created(api.post("quotes", QUOTE_BODY | {"days": 7}, key="k"))["id"] != first["id"]
        assert idempotency.forget_old() == 1
        assert list(IdempotentRequest.objects.values_list("key", flat=True)) == ["k"]


def test_a_key_survives_the_rotation_of_the_api_key_and_is_no_secret_of_others(partner: Partner) -> None:
    old, text = make_key(partner_id=partner.pk, actor="test")
    first = created(Api(text).post("quotes", QUOTE_BODY, key="k"))
    new = Api(make_key(partner_id=partner.pk, actor="test")[1])
    revoke_key(key_id=old.pk, actor="test", reason="rotated")
    assert new.post("quotes", QUOTE_BODY, key="k").json() == first
    problem(Api(text).post("quotes", QUOTE_BODY, key="k"), 401, "key_revoked")


@pytest.mark.django_db(transaction=True)
def test_of_eight_requests_at_once_one_acts(
    transactional_db: None, key_text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And, as the control, all of them without the claim: else the race would prove nothing."""
    with races.own_connections():
        told = _at_once(key_text)
        assert Quote.objects.count() == 1
        assert set(told) <= {(201, None), (409, "idempotency_in_progress")}
        assert (201, None) in told
        monkeypatch.setattr(idempotent, "claim", lambda _asked: Claim(row_id=0, token=uuid4()))
        monkeypatch.setattr(idempotent, "keep", lambda _claimed, _answer: None)
        assert _at_once(key_text) == [(201, None)] * 8
        assert Quote.objects.count() == 9


def _at_once(key_text: str) -> list[tuple[int, str | None]]:
    found = races.at_once(8, lambda _number: Api(key_text).post("quotes", QUOTE_BODY, key="k"))
    return [(answer.status_code, answer.json().get("code")) for answer in found]


def _locked(partner: Partner, key: str, endpoint: str, body: dict[str, Any]) -> None:
    """As a request leaves it that is running, or was killed."""
    asked = Asked(partner_id=partner.pk, key=key, endpoint=endpoint, body_hash=idempotency.hash_of(body))
    assert isinstance(idempotency.claim(asked), Claim)
