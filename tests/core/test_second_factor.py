"""Outside the demo the password alone opens nothing: set-up, codes, recovery codes, replay, bounds, reset."""

import re
from datetime import UTC, datetime, timedelta
from threading import Barrier
from typing import Any

import pytest
import time_machine
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import NoReverseMatch, get_resolver, reverse
from django_otp.oath import totp
from django_otp.plugins.otp_static.models import StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice
from pytest_django import Settings

from core import locks
from core.models import AuditEntry, Decision, LoginAttempt, StaffSession
from core.services import second_factor
from core.staff_sessions import ROW_KEY
from tests.core.desk import address, press, said, staff
from tests.races import at_once, own_connections

CODE, SET_UP, SECURITY = (
    "/admin/desk/second-factor/",
    "/admin/desk/second-factor/set-up/",
    "/admin/desk/security/",
)
PASSWORD = "right-0123456789"
START = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def required(settings: Settings) -> None:
    settings.STAFF_SECOND_FACTOR = True
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def now() -> Any:
    """The machine's clock, moved by the test."""
    with time_machine.travel(START, tick=False) as traveller:
        yield traveller


@pytest.fixture
def chief(now: Any) -> User:
    return User.objects.create_superuser("chief", password=PASSWORD)


def logged_in(name: str = "chief", client: Client | None = None) -> Client:
    client = client or Client()
    answer = client.post("/admin/login/", {"username": name, "password": PASSWORD})
    assert answer.status_code == 302
    return client


def code_of(user: User, *, confirmed: bool = True) -> str:
    """What the authenticator shows at this moment."""
    device = TOTPDevice.objects.get(user=user, confirmed=confirmed)
    return f"{totp(device.bin_key):06d}"


def set_up(client: Client, user: User) -> list[str]:
    """Through the pages; the recovery codes."""
    assert client.post(SET_UP).status_code == 303
    answer = client.post(SET_UP, {"code": code_of(user, confirmed=False)})
    assert answer.status_code == 200
    codes: list[str] = answer.context["codes"].split("\n")
    return codes


@pytest.fixture
def ready(chief: User, now: Any) -> list[str]:
    """An account with a device whose last code is used up; its recovery codes."""
    codes = set_up(logged_in(), chief)
    now.shift(timedelta(minutes=1))
    return codes


def is_in(client: Client) -> bool:
    return client.get(SECURITY).status_code == 200


def test_after_the_password_every_page_leads_to_the_second_factor(chief: User) -> None:
    client = logged_in()
    for path in ("/admin/", "/admin/core/decision/", "/admin/tables/", SECURITY, "/admin/password_change/"):
        answer = client.get(path, follow=True)
        assert answer.redirect_chain[-1][0].startswith(SET_UP), path
    assert "Set up your second factor" in answer.content.decode()


def test_no_page_of_the_admin_opens_with_the_password_alone(chief: User) -> None:
    """Every address below /admin/ that takes no value, and a button by a hand-made POST."""
    client = logged_in()
    own = {"desk:second_factor", "desk:set_up_factor", "desk:sign_out", "admin:login", "admin:logout"}
    allowed = {reverse(name) for name in own}
    paths = {reverse(f"desk:{name}") for name in desk_names() if takes_nothing(f"desk:{name}")}
    paths |= {reverse(f"admin:{name}") for name in admin_names() if takes_nothing(f"admin:{name}")}
    assert len(paths) > 60
    for path in paths - allowed:
        for answer in (client.get(path), client.post(path, {})):
            assert answer.status_code in (302, 405), (path, answer.status_code)
            if answer.status_code == 302:
                assert answer["Location"].startswith("/admin/login/?next="), path
    row = Decision.objects.create(kind="problem_reported", subject="order:1", opened_at=START)
    assert press(client, row, "note").status_code == 302
    assert Decision.objects.get().closed_at is None


def desk_names() -> list[str]:
    return [
        str(name) for name in get_resolver().namespace_dict["desk"][1].reverse_dict if isinstance(name, str)
    ]


def admin_names() -> list[str]:
    return [
        str(name) for name in get_resolver().namespace_dict["admin"][1].reverse_dict if isinstance(name, str)
    ]


