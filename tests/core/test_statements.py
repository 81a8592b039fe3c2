"""core.rows writes what `save` would write, and core.hints sends what was given as one message."""

from typing import Any

import pytest
from celery import current_app
from django.db import DatabaseError, IntegrityError, transaction

from core import clock, hints
from core.models import Event, OutboxRow
from core.rows import Change, insert, update


def event(name: str = "thing.done") -> Event:
    return Event(name=name, subject="thing:1", payload={"n": [1, "é"]}, at=clock.now())


def row(of: Event, handler: str) -> OutboxRow:
    return OutboxRow(event=of, handler=handler, subject="thing:1", next_at=clock.system_now())


@pytest.mark.django_db
def test_rows_that_point_to_each_other_are_written_as_save_writes_them() -> None:
    told = event()
    rows = [row(told, "first"), row(told, "second")]
    insert(told, *rows)
    saved = event()
    saved.save()
    assert (saved.pk, told._state.adding) == (told.pk + 1, False)
    read = Event.objects.get(pk=told.pk)
    assert (read.name, read.payload, read.at) == (told.name, told.payload, told.at)
    assert list(OutboxRow.objects.order_by("pk").values_list("pk", "event_id", "handler")) == [
        (rows[0].pk, told.pk, "first"),
        (rows[1].pk, told.pk, "second"),
    ]


@pytest.mark.django_db
def test_the_database_refuses_all_of_a_statement_or_nothing() -> None:
    told = event()
    with pytest.raises(IntegrityError), transaction.atomic():
        insert(told, row(told, "same"), row(told, "same"))
    assert not Event.objects.exists()


@pytest.mark.django_db
def test_a_change_is_written_with_the_new_rows_and_a_row_that_is_gone_is_an_error() -> None:
    told = event()
    insert(told, row(told, "first"))
    pending = OutboxRow.objects.get()
    pending.attempts, pending.handler = 3, "not named"
    insert(event("thing.next"), change=Change(pending, ["attempts"]))
    pending.refresh_from_db()
    assert (pending.attempts, pending.handler) == (3, "first")
    with pytest.raises(ValueError, match="unknown"):
        update(Change(pending, ["unknown"]))
    OutboxRow.objects.all().delete()
    with pytest.raises(DatabaseError), transaction.atomic():
        insert(event("thing.late"), change=Change(pending, ["attempts"]))
    with pytest.raises(DatabaseError), transaction.atomic():
        update(Change(pending, ["attempts"]))
    assert not Event.objects.filter(name="thing.late").exists()


def test_what_is_given_together_is_one_message_and_becomes_its_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[tuple[str, Any]] = []

    def send(task: str, *, args: Any, **_options: Any) -> None:
        sent.append((task, args))

    assert hints.flush()
    monkeypatch.setattr(current_app, "send_task", send)
    hints.give("some.task", 1)
    hints.give("some.other", 2)
    assert hints.flush()
    ((task, (given,)),) = sent
    assert task == "core.pass_on_hints"
    hints.pass_on(given)
    assert [(name, list(args)) for name, args in sent[1:]] == [("some.task", [1]), ("some.other", [2])]


def test_a_broker_that_is_gone_costs_the_caller_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[str] = []

    def refuse(task: str, **_options: Any) -> None:
        tries.append(task)
        raise OSError

    assert hints.flush()
    monkeypatch.setattr(current_app, "send_task", refuse)
    assert hints.give("some.task", 1)
    assert hints.flush()
    assert hints.give("some.task", 2)
    assert hints.flush()
    assert tries == ["some.task"]  # then it is quiet for a while
