"""Webhooks: every event of an own order once, signed, in order, retried, paused, redelivered."""

import json
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from django.conf import settings as settings_of_django
from kombu.exceptions import OperationalError
from pytest_django import Settings
from standardwebhooks import WebhookVerificationError

from core import clock, outbox
from core.errors import Conflict, Invalid, NotFound, TooMany
from core.models import Audience, Decision, Event, OutboxRow, OutgoingMail
from core.outward import Answer
from partners.event_names import event_names
from partners.event_shape import event_shape
from partners.models import DeliveryAttempt, Partner, WebhookDelivery, WebhookEndpoint
from partners.services import change_endpoint, pause_endpoint, redeliver, send_webhooks
from partners.services.make_partner import make_partner
from partners.services.pause_endpoint import resume_by_decision
from partners.services.send_test_event import send_test_event
from partners.services.tell_event import tell_event
from partners.tasks import sweep_webhooks
from partners.webhook_retries import MAX_ATTEMPTS, PAUSES, pause_after
from tests import scenario
from tests.partners import hooks
from tests.partners.hooks import Call, Receiver, endpoint_for, order_of, states, tell

pytestmark = pytest.mark.django_db
Wait = Callable[[timedelta], None]
send = send_webhooks.send_webhooks
HOUR = timedelta(hours=1)


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Receiver:
    return hooks.receive(monkeypatch)


@pytest.fixture
def wait(monkeypatch: pytest.MonkeyPatch) -> Wait:
    """Let time pass on the system clock."""
    real = clock.system_now
    passed = timedelta()

    def step(delta: timedelta) -> None:
        nonlocal passed
        passed += delta

    monkeypatch.setattr(clock, "system_now", lambda: real() + passed)
    return step


@pytest.fixture
def endpoint(partner: Partner) -> WebhookEndpoint:
    return endpoint_for(partner)


@pytest.fixture
def order(partner: Partner, endpoint: WebhookEndpoint) -> str:
    """An order of the partner, of which nothing was told yet."""
    scenario.open_shop()
    placed = order_of(partner)
    hooks.forget()
    return placed.public_id


def test_an_order_is_told_from_its_placement_on_in_the_shape_of_the_log(
    partner: Partner, endpoint: WebhookEndpoint, receiver: Receiver
) -> None:
    scenario.open_shop()
    placed = order_of(partner)
    scenario.pay(placed)
    sweep_webhooks()
    got = [call.verified(endpoint.secret) for call in receiver.calls]
    log = Event.objects.filter(order_ref=placed.public_id, audience=Audience.BUYER).order_by("pk")
    assert got == [event_shape(event) for event in log]
    assert [shape["type"] for shape in got][:2] == ["quote.accepted", "order.placed"]
    assert {"payment.settled", "order.paid", "lease.reserved"} <= {shape["type"] for shape in got}
    assert receiver.ids == [shape["id"] for shape in got]
    assert {call.url for call in receiver.calls} == {hooks.URL}
    assert {status for _name, status, _attempts in states()} == {"delivered"}
    assert DeliveryAttempt.objects.filter(number=1, status_code=200, error="").count() == len(got)


def test_nobody_is_told_of_what_is_not_his(partner: Partner, order: str, receiver: Receiver) -> None:
    other = make_partner(name="Other", slug="other", mail="o@other.example", actor="test")
    theirs = endpoint_for(other)
    web = scenario.order()
    outbox.drain()
    tell("order.paid", web.public_id)
    tell("order.paid", "ord_none")
    tell("quote.expired", "")
    tell("order.paid", order, audience=Audience.STAFF)
    assert states() == []
    tell("order.paid", order)
    assert not WebhookDelivery.objects.filter(endpoint=theirs).exists()
    assert states() == [("order.paid", "pending", 0)]


def test_an_endpoint_hears_what_it_asked_for(partner: Partner, order: str) -> None:
    some = endpoint_for(partner, events=["refund.sent", "lease.ready", "lease.ready"])
    assert some.events == ["lease.ready", "refund.sent"]
    for name in ("lease.ready", "order.paid"):
        tell(name, order)
    told = WebhookDelivery.objects.filter(endpoint=some)
    assert [row.event_name for row in told] == ["lease.ready"]
    with pytest.raises(Invalid, match="unknown_event"):
        endpoint_for(partner, events=["lease.login"])
    assert "lease.login" not in event_names()
    assert len(event_names()) >= 44


def test_an_event_told_twice_makes_one_delivery(order: str) -> None:
    event = tell("order.paid", order)
    assert tell_event(event) == 1
    assert states() == [("order.paid", "pending", 0)]