def takes_nothing(name: str) -> bool:
    try:
        reverse(name)
    except NoReverseMatch:  # it needs a value
        return False
    return True


def test_set_up_shows_the_secret_and_the_codes_once(chief: User) -> None:
    client = logged_in()
    page = client.get(SET_UP)
    assert "<svg viewBox" in page.content.decode()  # the mark; the secret waits for the button
    assert not TOTPDevice.objects.exists()
    client.post(SET_UP)
    page = client.get(SET_UP)
    secret = page.context["secret"].replace(" ", "")
    assert re.fullmatch("[A-Z2-7]{32}", secret)
    assert page.context["config_url"].startswith("otpauth://totp/AnchorGPU%3Achief?secret=" + secret)
    assert "no-store" in page["Cache-Control"]
    assert not is_in(client)
    answer = client.post(SET_UP, {"code": code_of(chief, confirmed=False)})
    codes = answer.context["codes"].split("\n")
    assert len(set(codes)) == 10
    assert "no-store" in answer["Cache-Control"]
    assert is_in(client)
    assert client.get(SET_UP).status_code == 303  # nothing is shown a second time
    assert AuditEntry.objects.get(action="second_factor.set").subject == "staff:chief"


def test_a_secret_that_another_browser_has_seen_is_never_put_into_use(chief: User) -> None:
    """Whoever knows the password first may begin; what he has seen must not be confirmed by its owner later."""
    thief, owner = logged_in(), logged_in()
    thief.post(SET_UP)
    seen = thief.get(SET_UP).context["secret"]
    assert "secret" not in owner.get(SET_UP).context
    owner.post(SET_UP)
    assert owner.get(SET_UP).context["secret"] != seen
    assert "secret" not in thief.get(SET_UP).context
    owner.post(SET_UP, {"code": code_of(chief, confirmed=False)})
    assert is_in(owner)
    assert not is_in(thief)
    assert thief.post(SET_UP)["Location"] == "/admin/login/"  # its session was ended too


def test_a_code_opens_the_session_under_a_new_key(chief: User, ready: list[str]) -> None:
    client = logged_in()
    before = client.session.session_key
    assert not is_in(client)
    answer = client.post(CODE, {"code": code_of(chief), "next": "/admin/core/decision/"})
    assert (answer.status_code, answer["Location"]) == (303, "/admin/core/decision/")
    assert is_in(client)
    assert client.session.session_key != before


@pytest.mark.parametrize(
    "target",
    ["//evil.example", "/\\evil.example", "\t//evil.example", "https:evil.example", "javascript:alert(1)",
     "https://evil.example/", "/%0d%0aX: y\r\n", "", "evil.example"],
)  # fmt: skip
def test_s41_after_the_second_factor_only_own_paths_are_followed(
    chief: User, ready: list[str], target: str
) -> None:
    client = logged_in()
    answer = client.post(CODE, {"code": code_of(chief), "next": target})
    assert (answer.status_code, answer["Location"]) == (303, "/admin/")
    led = logged_in().get("/admin/login/", {"next": target})
    assert led["Location"] == CODE + "?next=%2Fadmin%2F"


def test_a_code_is_accepted_once(chief: User, ready: list[str]) -> None:
    code = code_of(chief)
    assert logged_in().post(CODE, {"code": code}).status_code == 303
    again = logged_in()
    answer = again.post(CODE, {"code": code})
    assert answer.status_code == 200
    assert "used before" in answer.content.decode()
    assert not is_in(again)


def test_a_recovery_code_works_once_and_says_how_many_are_left(chief: User, ready: list[str]) -> None:
    client = logged_in()
    answer = client.post(CODE, {"code": f" {ready[0][:4].upper()} {ready[0][4:]} "})
    assert answer.status_code == 303
    assert "9 recovery codes are left" in said(answer)[0]
    again = logged_in()
    assert again.post(CODE, {"code": ready[0]}).status_code == 200
    assert not is_in(again)
    assert AuditEntry.objects.get(action="second_factor.recovery_code").after == {"codes_left": 9}


