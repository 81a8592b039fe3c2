"""Staff logins are bounded before a password is hashed, also for tries at once."""

from collections.abc import Callable
from datetime import timedelta
from threading import Barrier
from typing import Any

import pytest
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from core import locks, staff_login
from core.models import AuditEntry, LoginAttempt
from core.tasks import sweep_logins
from tests.races import at_once, own_connections

ADDRESS = "/admin/login/"
PASSWORD = "right-0123456789"
TRIES = 24


@pytest.fixture
def chief(settings: Settings) -> User:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # counted here, not timed
    return User.objects.create_superuser("chief", password=PASSWORD)


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names whose password was looked at."""
    names: list[str] = []
    check = ModelBackend.authenticate

    def counted(self: Any, request: Any, username: str | None = None, **rest: Any) -> Any:
        names.append(str(username))
        return check(self, request, username=username, **rest)

    monkeypatch.setattr(ModelBackend, "authenticate", counted)
    return names


def log_in(password: str, *, name: str = "chief", address: str = "198.51.100.7", next_page: str = "") -> Any:
    return Client(REMOTE_ADDR=address).post(
        ADDRESS, {"username": name, "password": password, "next": next_page}
    )


@pytest.mark.django_db
def test_the_eleventh_try_hears_429_and_no_password_is_looked_at(chief: User, hashed: list[str]) -> None:
    for _number in range(10):
        assert log_in("wrong").status_code == 200
    looked_at = len(hashed)
    refused = log_in(PASSWORD)
    assert refused.status_code == 429
    assert 890 <= int(refused["Retry-After"]) <= 901
    assert "no password is checked" in refused.content.decode()
    assert len(hashed) == looked_at == 10


@pytest.mark.django_db
def test_the_right_password_works_after_the_wait(chief: User, later: Callable[[timedelta], None]) -> None:
    for _number in range(10):
        log_in("wrong")
    refused = log_in(PASSWORD)
    later(timedelta(seconds=int(refused["Retry-After"])))
    answer = log_in(PASSWORD)
    assert answer.status_code == 302
    later(staff_login.WINDOW)
    sweep_logins()
    assert not LoginAttempt.objects.exists()


@pytest.mark.django_db
def test_other_networks_and_other_accounts_are_not_held_up(chief: User) -> None:
    User.objects.create_superuser("deputy", password=PASSWORD)
    for number in range(10):
        log_in("wrong", address=f"198.51.100.{number}")
    assert log_in(PASSWORD).status_code == 429
    assert log_in(PASSWORD, name="Chief").status_code == 429
    assert log_in(PASSWORD, address="203.0.113.7").status_code == 302
    assert log_in(PASSWORD, name="deputy").status_code == 302


@pytest.mark.django_db
def test_one_network_tries_thirty_times_whatever_the_names(chief: User) -> None:
    assert {log_in("x", name=f"name-{number}").status_code for number in range(30)} == {200}
    assert log_in(PASSWORD).status_code == 429
    assert LoginAttempt.objects.count() == 30
    assert log_in(PASSWORD, address="203.0.113.7").status_code == 302


@pytest.mark.django_db
def test_logins_that_succeed_are_not_counted(chief: User) -> None:
    assert {log_in(PASSWORD).status_code for _number in range(12)} == {302}
    assert not LoginAttempt.objects.exists()


@pytest.mark.django_db
def test_the_audit_names_the_account_once_and_never_a_name_that_nobody_has(chief: User) -> None:
    for _number in range(14):
        log_in("wrong")
        log_in("wrong", name="hunter2", address="203.0.113.7")
    entries = AuditEntry.objects.filter(action="login.limited").order_by("id")
    assert [entry.subject for entry in entries] == ["staff:chief", "staff:unknown"]
    assert entries[0].after == {"network": "198.51.100.0/24"}
    assert "hunter2" not in str(list(LoginAttempt.objects.values()))


@pytest.mark.django_db(transaction=True)
def test_tries_at_once_get_no_more(chief: User, hashed: list[str]) -> None:
    with own_connections():
        answers = at_once(TRIES, lambda _number: log_in("wrong").status_code)
    assert sorted(answers) == [200] * 10 + [429] * (TRIES - 10)
    assert len(hashed) == 10


@pytest.mark.django_db(transaction=True)
def test_control_without_the_lock_tries_at_once_get_more(
    chief: User, hashed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    everybody_has_counted = Barrier(TRIES, timeout=30)
    create = LoginAttempt.objects.create

    def create_late(**values: Any) -> LoginAttempt:
        everybody_has_counted.wait()
        return create(**values)

    monkeypatch.setattr(locks, "lock_login_network", lambda _network: None)
    monkeypatch.setattr(LoginAttempt.objects, "create", create_late)
    with own_connections():
        at_once(TRIES, lambda _number: log_in("wrong"))
    assert len(hashed) == TRIES


@pytest.mark.django_db
@pytest.mark.parametrize(
    "target",
    ["https://evil.example/", "//evil.example", "/\\evil.example", "\t//evil.example", "https:evil.example",
     "javascript:alert(1)", "http://testserver/admin/", "///evil.example", "evil.example", ""],
)  # fmt: skip
def test_s41_an_unsafe_next_leads_to_the_desk(chief: User, target: str) -> None:
    answer = log_in(PASSWORD, next_page=target)
    assert (answer.status_code, answer["Location"]) == (302, "/admin/")


@pytest.mark.django_db
def test_a_safe_next_is_followed(chief: User) -> None:
    answer = log_in(PASSWORD, next_page="/admin/core/decision/")
    assert answer["Location"] == "/admin/core/decision/"