def test_an_event_of_nobody_costs_one_query(
    order: str, django_assert_num_queries: Callable[..., object]
) -> None:
    event = Event.objects.create(name="order.paid", subject="order:1", order_ref="ord_x", at=clock.now())
    with django_assert_num_queries(1):  # type: ignore[attr-defined]
        tell_event(event)


def test_nothing_is_lost_without_a_broker(
    order: str, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*_: object, **__: object) -> None:
        raise OperationalError("no broker")

    monkeypatch.setattr("celery.app.base.Celery.send_task", gone)
    tell("order.paid", order)
    assert OutboxRow.objects.filter(handler="partners.on_event", status="pending").count() == 0
    sweep_webhooks()
    assert len(receiver.calls) == 1


def test_order_is_kept_for_one_order_and_another_does_not_wait(
    partner: Partner, endpoint: WebhookEndpoint, order: str, receiver: Receiver, wait: Wait
) -> None:
    other = order_of(partner).public_id
    hooks.forget()
    first = tell("order.paid", order)
    second = tell("order.provisioning", order)
    third = tell("order.paid", other)
    ids = {event: event_shape(event)["id"] for event in (first, second, third)}
    receiver.answer = lambda call: Answer(500 if call.id == ids[first] else 200, "", 1)
    send()
    assert sorted(receiver.ids) == sorted([ids[first], ids[third]])
    receiver.answer = None
    send()
    assert len(receiver.calls) == 2  # its pause is not over
    wait(PAUSES[0])
    send()
    assert receiver.ids[2:] == [ids[first], ids[second]]


def test_the_next_goes_on_when_the_former_is_given_up(
    endpoint: WebhookEndpoint, order: str, receiver: Receiver, settings: Settings, wait: Wait
) -> None:
    settings.WEBHOOK_PAUSE_AFTER_SECONDS = 30 * 86400
    first = event_shape(tell("order.paid", order))["id"]
    tell("order.provisioning", order)
    receiver.answer = lambda call: Answer(500 if call.id == first else 200, "", 1)
    pauses = []
    for _ in range(MAX_ATTEMPTS):
        send()
        row = WebhookDelivery.objects.order_by("pk")[0]
        pauses.append(row.next_at - clock.system_now())
        wait(max(pauses[-1], timedelta()) + timedelta(seconds=1))
    assert [round(pause / timedelta(seconds=1)) for pause in pauses[:-1]] == [
        round(pause / timedelta(seconds=1)) for pause in PAUSES
    ]
    assert states() == [("order.paid", "failed", 15), ("order.provisioning", "delivered", 1)]
    numbers = DeliveryAttempt.objects.filter(delivery=row).values_list("number", flat=True)
    assert list(numbers) == list(range(1, 16))


def test_the_schedule_grows_and_covers_three_days() -> None:
    assert list(PAUSES) == sorted(PAUSES)
    assert timedelta(days=3) <= sum(PAUSES, timedelta()) <= timedelta(days=3, hours=1)
    assert [pause_after(number) for number in (1, 14, 15)] == [PAUSES[0], PAUSES[-1], None]


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (200, "delivered"), (204, "delivered"), (299, "delivered"), (0, "pending"), (199, "pending"), (302, "pending"),
        (400, "pending"), (401, "pending"), (404, "pending"), (429, "pending"), (500, "pending"), (410, "failed"),
    ],
)  # fmt: skip
def test_what_an_answer_means(order: str, receiver: Receiver, status: int, expected: str) -> None:
    tell("order.paid", order)
    receiver.status = status
    send()
    assert states() == [("order.paid", expected, 1)]
    attempt = DeliveryAttempt.objects.get()
    assert (attempt.status_code, attempt.error) == (status or None, "" if status else "timeout")
    paused = WebhookEndpoint.objects.get().status == "paused"
    assert paused == (status == 410)


def test_both_secrets_sign_for_a_day_after_a_rotation(
    endpoint: WebhookEndpoint, order: str, receiver: Receiver, wait: Wait
) -> None:
    old = endpoint.secret
    new = change_endpoint.rotate_secret(endpoint_id=endpoint.pk, actor="test").secret
    assert new != old
    tell("order.paid", order)
    send()
    for secret in (old, new):
        assert receiver.calls[0].verified(secret)["type"] == "order.paid"
    with pytest.raises(WebhookVerificationError):
        receiver.calls[0].verified(endpoint_for(endpoint.partner).secret)
    WebhookEndpoint.objects.filter(pk=endpoint.pk).update(
        former_secret_until=clock.system_now() - timedelta(seconds=1)
    )
    tell("order.provisioning", order)
    send()
    last = [call for call in receiver.calls if len(call.headers["webhook-signature"].split()) == 1][-1]
    with pytest.raises(WebhookVerificationError):
        last.verified(old)


