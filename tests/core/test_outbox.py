"""The outbox: each handler once per event, in order per subject, a failing one holds up no other."""

import threading
from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from celery import current_app
from django.db import connection, transaction
from kombu.exceptions import OperationalError
from pytest_django import Settings

from core import clock, hints, outbox
from core.errors import Conflict
from core.events import emit
from core.models import AuditEntry, Decision, Event, OutboxRow
from core.services.try_again import try_again

Wait = Callable[[float], None]


@pytest.fixture
def wait(monkeypatch: pytest.MonkeyPatch) -> Wait:
    """Let so many seconds pass on the system clock."""
    real = clock.system_now
    passed = timedelta()

    def shifted() -> datetime:
        return real() + passed

    def step(seconds: float) -> None:
        nonlocal passed
        passed += timedelta(seconds=seconds)

    monkeypatch.setattr(clock, "system_now", shifted)
    return step


@pytest.fixture(autouse=True)
def heard(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Two handlers of one event; the first fails for events that say so. What was handled, in order."""
    names: list[str] = []

    def first(event: Event) -> None:
        AuditEntry.objects.create(actor="t", action="first", subject=event.subject, at=clock.now())
        names.append(f"first {event.payload.get('n')}")
        if event.payload.get("fails"):
            raise ZeroDivisionError("no")

    def second(event: Event) -> None:
        names.append(f"second {event.payload.get('n')}")

    monkeypatch.setitem(outbox._handlers, "test.first", first)
    monkeypatch.setitem(outbox._handlers, "test.second", second)
    settings.DOMAIN_EVENT_HANDLERS = {"thing.done": ["test.first", "test.second"], "thing.alone": []}
    return names


def tell(subject: str = "thing:1", **payload: object) -> Event:
    with transaction.atomic():
        return emit(name="thing.done", subject=subject, payload=payload)


@pytest.mark.django_db(transaction=True)
def test_an_event_outside_of_a_transaction_is_refused() -> None:
    with pytest.raises(RuntimeError, match="transaction"):
        emit(name="thing.done", subject="thing:1")
    assert not Event.objects.exists()


@pytest.mark.django_db
def test_each_handler_hears_an_event_once(heard: list[str]) -> None:
    tell(n=1)
    assert OutboxRow.objects.count() == 2
    assert outbox.drain() == 2
    assert outbox.drain() == 0
    assert sorted(heard) == ["first 1", "second 1"]
    for row in OutboxRow.objects.all():
        assert outbox.process(row.pk) is False  # a task that is delivered twice
    assert len(heard) == 2


@pytest.mark.django_db
def test_an_event_without_handlers_is_a_fact_all_the_same() -> None:
    with transaction.atomic():
        emit(name="thing.alone", subject="thing:1")
    assert Event.objects.count() == 1
    assert not OutboxRow.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_an_event_that_is_rolled_back_was_never_told(heard: list[str]) -> None:
    with transaction.atomic():
        emit(name="thing.done", subject="thing:1")
        assert OutboxRow.objects.count() == 2
        transaction.set_rollback(True)
    assert not Event.objects.exists()
    assert not OutboxRow.objects.exists()


@pytest.mark.django_db
def test_a_handler_that_fails_leaves_nothing_and_holds_up_no_other(heard: list[str]) -> None:
    tell(n=1, fails=True)
    outbox.drain()
    assert "second 1" in heard
    row = OutboxRow.objects.get(handler="test.first")
    assert (row.status, row.attempts) == ("pending", 1)
    assert "ZeroDivisionError" in row.last_error
    assert row.next_at > clock.system_now()
    assert not AuditEntry.objects.exists()


@pytest.mark.django_db
def test_a_later_event_of_the_subject_waits_and_one_of_another_does_not(heard: list[str], wait: Wait) -> None:
    failing = tell("thing:1", n=1, fails=True)
    tell("thing:1", n=2)
    tell("thing:2", n=3)
    outbox.drain()
    assert [name for name in heard if name.startswith("first")] == ["first 1", "first 3"]
    OutboxRow.objects.filter(event=failing, handler="test.first").update(status="done")
    outbox.drain()
    assert heard[-1] == "first 2"


@pytest.mark.django_db
def test_pauses_grow_and_end_in_a_decision_after_which_the_next_goes_on(heard: list[str], wait: Wait) -> None:
    tell(n=1, fails=True)
    tell(n=2)
    pauses = []
    for _ in range(8):
        outbox.drain()
        row = OutboxRow.objects.get(handler="test.first", event__payload__n=1)
        pauses.append((row.next_at - clock.system_now()).total_seconds())
        wait(pauses[-1] + 1)
    assert pauses == sorted(pauses)
    assert pauses[-1] <= 600
    assert not Decision.objects.exists()
    wait(6 * 3600)
    outbox.drain()
    assert OutboxRow.objects.get(pk=row.pk).status == "parked"
    assert Decision.objects.get(kind="outbox_parked").facts["handler"] == "test.first"
    outbox.drain()
    assert heard[-1] == "first 2"


@pytest.mark.django_db
def test_a_parked_row_is_tried_again_by_its_decision_once(heard: list[str], wait: Wait) -> None:
    tell(n=1, fails=True)
    outbox.drain()
    wait(6 * 3600 + 1)
    outbox.drain()
    decision = Decision.objects.get(kind="outbox_parked")
    try_again(decision=decision, actor="staff", reason="the cause is gone")
    row = OutboxRow.objects.get(handler="test.first")
    assert (row.status, row.first_failed_at) == ("pending", None)
    handled = len(heard)
    outbox.drain()
    assert heard[handled:] == ["first 1"]
    with pytest.raises(Conflict):
        try_again(decision=decision, actor="staff", reason="again")


@pytest.mark.django_db
def test_rows_behind_a_failing_one_do_not_crowd_out_others(heard: list[str]) -> None:
    tell(n=1, fails=True)
    for number in range(2, 40):
        tell(n=number)
    tell("thing:2", n=99)
    outbox.drain()
    due = outbox.due_ids(limit=3)
    assert "first 99" in heard
    assert len(due) <= 1


@pytest.mark.django_db(transaction=True)
def test_without_a_broker_the_row_stays_and_nothing_breaks(
    heard: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_args: object, **_options: object) -> None:
        raise OperationalError("no broker")

    monkeypatch.setattr(current_app, "send_task", refuse)
    tell(n=1)
    assert hints.flush()
    assert OutboxRow.objects.filter(status="pending").count() == 2
    assert outbox.drain() == 2


@pytest.mark.django_db(transaction=True)
def test_two_workers_at_once_run_a_handler_once(heard: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    inside, go_on = threading.Event(), threading.Event()

    def slow(event: Event) -> None:
        inside.set()
        assert go_on.wait(10)
        heard.append("slow")

    monkeypatch.setitem(outbox._handlers, "test.first", slow)
    tell(n=1)
    row = OutboxRow.objects.get(handler="test.first")
    results: list[bool] = []

    def work() -> None:
        try:
            results.append(outbox.process(row.pk))
        finally:
            connection.close()

    first = threading.Thread(target=work)
    first.start()
    assert inside.wait(10)
    results.append(outbox.process(row.pk))  # the second worker leaves at once
    go_on.set()
    first.join(10)
    assert results == [False, True]
    assert heard == ["slow"]