@pytest.mark.parametrize("code", ["", "12345", "1234567", "abc\x00def", "٣٤٥٦٧٨", "x" * 41, "-1", "1e5"])
def test_odd_codes_are_refused_with_a_page(chief: User, ready: list[str], code: str) -> None:
    client = logged_in()
    answer = client.post(CODE, {"code": code})
    assert answer.status_code == 200
    assert answer.context["form"].errors["code"]
    assert not is_in(client)


def test_the_device_makes_guessers_wait_longer_each_time(chief: User, ready: list[str], now: Any) -> None:
    client = logged_in()
    waits = []
    for _number in range(4):
        assert client.post(CODE, {"code": "000000"}).status_code == 200
        refused = client.post(CODE, {"code": code_of(chief)})
        assert refused.status_code == 429
        waits.append(int(refused["Retry-After"]))
        now.shift(timedelta(seconds=waits[-1]))
    assert waits == [2, 3, 5, 9]
    assert client.post(CODE, {"code": code_of(chief)}).status_code == 303


def test_codes_are_bounded_by_account_and_network_whatever_the_device_says(
    chief: User, ready: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TOTPDevice, "get_throttle_factor", lambda _device: 0)
    client = logged_in()
    assert [client.post(CODE, {"code": "000000"}).status_code for _number in range(10)] == [200] * 10
    assert client.post(CODE, {"code": code_of(chief)}).status_code == 429
    assert AuditEntry.objects.filter(action="login.limited", subject="staff:chief").count() == 1
    LoginAttempt.objects.all().delete()
    assert client.post(CODE, {"code": code_of(chief)}).status_code == 303
    assert not LoginAttempt.objects.exists()  # what succeeds is not counted


def test_another_device_needs_a_code_and_ends_the_other_sessions(
    chief: User, ready: list[str], now: Any
) -> None:
    here, there = logged_in(), logged_in()
    here.post(CODE, {"code": code_of(chief)})
    there.post(CODE, {"code": ready[1]})
    assert is_in(here)
    assert is_in(there)
    old = TOTPDevice.objects.get()
    assert here.post(SECURITY + "device/", {"code": "000000"}).status_code == 200
    assert "secret" not in (here.get(SET_UP).context or {})
    now.shift(timedelta(minutes=1))
    assert here.post(SECURITY + "device/", {"code": code_of(chief)}).status_code == 303
    assert TOTPDevice.objects.filter(confirmed=True).get() == old  # it works until the new one is confirmed
    codes = here.post(SET_UP, {"code": code_of(chief, confirmed=False)}).context["codes"].split("\n")
    assert TOTPDevice.objects.get() != old
    assert is_in(here)
    assert not is_in(there)
    assert ready[2] not in codes
    assert logged_in().post(CODE, {"code": ready[2]}).status_code == 200


@pytest.mark.parametrize("left", ["signed out", "idle"])
def test_a_set_up_left_half_done_stands_in_for_no_code_at_the_next_login(
    chief: User, ready: list[str], now: Any, left: str
) -> None:
    browser = logged_in()
    browser.post(CODE, {"code": ready[1]})
    assert browser.post(SECURITY + "device/", {"code": ready[2]}).status_code == 303
    old = TOTPDevice.objects.get(confirmed=True)
    if left == "signed out":
        browser.post("/admin/logout/")
    else:
        now.shift(timedelta(hours=2))
    logged_in(client=browser)
    assert "secret" not in (browser.get(SET_UP).context or {})
    browser.post(SET_UP, {"code": code_of(chief, confirmed=False)})
    assert not is_in(browser)
    assert TOTPDevice.objects.get(confirmed=True) == old


def test_new_recovery_codes_need_a_code(chief: User, ready: list[str], now: Any) -> None:
    client = logged_in()
    client.post(CODE, {"code": ready[0]})
    refused = client.post(SECURITY + "codes/", {"code": "nonsense"})
    assert refused.context["codes_form"].errors["code"]
    now.shift(timedelta(seconds=5))
    answer = client.post(SECURITY + "codes/", {"code": code_of(chief)})
    fresh = answer.context["codes"].split("\n")
    assert not set(fresh) & set(ready)
    assert sorted(StaticToken.objects.values_list("token", flat=True)) == sorted(fresh)