def test_a_changed_body_or_id_does_not_verify(
    endpoint: WebhookEndpoint, order: str, receiver: Receiver
) -> None:
    tell("order.paid", order)
    send()
    call = receiver.calls[0]
    for changed in (
        Call(call.url, call.body.replace(b"paid", b"free"), call.headers),
        Call(call.url, call.body, call.headers | {"webhook-id": "evt_x"}),
        Call(call.url, call.body, call.headers | {"webhook-timestamp": "1"}),
    ):
        with pytest.raises(WebhookVerificationError):
            changed.verified(endpoint.secret)


def test_three_days_without_success_pause_it_with_one_mail_and_a_decision(
    endpoint: WebhookEndpoint, order: str, receiver: Receiver, wait: Wait
) -> None:
    tell("order.paid", order)
    tell("order.provisioning", order)
    receiver.status = 0
    for pause in PAUSES:
        send()
        wait(pause + timedelta(seconds=1))
    assert not OutgoingMail.objects.filter(key__startswith="webhook").exists()
    send()
    endpoint.refresh_from_db()
    assert endpoint.status == "paused"
    mail = OutgoingMail.objects.get(key__startswith="webhook")
    assert (mail.to, mail.language) == ("api@acme.example", "en")
    assert "For 3 days your address https://hooks.example.com/in" in mail.text
    assert f"/en/partner/webhooks/{endpoint.public_id}/" in mail.text
    decision = Decision.objects.get(kind="webhook_paused", closed_at=None)
    assert decision.facts["cause"] == "failing"
    assert [status for _name, status, _attempts in states()] == ["failed", "failed"]
    tell("order.active", order)  # missed, and in the log
    calls = len(receiver.calls)
    assert send() == 0
    resume_by_decision(decision=decision, actor="chief", reason="they mended it")
    with pytest.raises(Conflict, match="already_done"):
        resume_by_decision(decision=decision, actor="chief", reason="again")
    receiver.status = 200
    assert send() == 0
    assert redeliver.redeliver_missed(endpoint_id=endpoint.pk, actor="test") == 3
    send()
    types = [json.loads(call.body)["type"] for call in receiver.calls[calls:]]
    assert types == ["order.paid", "order.provisioning", "order.active"]
    endpoint.refresh_from_db()
    assert (endpoint.status, endpoint.failing_since, endpoint.paused_at) == ("active", None, None)


def test_one_success_ends_the_failing(
    endpoint: WebhookEndpoint, order: str, receiver: Receiver, wait: Wait
) -> None:
    tell("order.paid", order)
    receiver.status = 500
    send()
    endpoint.refresh_from_db()
    assert endpoint.failing_since is not None
    receiver.status = 200
    wait(HOUR)
    send()
    endpoint.refresh_from_db()
    assert endpoint.failing_since is None


def test_a_person_pauses_and_resumes_and_the_second_click_hears_so(
    endpoint: WebhookEndpoint, order: str, receiver: Receiver
) -> None:
    tell("order.paid", order)
    pause_endpoint.pause_endpoint(endpoint_id=endpoint.pk, actor="member:a@acme.example")
    with pytest.raises(Conflict, match="already_done"):
        pause_endpoint.pause_endpoint(endpoint_id=endpoint.pk, actor="x")
    delivery = WebhookDelivery.objects.get()
    with pytest.raises(Conflict, match="endpoint_paused"):
        redeliver.redeliver(delivery_id=delivery.pk, actor="x")
    assert send() == 0
    pause_endpoint.resume_endpoint(endpoint_id=endpoint.pk, actor="x")
    with pytest.raises(Conflict, match="already_done"):
        pause_endpoint.resume_endpoint(endpoint_id=endpoint.pk, actor="x")
    redeliver.redeliver(delivery_id=delivery.pk, actor="x")
    send()
    assert states() == [("order.paid", "delivered", 1)]
    assert not OutgoingMail.objects.filter(key__startswith="webhook").exists()


def test_a_redelivery_is_the_same_message_and_holds_up_no_later_one(
    endpoint: WebhookEndpoint, order: str, receiver: Receiver
) -> None:
    tell("order.paid", order)
    send()
    row = WebhookDelivery.objects.get()
    # As after hours of a program that asks again and again: the sweep of everybody must not end at it.
    DeliveryAttempt.objects.update(number=2**15)
    redeliver.redeliver(delivery_id=row.pk, actor="test")
    receiver.status = 500
    send()
    receiver.status = 200
    tell("order.provisioning", order)
    send()
    assert [call.verified(endpoint.secret)["type"] for call in receiver.calls] == [
        "order.paid", "order.paid", "order.provisioning",
    ]  # fmt: skip
    assert receiver.calls[0].body == receiver.calls[1].body
    assert receiver.ids[0] == receiver.ids[1]


