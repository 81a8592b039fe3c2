"""Two workers, a worker that is killed, receivers that hang: each delivery goes out, none holds up another partner."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from threading import Barrier, Event, get_ident
from typing import Any

import pytest
from django.db import connection

from core import clock
from core.outward import Answer
from partners import locks
from partners.models import DeliveryAttempt, Partner, WebhookDelivery
from partners.services import send_webhooks
from partners.services.make_partner import make_partner
from partners.services.record_attempt import record_attempt
from partners.services.send_test_event import send_test_event
from partners.webhook_selectors import due_deliveries
from tests.partners import hooks
from tests.partners.hooks import Call, Receiver, endpoint_for
from tests.races import at_once

WORKERS = 4
send = send_webhooks.send_webhooks


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Receiver:
    return hooks.receive(monkeypatch)


@contextmanager
def _everybody() -> Iterator[bool]:
    yield True


def _claimed_by_all(delivery: WebhookDelivery) -> uuid.UUID:
    """No look at who has it: each worker takes what it found."""
    token, until = uuid.uuid4(), clock.system_now() + timedelta(seconds=60)
    WebhookDelivery.objects.filter(pk=delivery.pk).update(claim_token=token, claim_until=until)
    return token


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("lock", "claim", "calls"),
    [(True, True, 1), (False, True, 1), (False, False, WORKERS)],
    ids=["as built", "claim alone", "control: neither"],
)
def test_workers_at_once_send_one_delivery(
    partner: Partner,
    receiver: Receiver,
    monkeypatch: pytest.MonkeyPatch,
    lock: bool,
    claim: bool,
    calls: int,
) -> None:
    send_test_event(endpoint_id=endpoint_for(partner).pk, actor="test")
    everybody_has_looked = Barrier(WORKERS, timeout=30)
    look = due_deliveries
    looked: list[int] = []

    def look_together(**bounds: int) -> Any:
        """The first look of each worker finds it; only then does one of them claim."""
        found = look(**bounds)
        if not lock and get_ident() not in looked:
            looked.append(get_ident())
            everybody_has_looked.wait()
        return found

    if not lock:
        monkeypatch.setattr(locks, "only_webhook_sender", _everybody)
    if not claim:
        monkeypatch.setattr(send_webhooks, "claim_delivery", _claimed_by_all)
    monkeypatch.setattr(send_webhooks, "due_deliveries", look_together)
    results = at_once(WORKERS, lambda _: send())
    assert sorted(results) == [0, 0, 0, 1]  # whoever sent, one result was written
    assert len(receiver.calls) == calls
    assert DeliveryAttempt.objects.count() == 1
    connection.close()


class _Killed(BaseException):
    pass


@pytest.mark.django_db
def test_a_worker_that_is_killed_after_sending_sends_the_same_id_again(
    partner: Partner, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    send_test_event(endpoint_id=endpoint_for(partner).pk, actor="test")

    def killed(**_: object) -> bool:
        raise _Killed

    with monkeypatch.context() as patch:
        patch.setattr(send_webhooks, "record_attempt", killed)
        with pytest.raises(_Killed):
            send()
    assert send() == 0  # its claim holds
    assert len(receiver.calls) == 1
    later = clock.system_now() + timedelta(seconds=send_webhooks.CLAIM_SECONDS + 1)
    monkeypatch.setattr(clock, "system_now", lambda: later)
    assert send() == 1
    assert len(receiver.calls) == 2
    assert receiver.ids[0] == receiver.ids[1]
    assert receiver.calls[0].body == receiver.calls[1].body


@pytest.mark.django_db
def test_a_late_result_of_another_worker_changes_nothing(partner: Partner, receiver: Receiver) -> None:
    row = send_test_event(endpoint_id=endpoint_for(partner).pk, actor="test")
    stale = send_webhooks.claim_delivery(row)
    assert stale is not None
    WebhookDelivery.objects.update(claim_token=uuid.uuid4())
    assert record_attempt(delivery_id=row.pk, token=stale, answer=Answer(200, "", 1)) is False
    assert hooks.states() == [("webhook.test", "pending", 0)]
    assert not DeliveryAttempt.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize("bounded", [True, False], ids=["as built", "control: no bound"])
def test_a_partner_whose_receivers_hang_holds_up_no_other(
    partner: Partner, receiver: Receiver, monkeypatch: pytest.MonkeyPatch, bounded: bool
) -> None:
    good = make_partner(name="Good", slug="good", mail="g@good.example", actor="test")
    for number in range(6):
        hanging = endpoint_for(partner, url=f"https://hang.example.com/{number}")
        for _ in range(3):
            send_test_event(endpoint_id=hanging.pk, actor="test")
    send_test_event(endpoint_id=endpoint_for(good).pk, actor="test")
    heard, together = Event(), []

    def answer(call: Call) -> Answer:
        if call.url == hooks.URL:
            heard.set()
            return Answer(200, "", 1)
        together.append(heard.wait(5 if bounded else 0.3))
        return Answer(None, "timeout", 1)

    receiver.answer = answer
    if not bounded:
        monkeypatch.setattr(send_webhooks, "PER_PARTNER", 1000)
        monkeypatch.setattr(send_webhooks, "PER_ENDPOINT", 1000)
    send()
    assert len(receiver.calls) == 19
    assert all(together) == bounded


@pytest.mark.django_db
def test_endpoints_that_fail_leave_places_for_those_that_work(
    partner: Partner, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(send_webhooks, "PER_PARTNER", 1000)
    monkeypatch.setattr(send_webhooks, "AT_ONCE", 4)
    monkeypatch.setattr(send_webhooks, "FAILING_AT_ONCE", 3)
    for number in range(5):
        failing = endpoint_for(partner, url=f"https://hang.example.com/{number}")
        failing.failing_since = clock.system_now()
        failing.save()
        send_test_event(endpoint_id=failing.pk, actor="test")
    send_test_event(endpoint_id=endpoint_for(partner).pk, actor="test")
    heard, together = Event(), []

    def answer(call: Call) -> Answer:
        if call.url == hooks.URL:
            heard.set()
            return Answer(200, "", 1)
        together.append(heard.wait(5))
        return Answer(None, "timeout", 1)

    receiver.answer = answer
    send()
    assert together == [True] * 5


@pytest.mark.django_db
def test_one_result_that_cannot_be_written_holds_up_no_other(
    partner: Partner, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint = endpoint_for(partner)
    broken = send_test_event(endpoint_id=endpoint.pk, actor="test")
    send_test_event(endpoint_id=endpoint.pk, actor="test")

    def record(**values: Any) -> bool:
        if values["delivery_id"] == broken.pk:
            raise ZeroDivisionError
        return record_attempt(**values)

    monkeypatch.setattr(send_webhooks, "record_attempt", record)
    with pytest.raises(ZeroDivisionError):
        send()
    assert hooks.states() == [("webhook.test", "pending", 0), ("webhook.test", "delivered", 1)]
