"""Claims, decisions, mail, sweeps, audit and the units column, each against the database."""

import uuid
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.core import mail as transport
from django.db import ProgrammingError, transaction
from pytest_django import Settings

from core import claims, clock, decisions, mail, sweeps
from core.errors import Conflict
from core.fields import UnitsField
from core.models import AuditEntry, ClockOffset, Decision, Event, OutgoingMail, SweepRun
from core.services.close import close_with_note

pytestmark = pytest.mark.django_db


def queued(key: str = "k1") -> OutgoingMail:
    return mail.queue_mail(key=key, to="ada@example.com", language="en", subject="Hello", text="text")


# Claims


def test_a_claim_keeps_others_out_until_it_is_given_back() -> None:
    rows = OutgoingMail.objects.filter(pk=queued().pk)
    token = claims.claim(rows, seconds=60)
    assert token is not None
    assert claims.claim(rows, seconds=60) is None
    assert claims.release(rows, token=uuid.uuid4()) is False
    assert claims.claim(rows, seconds=60) is None
    assert claims.release(rows, token=token) is True
    assert claims.claim(rows, seconds=60) is not None


def test_a_claim_of_a_killed_worker_runs_out_and_its_token_is_stale() -> None:
    rows = OutgoingMail.objects.filter(pk=queued().pk)
    killed = claims.claim(rows, seconds=60)
    rows.update(claim_until=clock.system_now() - timedelta(seconds=1))
    second = claims.claim(rows, seconds=60)
    assert killed is not None
    assert second not in {None, killed}
    assert claims.release(rows, token=killed) is False


# Mail


def test_a_mail_is_sent_once_however_often_it_is_asked_for() -> None:
    first, again = queued(), queued()
    assert first.pk == again.pk
    assert mail.send_one(first.pk) is True
    assert mail.send_one(first.pk) is False
    assert len(transport.outbox) == 1
    row = OutgoingMail.objects.get()
    assert (row.status, row.claim_token) == ("sent", None)
    assert row.sent_at is not None


def test_a_mail_under_way_is_left_alone() -> None:
    row = queued()
    claims.claim(OutgoingMail.objects.filter(pk=row.pk), seconds=60)
    assert mail.send_one(row.pk) is False
    assert transport.outbox == []


def test_headers_hold_one_line_each() -> None:
    row = mail.queue_mail(
        key="k", to="a@example.com\r\nBcc: b@example.com", language="en", subject="a\r\nBcc: x", text="t"
    )
    assert "\n" not in row.to + row.subject
    assert "\r" not in row.to + row.subject


def test_a_mail_that_cannot_leave_is_tried_again_and_then_is_a_decision(settings: Settings) -> None:
    settings.EMAIL_BACKEND = "tests.core.broken_mail.Backend"
    row = queued()
    other = queued("k2")
    for attempt in range(1, mail.MAX_ATTEMPTS + 1):
        assert mail.send_one(row.pk) is False
        row.refresh_from_db()
        assert row.attempts == attempt
        assert row.claim_token is None
        assert row.next_at > clock.system_now()
    assert row.status == "failed"
    assert "no transport" in row.last_error
    assert Decision.objects.get().kind == "mail_failed"
    assert mail.due_ids() == [other.pk]


# Decisions


def test_a_decision_is_open_once_and_its_facts_are_refreshed() -> None:
    first = decisions.open_decision(kind="refund_due", subject="order:1", facts={"a": 1})
    again = decisions.open_decision(kind="refund_due", subject="order:1", facts={"a": 2})
    assert first.pk == again.pk
    assert Decision.objects.get().facts == {"a": 2}


def test_a_closed_decision_stays_closed_and_a_new_cause_opens_another() -> None:
    row = decisions.open_decision(kind="refund_due", subject="order:1")
    close_with_note(decision=row, actor="anna", reason="sent by hand")
    with pytest.raises(Conflict, match="already_done"):
        close_with_note(decision=row, actor="ben", reason="again")
    row.refresh_from_db()
    assert (row.closed_by, row.reason) == ("anna", "sent by hand")
    assert AuditEntry.objects.count() == 1
    assert decisions.open_decision(kind="refund_due", subject="order:1").pk != row.pk


def test_a_cause_that_is_gone_closes_its_decision() -> None:
    decisions.open_decision(kind="lease_failing", subject="lease:1")
    assert decisions.close_open(kind="lease_failing", subject="lease:1", reason="ready") == 1
    assert decisions.close_open(kind="lease_failing", subject="lease:1", reason="ready") == 0
    assert Decision.objects.get().closed_by == "system"


# Sweeps


def test_a_sweep_leaves_the_times_of_its_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeps, "_names", set())
    ran = []
    sweeps.sweep("test")(lambda: ran.append(1))()
    row = SweepRun.objects.get(name="test")
    assert ran == [1]
    assert row.last_started_at is not None
    assert row.last_finished_at is not None
    assert row.last_started_at <= row.last_finished_at
    assert row.last_product_at is not None
    assert sweeps.names() == {"test"}


def test_a_sweep_that_breaks_keeps_the_time_of_its_last_full_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeps, "_names", set())
    calls: list[int] = []

    def work() -> None:
        calls.append(1)
        if len(calls) == 2:
            raise ZeroDivisionError("no")

    run = sweeps.sweep("test")(work)
    run()
    finished = SweepRun.objects.get(name="test").last_finished_at
    with pytest.raises(ZeroDivisionError):
        run()
    row = SweepRun.objects.get(name="test")
    assert row.last_finished_at == finished
    assert "ZeroDivisionError" in row.last_error
    run()
    assert SweepRun.objects.get(name="test").last_error == ""


# Clock


def test_the_demo_moves_its_clock_forward_only_and_the_system_clock_stays() -> None:
    before = clock.now()
    clock.skip(timedelta(days=2))
    assert clock.now() - before >= timedelta(days=2)
    assert abs(clock.system_now() - datetime.now(UTC)) < timedelta(seconds=5)
    clock.skip(timedelta(hours=1))
    assert clock.offset() == timedelta(days=2, hours=1)
    for back in (timedelta(0), timedelta(seconds=-1)):
        with pytest.raises(ValueError, match="forward"):
            clock.skip(back)


def test_outside_of_the_demo_nobody_moves_the_clock(settings: Settings) -> None:
    ClockOffset.objects.create(pk=1, offset=timedelta(days=9))
    settings.DEMO = False
    assert abs(clock.now() - datetime.now(UTC)) < timedelta(seconds=5)
    with pytest.raises(RuntimeError):
        clock.skip(timedelta(days=1))


# Append-only tables and the units column


def test_the_database_refuses_to_change_or_remove_an_event() -> None:
    row = Event.objects.create(name="a.b", subject="a:1", at=clock.now())
    for change in (lambda: Event.objects.update(name="x"), lambda: Event.objects.filter(pk=row.pk).delete()):
        with pytest.raises(ProgrammingError, match="never changed"), transaction.atomic():
            change()
    assert Event.objects.get().name == "a.b"


@pytest.mark.parametrize("units", [0, 1, 10**18, 2**256 - 1])
def test_units_are_integers_on_both_sides(units: int) -> None:
    field = UnitsField()
    assert (field.max_digits, field.decimal_places) == (78, 0)
    assert field.get_prep_value(units) == Decimal(units)
    value = field.from_db_value(Decimal(units))
    assert value == units
    assert isinstance(value, int)
    assert field.to_python(str(units)) == units
    assert field.from_db_value(None) is None