def test_a_test_event_is_tried_once_also_while_paused(endpoint: WebhookEndpoint, receiver: Receiver) -> None:
    pause_endpoint.pause_endpoint(endpoint_id=endpoint.pk, actor="x")
    row = send_test_event(endpoint_id=endpoint.pk, actor="test")
    receiver.status = 500
    send()
    assert states() == [("webhook.test", "failed", 1)]
    body = receiver.calls[0].verified(endpoint.secret)
    assert (body["type"], body["id"], body["order"]) == ("webhook.test", row.message_id, "")
    with pytest.raises(Conflict, match="endpoint_paused"):
        redeliver.redeliver(delivery_id=row.pk, actor="x")
    endpoint.refresh_from_db()
    assert endpoint.failing_since is None
    for _ in range(3):
        send_test_event(endpoint_id=endpoint.pk, actor="test")
    with pytest.raises(TooMany, match="too_many_tests"):
        send_test_event(endpoint_id=endpoint.pk, actor="test")


def test_a_deleted_endpoint_hears_nothing_and_keeps_its_log(
    endpoint: WebhookEndpoint, order: str, receiver: Receiver
) -> None:
    tell("order.paid", order)
    change_endpoint.delete_endpoint(endpoint_id=endpoint.pk, actor="test")
    tell("order.provisioning", order)
    assert send() == 0
    assert states() == [("order.paid", "failed", 0)]
    endpoint.refresh_from_db()
    assert (endpoint.secret, endpoint.former_secret) == ("", "")
    for act in (
        change_endpoint.delete_endpoint,
        change_endpoint.rotate_secret,
        pause_endpoint.pause_endpoint,
    ):
        with pytest.raises(NotFound):
            act(endpoint_id=endpoint.pk, actor="test")


def test_a_partner_that_was_switched_off_gets_nothing(
    endpoint: WebhookEndpoint, order: str, receiver: Receiver
) -> None:
    tell("order.paid", order)
    Partner.objects.update(active=False)
    tell("order.provisioning", order)
    assert send() == 0
    assert states() == [("order.paid", "pending", 0), ("order.provisioning", "failed", 0)]


def test_an_address_is_judged_again_at_each_attempt(
    endpoint: WebhookEndpoint, order: str, receiver: Receiver
) -> None:
    WebhookEndpoint.objects.update(url="https://10.0.0.1/")
    tell("order.paid", order)
    send()
    assert receiver.calls == []
    assert DeliveryAttempt.objects.get().error == "url_inward"


def test_endpoints_are_bounded_and_their_fields_are_checked(partner: Partner) -> None:
    for _ in range(change_endpoint.MAX_ENDPOINTS):
        made = endpoint_for(partner)
    with pytest.raises(Conflict, match="too_many_endpoints"):
        endpoint_for(partner)
    change_endpoint.delete_endpoint(endpoint_id=made.pk, actor="test")
    assert endpoint_for(partner).secret.startswith("whsec_")
    with pytest.raises(Invalid, match="too_long"):
        endpoint_for(partner, note="x" * 201)
    secrets = WebhookEndpoint.objects.values_list("secret", flat=True)
    assert len(set(secrets)) == len(secrets)


def test_the_body_is_frozen_and_small(endpoint: WebhookEndpoint, order: str) -> None:
    event = tell("order.paid", order, payload={"name": "Ünï", "amount": "1.50"})
    row = WebhookDelivery.objects.get()
    assert json.loads(row.body) == event_shape(event)
    assert "Ünï" in row.body
    assert row.message_id == f"evt_{event.pk:012d}"


def test_times_are_of_the_system_clock(endpoint: WebhookEndpoint, order: str, receiver: Receiver) -> None:
    clock.skip(timedelta(days=2))
    tell("order.paid", order)
    send()
    stamp = int(receiver.calls[0].headers["webhook-timestamp"])
    assert abs(stamp - clock.system_now().timestamp()) < 60
    at = datetime.fromisoformat(receiver.calls[0].verified(endpoint.secret)["at"])
    assert at - clock.system_now() > timedelta(days=1)


def test_the_document_has_the_same_schedule() -> None:
    """Each pause by its row: the attempt that it comes before."""
    text = (Path(settings_of_django.BASE_DIR) / "docs" / "webhooks.md").read_text(encoding="utf-8")
    table = text.partition("| attempt | pause before it |")[2].partition("\n\n")[0]
    units = {"second": 1, "minute": 60, "hour": 3600}
    found = []
    for attempts, number, unit in re.findall(r"\| ([0-9, to]+) \| (\d+) (second|minute|hour)s? \|", table):
        numbers = [int(one) for one in re.findall(r"\d+", attempts)]
        count = numbers[-1] - numbers[0] + 1
        found += [timedelta(seconds=int(number) * units[unit])] * count
    assert tuple(found) == PAUSES
