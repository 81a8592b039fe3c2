"""Sessions of staff are short, listed, and ended from elsewhere; those of buyers and partners are left alone."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings as configured
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from core import staff_sessions
from core.admin_stale import SHOWN
from core.models import AuditEntry, StaffSession
from core.staff_browser import browser_and_system
from core.staff_sessions import ROW_KEY
from core.tasks import sweep_logins
from tests.core.desk import address, said, save, signed_in, staff

SECURITY, END = "/admin/desk/security/", "/admin/desk/security/end/"
PASSWORD, NEW_PASSWORD = "right-0123456789", "another-9876543210"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"
pytestmark = pytest.mark.django_db


@pytest.fixture
def chief(settings: Settings) -> User:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    return User.objects.create_superuser("chief", password=PASSWORD)


def log_in(client: Client, name: str = "chief", **headers: Any) -> Any:
    return client.post("/admin/login/", {"username": name, "password": PASSWORD}, **headers)


def browser(name: str = "chief") -> Client:
    client = Client(HTTP_USER_AGENT=FIREFOX, REMOTE_ADDR="198.51.100.7")
    assert log_in(client, name).status_code == 302
    return client


def is_in(client: Client) -> bool:
    return client.get(SECURITY).status_code == 200


def row_of(client: Client) -> StaffSession:
    return StaffSession.objects.get(pk=client.session[ROW_KEY])


def test_a_login_makes_a_row_that_says_from_where_and_with_what(chief: User) -> None:
    client = browser()
    row = row_of(client)
    assert (row.user, row.network, row.browser, row.system) == (
        chief, "198.51.100.0/24", "Firefox", "Linux",
    )  # fmt: skip
    page = client.get(SECURITY).content.decode()
    assert "Firefox on Linux" in page
    assert "198.51.100.0/24" in page
    assert "198.51.100.7" not in page
    assert "this browser" in page
    assert 'href="/admin/desk/security/"' in client.get("/admin/tables/").content.decode()


def test_a_key_that_was_known_before_the_login_is_worth_nothing(chief: User) -> None:
    """Session fixation: the key is new after each login, also after one over an open session."""
    victim = Client()
    victim.get("/admin/login/")
    session = victim.session
    session["planted"] = 1
    session.save()
    planted = str(session.session_key)
    victim.cookies[configured.SESSION_COOKIE_NAME] = planted
    log_in(victim)
    first = victim.session.session_key
    assert first != planted
    log_in(victim)
    assert victim.session.session_key not in (planted, first)
    assert not Session.objects.filter(session_key__in=[planted, first]).exists()
    thief = Client()
    thief.cookies[configured.SESSION_COOKIE_NAME] = planted
    assert not is_in(thief)
    assert StaffSession.objects.filter(ended_at=None).count() == 1  # the login before it is over


def test_the_cookie_is_out_of_reach_of_scripts_and_of_other_sites(chief: User) -> None:
    client = Client()
    cookie = log_in(client).cookies[configured.SESSION_COOKIE_NAME]
    assert cookie["httponly"]
    assert cookie["samesite"] in ("Lax", "Strict")
    assert bool(cookie["secure"]) is configured.SESSION_COOKIE_SECURE


def test_idle_sessions_end(chief: User, later: Callable[[timedelta], None]) -> None:
    client = browser()
    for _number in range(3):
        later(timedelta(minutes=59))
        assert is_in(client)
    later(timedelta(minutes=60))
    assert not is_in(client)
    page = client.get("/admin/", follow=True)
    assert "Your session is over" in page.content.decode()
    assert log_in(client).status_code == 302
    assert is_in(client)


def test_sessions_end_after_twelve_hours_however_busy(
    chief: User, later: Callable[[timedelta], None]
) -> None:
    client = browser()
    for _number in range(23):
        later(timedelta(minutes=31))
        assert is_in(client)
    later(timedelta(minutes=7))
    assert not is_in(client)


def test_a_page_that_asks_for_itself_is_no_sign_of_a_person(
    chief: User, later: Callable[[timedelta], None]
) -> None:
    client = browser()
    for _number in range(2):
        later(timedelta(minutes=29))
        assert client.get(SECURITY, HTTP_HX_REQUEST="true").status_code == 200
    later(timedelta(minutes=3))
    assert client.get(SECURITY, HTTP_HX_REQUEST="true").status_code == 204
    assert client.get(SECURITY).status_code == 302


def test_a_session_costs_one_query_a_request_and_one_write_a_minute(
    chief: User, later: Callable[[timedelta], None]
) -> None:
    client = browser()
    client.get("/admin/tables/")

    def of_sessions() -> list[str]:
        with CaptureQueriesContext(connection) as seen:
            client.get("/admin/tables/")
        return [query["sql"][:6] for query in seen.captured_queries if "core_staffsession" in query["sql"]]

    assert of_sessions() == ["SELECT"]
    later(timedelta(seconds=61))
    assert of_sessions() == ["SELECT", "UPDATE"]
    assert of_sessions() == ["SELECT"]


def test_an_ended_session_is_out_at_its_next_request(chief: User) -> None:
    here, there = browser(), browser()
    answer = here.post(END, {"session": row_of(there).pk})
    assert said(answer) == ["The session was ended."]
    assert is_in(here)
    assert not is_in(there)
    assert "Your session is over" in there.get("/admin/", follow=True).content.decode()
    assert said(here.post(END, {"session": row_of(there).pk})) == ["This session is over already."]
    assert AuditEntry.objects.filter(action="session.end", subject="staff:chief").count() == 1


def test_all_others_at_once_and_oneself(chief: User) -> None:
    here, others = browser(), [browser() for _number in range(3)]
    assert said(here.post(END, {"others": "1"})) == ["3 sessions were ended."]
    assert is_in(here)
    assert not any(is_in(other) for other in others)
    assert here.post(END, {"session": row_of(here).pk}).status_code == 303
    assert not is_in(here)


@pytest.mark.parametrize("number", ["", "x", "-1", "0", "9" * 40, "1\x00", "²"])
def test_an_odd_number_is_not_found(chief: User, number: str) -> None:
    assert browser().post(END, {"session": number}).status_code == 404


def test_sessions_of_others_are_seen_and_ended_with_the_permission_alone(chief: User) -> None:
    target = browser()
    plain = staff("plain", "fleet.change_node")
    assert "chief" not in plain.get(SECURITY).content.decode()
    assert plain.post(END, {"session": row_of(target).pk}).status_code == 404
    looks = staff("looks", "core.view_staffsession")
    assert "chief" in looks.get(SECURITY).content.decode()
    assert looks.post(END, {"session": row_of(target).pk}).status_code == 404
    assert is_in(target)
    ends = staff("ends", "core.view_staffsession", "core.change_staffsession")
    assert ends.post(END, {"session": row_of(target).pk}).status_code == 303
    assert not is_in(target)
    assert AuditEntry.objects.get(action="session.end").actor == "ends"


def test_pages_that_change_something_refuse_get(chief: User) -> None:
    client = browser()
    for name in ("end", "codes", "device"):
        assert client.get(f"{SECURITY}{name}/").status_code == 405


def test_a_new_password_ends_the_other_sessions(chief: User) -> None:
    here, there = browser(), browser()
    fields = {"old_password": PASSWORD, "new_password1": NEW_PASSWORD, "new_password2": NEW_PASSWORD}
    assert here.post("/admin/password_change/", fields).status_code == 302
    assert is_in(here)
    assert not is_in(there)
    assert staff_sessions.living(chief).count() == 1


def test_a_password_given_by_an_owner_ends_every_session_of_the_account(chief: User) -> None:
    deputy = User.objects.create_superuser("deputy", password=PASSWORD)
    client, theirs = browser(), browser("deputy")
    fields = {"password1": NEW_PASSWORD, "password2": NEW_PASSWORD, "usable_password": "true"}
    assert client.post(f"/admin/auth/user/{deputy.pk}/password/", fields).status_code == 302
    assert not is_in(theirs)
    assert not staff_sessions.living(deputy).exists()
    assert AuditEntry.objects.get(action="password.set").subject == "staff:deputy"


def test_who_is_switched_off_is_out(chief: User) -> None:
    deputy = User.objects.create_superuser("deputy", password=PASSWORD)
    client, theirs = browser(), browser("deputy")
    shown = client.get(address(deputy)).context["shown"]
    fields = {"username": "deputy", "is_staff": "on", "is_superuser": "on", SHOWN: shown}
    assert save(client, deputy, **fields).status_code == 302
    assert not User.objects.get(username="deputy").is_active
    assert not is_in(theirs)
    assert not staff_sessions.living(deputy).exists()


def test_without_a_row_nobody_is_in(chief: User) -> None:
    """A session of before the upgrade, or one whose number names somebody else's row."""
    client = Client()
    client.force_login(chief)
    assert not is_in(client)
    other = row_of(signed_in(User.objects.create(username="other", is_staff=True)))
    session = client.session
    session[ROW_KEY] = other.pk
    session.save()
    assert not is_in(client)