def test_an_owner_resets_a_lost_device_with_a_reason(chief: User, ready: list[str]) -> None:
    lost = User.objects.create_user("lost", password=PASSWORD, is_staff=True)
    theirs = logged_in("lost")
    set_up(theirs, lost)
    client = logged_in()
    client.post(CODE, {"code": code_of(chief)})
    assert press(client, lost, "reset-factor", reason="").status_code == 200
    assert press(client, lost, "reset-factor", reason="phone stolen").status_code == 302
    entry = AuditEntry.objects.get(action="second_factor.reset")
    assert (entry.actor, entry.subject, entry.reason) == ("chief", "staff:lost", "phone stolen")
    assert not is_in(theirs)
    assert second_factor.device_of(lost) is None
    assert "No second factor is set up" in said(press(client, lost, "reset-factor"))[-1]
    assert "Change your own device" in said(press(client, chief, "reset-factor"))[-1]
    assert is_in(client)


def test_who_may_not_edit_staff_resets_nothing(chief: User, ready: list[str], settings: Settings) -> None:
    settings.STAFF_SECOND_FACTOR = False
    looks = staff("looks", "auth.view_user")
    assert press(looks, chief, "reset-factor").status_code == 403
    deputy = staff("deputy", "auth.change_user")
    assert press(deputy, chief, "reset-factor").status_code == 403  # a superuser is out of his reach
    assert deputy.post(address(chief, "do", "end-sessions"), {"reason": "x"}).status_code == 403
    assert second_factor.device_of(chief) is not None


def test_on_the_server_a_command_resets(chief: User, ready: list[str]) -> None:
    client = logged_in()
    client.post(CODE, {"code": code_of(chief)})
    call_command("reset_second_factor", "chief", reason="lost at sea")
    assert AuditEntry.objects.get(action="second_factor.reset").reason == "lost at sea"
    assert not is_in(client)
    with pytest.raises(CommandError, match="No second factor"):
        call_command("reset_second_factor", "chief")
    with pytest.raises(CommandError, match="no such account"):
        call_command("reset_second_factor", "nobody")


def test_no_page_of_the_library_shows_secrets(chief: User) -> None:
    assert not [name for name in admin_names() if name.startswith(("otp_totp", "otp_static"))]


def test_a_session_that_was_open_before_the_rule_owes_it_too(chief: User, settings: Settings) -> None:
    settings.STAFF_SECOND_FACTOR = False
    client = logged_in()
    assert is_in(client)
    settings.STAFF_SECOND_FACTOR = True
    assert not is_in(client)
    assert StaffSession.objects.get(pk=client.session[ROW_KEY]).verified_at is None


def test_signing_out_half_way(chief: User) -> None:
    client = logged_in()
    assert client.get("/admin/desk/sign-out/").status_code == 405
    assert client.post("/admin/desk/sign-out/").status_code == 303
    assert StaffSession.objects.get().ended_at is not None
    assert client.get(CODE)["Location"] == "/admin/login/"


def let_in_at_once(chief: User) -> int:
    """Two browsers send the same code in the same moment; how many it lets in."""
    clients, code = [logged_in(), logged_in()], code_of(chief)
    with own_connections():
        at_once(2, lambda number: clients[number].post(CODE, {"code": code}).status_code)
    return sum(is_in(client) for client in clients)


@pytest.mark.django_db(transaction=True)
def test_one_code_sent_twice_at_once_lets_one_in(chief: User, ready: list[str]) -> None:
    assert let_in_at_once(chief) == 1


@pytest.mark.django_db(transaction=True)
def test_control_without_the_lock_one_code_lets_both_in(
    chief: User, ready: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    both_have_read = Barrier(2, timeout=10)

    def unlocked(*, user_id: int, **_rest: Any) -> TOTPDevice:
        device = TOTPDevice.objects.get(user_id=user_id)
        both_have_read.wait()
        return device

    monkeypatch.setattr(locks, "totp_device_for_update", unlocked)
    assert let_in_at_once(chief) == 2
