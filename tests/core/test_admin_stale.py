"""Concurrent saves of one row: the form that was opened first and saved last does not undo the other one."""

import threading
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from catalog.models import Option
from core import admin_rows, locks
from core.models import AuditEntry
from tests import scenario
from tests.core.desk import address, staff


@pytest.fixture
def option(db: None) -> Option:
    scenario.open_shop()
    return Option.objects.get(code="nvme-extra")


def opened(client: Client, row: Option) -> dict[str, Any]:
    """What the browser would send back of an untouched form."""
    context = client.get(address(row)).context
    form = context["adminform"].form
    values = {name: form[name].value() for name in form.fields}
    return {"_shown": context["shown"]} | {name: value for name, value in values.items() if value}


def saved(client: Client, row: Option, form: dict[str, Any], **changes: str) -> Any:
    return client.post(address(row), form | changes)


def errors(answer: Any) -> str:
    return str(answer.context["adminform"].form.non_field_errors())


def test_the_second_save_of_an_older_form_is_refused(option: Option) -> None:
    anna, ben = staff("anna", superuser=True), staff("ben", superuser=True)
    of_anna, of_ben = opened(anna, option), opened(ben, option)
    assert saved(anna, option, of_anna, description="Fast.").status_code == 302
    late = saved(ben, option, of_ben, max_quantity="3")
    assert late.status_code == 200
    assert "Somebody else has changed this row" in errors(late)
    # The page that says so is still the old one: pressing once more does not force it through.
    assert late.context["shown"] == of_ben["_shown"]
    assert saved(ben, option, of_ben, max_quantity="3").status_code == 200
    row = Option.objects.get(pk=option.pk)
    assert (row.description, row.max_quantity) == ("Fast.", option.max_quantity)
    assert AuditEntry.objects.filter(action="option.change").count() == 1
    assert saved(ben, option, opened(ben, option), max_quantity="3").status_code == 302
    row.refresh_from_db()
    assert (row.description, row.max_quantity) == ("Fast.", 3)


def test_a_form_that_does_not_say_what_it_showed_is_refused(option: Option) -> None:
    client = staff("anna", superuser=True)
    form = opened(client, option)
    for shown in ("", "x", "a" * 64):
        assert saved(client, option, form, _shown=shown, description="Fast.").status_code == 200
    del form["_shown"]
    assert saved(client, option, form, description="Fast.").status_code == 200
    assert Option.objects.get(pk=option.pk).description == option.description


def test_an_own_mistake_is_mended_in_the_same_form(option: Option) -> None:
    client = staff("anna", superuser=True)
    form = opened(client, option)
    wrong = saved(client, option, form, max_quantity="x")
    assert wrong.context["adminform"].form.errors["max_quantity"]
    assert "Somebody else" not in errors(wrong)
    assert wrong.context["shown"] == form["_shown"]
    assert saved(client, option, form, max_quantity="3").status_code == 302


def test_only_what_was_changed_is_written(option: Option, monkeypatch: pytest.MonkeyPatch) -> None:
    """A service may write another column of the row in the same moment: it stands."""
    written: list[list[str]] = []
    plain = Option.save

    def watched(self: Option, *args: Any, **kwargs: Any) -> None:
        written.append(list(kwargs["update_fields"]))
        plain(self, *args, **kwargs)

    monkeypatch.setattr(Option, "save", watched)
    client = staff("anna", superuser=True)
    saved(client, option, opened(client, option), description="Fast.")
    assert written == [["description"]]


def test_control_without_the_comparison_the_first_save_is_undone(
    option: Option, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admin_rows, "refuses_stale", lambda form, _row, *, shown: form)
    anna, ben = staff("anna", superuser=True), staff("ben", superuser=True)
    of_anna, of_ben = opened(anna, option), opened(ben, option)
    saved(anna, option, of_anna, description="Fast.")
    assert saved(ben, option, of_ben, max_quantity="3").status_code == 302
    assert Option.objects.get(pk=option.pk).description == option.description


def both_save_at_once(option: Option) -> list[int]:
    """Each changes another figure of the form that both have opened; the status of each answer, in order."""
    clients = [staff(name, superuser=True) for name in ("anna", "ben")]
    changes = [{"description": "Fast."}, {"max_quantity": "3"}]
    shown = [opened(client, option) for client in clients]
    statuses: list[int] = []

    def work(number: int) -> None:
        try:
            statuses.append(saved(clients[number], option, shown[number], **changes[number]).status_code)
        finally:
            connection.close()

    threads = [threading.Thread(target=work, args=[number]) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    return sorted(statuses)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("is_locked", "expected"), [(True, [200, 302]), (False, [302, 302])])
def test_of_two_who_save_at_once_one_is_refused_and_without_the_lock_none(
    monkeypatch: pytest.MonkeyPatch, is_locked: bool, expected: list[int]
) -> None:
    scenario.open_shop()
    row = Option.objects.get(code="nvme-extra")
    met = threading.Barrier(2)
    read = locks.row_for_update

    def meet(row: Any) -> Any:
        found = read(row) if is_locked else type(row).objects.get(pk=row.pk)
        try:
            # Who has the lock waits for nobody: the other one cannot come so far.
            met.wait(timeout=1 if is_locked else 10)
        except threading.BrokenBarrierError:
            pass
        return found

    monkeypatch.setattr(locks, "row_for_update", meet)
    assert both_save_at_once(row) == expected