def test_signing_out_leaves_what_else_the_browser_holds(chief: User) -> None:
    client = browser()
    session = client.session
    session["partners.member"] = 1
    session.save()
    key = client.session.session_key
    assert client.get("/admin/logout/").status_code == 405
    assert client.post("/admin/logout/").status_code == 303
    assert not is_in(client)
    assert client.session["partners.member"] == 1
    assert client.session.session_key != key


def test_other_pages_ask_nothing_about_staff(chief: User) -> None:
    client = browser()
    with CaptureQueriesContext(connection) as seen:
        client.get("/en/legal/terms/")
    assert not [query for query in seen.captured_queries if "core_staffsession" in query["sql"]]


def test_rows_that_are_long_over_are_removed(chief: User, later: Callable[[timedelta], None]) -> None:
    browser()
    later(timedelta(days=29))
    sweep_logins()
    assert StaffSession.objects.count() == 1
    later(timedelta(days=2))
    sweep_logins()
    assert StaffSession.objects.count() == 0


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        (FIREFOX, ("Firefox", "Linux")),
        ("Mozilla/5.0 (Windows NT 10.0) Chrome/131.0 Safari/537.36 Edg/131.0", ("Edge", "Windows")),
        ("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15) Version/18.0 Safari/605.1", ("Safari", "macOS")),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) CriOS/131.0 Safari/604", ("Chrome", "iOS")),
        ("Mozilla/5.0 (Linux; Android 15) Chrome/131.0 Mobile Safari/537.36", ("Chrome", "Android")),
        ("curl/8.0", ("", "")),
        ("", ("", "")),
    ],
)
def test_browsers_are_named_in_words(agent: str, words: tuple[str, str]) -> None:
    assert browser_and_system(RequestFactory().get("/", HTTP_USER_AGENT=agent)) == words
