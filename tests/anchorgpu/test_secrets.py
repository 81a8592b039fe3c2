"""No secret of the settings or of a person stands in what any program writes, whatever goes wrong."""

import http.client
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from io import StringIO
from logging.config import DictConfigurator
from pathlib import Path

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import path
from pytest_django import Settings

from anchorgpu import programs, urls
from anchorgpu.addresses import SettingError
from anchorgpu.env import read_env
from anchorgpu.logs import logging_settings
from anchorgpu.services.ports import LOCALHOST, free_port
from tests.environment import production_settings

ROOT = Path(__file__).resolve().parents[2]
# In each secret, so that a part of it is found as well.
MARK = "Hush"
PASSWORD = f"{MARK}-p4ss"
# Nothing listens there.
NOBODY = "127.0.0.1:9"


def secret_settings(folder: Path) -> dict[str, str]:
    """A true installation whose servers do not answer."""
    return production_settings(folder) | {
        "DATABASE_URL": f"postgresql://shop:{PASSWORD}@{NOBODY}/shop",
        "REDIS_URL": f"redis://:{PASSWORD}@{NOBODY}/0",
        "SECRET_KEY": f"{MARK}-0123456789-abcdefghijklmnopqrstuvwxyz-0123456789-abcdefghij",
        "STRIPE_SECRET_KEY": f"sk_live_{MARK}1234567890",
        "STRIPE_WEBHOOK_SECRET": f"whsec_{MARK}1234567890",
        "EMAIL_URL": f"smtp://shop:{PASSWORD}@{NOBODY}",
        "TRUSTED_PROXIES": "127.0.0.1",
    }


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DATABASE_URL", f"mysql://shop:{PASSWORD}@{NOBODY}/shop"),
        ("DATABASE_URL", f"postgresql://shop:{MARK}/x@{NOBODY}/shop"),
        ("DATABASE_URL", f"postgresql://shop:{MARK}?x@{NOBODY}/shop"),
        ("DATABASE_URL", f"postgresql://shop:{MARK}\u2100@{NOBODY}/shop"),
        ("DATABASE_URL", f"postgresql://shop:{MARK}[x@{NOBODY}/shop"),
        ("REDIS_URL", f"http://:{PASSWORD}@{NOBODY}"),
        ("REDIS_URL", f"redis://:{MARK}/x@{NOBODY}/0"),
        ("SECRET_KEY", MARK),
        ("SECRET_KEY", f"demo-{MARK}" + "x" * 50),
        ("STRIPE_SECRET_KEY", f"pk_{MARK}"),
        ("STRIPE_WEBHOOK_SECRET", MARK),
        ("EMAIL_URL", f"imap://shop:{PASSWORD}@{NOBODY}"),
        ("EMAIL_URL", f"smtp://shop:{MARK}/x@{NOBODY}"),
        ("METRICS_TOKEN", MARK),
    ],
)
def test_a_refusal_of_a_setting_does_not_repeat_it(tmp_path: Path, name: str, value: str) -> None:
    with pytest.raises(SettingError, match=name) as caught:
        read_env(secret_settings(tmp_path) | {name: value})
    assert MARK not in str(caught.value)
    # Neither does what a traceback would show of its cause.
    assert MARK not in repr(caught.value.__cause__)


PROGRAMS: Mapping[str, tuple[str, ...]] = {
    # As bin/serve becomes it, with settings of the test's own: nothing was collected.
    "web": tuple(programs.command("web")[1:]),
    "worker": ("-m", "anchorgpu.serve", "worker"),
    "beat": ("-m", "anchorgpu.serve", "beat"),
    "gateway": ("-m", "anchorgpu.serve", "gateway"),
    "migrate": ("-m", "anchorgpu.serve", "migrate"),
    "a command": ("manage.py", "reconcile"),
    "settings": ("manage.py", "check", "--deploy"),
}
# Those that go on without their servers are ended once they have complained.
ENDS_BY_ITSELF = {"migrate", "a command", "settings"}
COMPLAINTS = {
    "worker": "Cannot connect to redis",
    "gateway": "heartbeat",
    "web": '"status": 50',
    "beat": "beat",
}
PATIENCE_SECONDS = 60.0


def _text(files: Mapping[str, Path], name: str) -> str:
    return files[name].read_text(encoding="utf-8", errors="replace")


@pytest.mark.parametrize(
    "names", [["web", "worker"], pytest.param(list(PROGRAMS), marks=pytest.mark.full)], ids=["two", "all"]
)
def test_programs_that_fail_write_no_secret(tmp_path: Path, names: list[str]) -> None:
    """All at once: most of the time goes by in waiting for servers that do not answer."""
    port = free_port()
    environment = {
        "PATH": os.environ["PATH"],
        **secret_settings(tmp_path),
        "WEB_LISTEN": f"{LOCALHOST}:{port}",
        "WEB_WORKERS": "1",
        "WORKER_PROCESSES": "1",
        "SSH_LISTEN": f"{LOCALHOST}:{free_port()}",
        "DJANGO_SETTINGS_MODULE": "tests.plain_settings",
    }
    files = {name: tmp_path / f"{name}.log" for name in names}
    running = {}
    for name in names:
        with files[name].open("wb") as file:
            running[name] = subprocess.Popen(
                [sys.executable, *PROGRAMS[name]],
                cwd=ROOT,
                env=environment,
                stdout=file,
                stderr=file,
                start_new_session=True,
            )
    try:
        _ask_until_it_fails(port)
        deadline = time.monotonic() + PATIENCE_SECONDS
        for name in set(names) - ENDS_BY_ITSELF:
            while COMPLAINTS[name] not in _text(files, name):
                assert time.monotonic() < deadline, (name, _text(files, name))
                time.sleep(0.1)
        for name in set(names) & ENDS_BY_ITSELF:
            running[name].wait(PATIENCE_SECONDS)
    finally:
        for process in running.values():
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    said = {name: _text(files, name) for name in names}
    assert all(said.values())
    assert [name for name, text in said.items() if MARK in text] == []


def _ask_until_it_fails(port: int) -> None:
    """A page that needs the database, as a proxy would ask for it."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        connection = http.client.HTTPConnection(LOCALHOST, port, timeout=PATIENCE_SECONDS)
        try:
            told = {"Host": "gpu.example", "X-Forwarded-Proto": "https"}
            connection.request("GET", "/en/catalog/", headers=told)
            assert connection.getresponse().status == 503
            return
        except OSError:
            assert time.monotonic() < deadline
            time.sleep(0.2)
        finally:
            connection.close()


def broken(request: HttpRequest, **parts: str) -> HttpResponse:
    """All that a request may bring, at hand when something breaks."""
    held = (request.headers, request.POST.dict(), request.COOKIES, request.META, parts)
    raise LookupError(len(held))


urlpatterns = [
    path("en/orders/<str:token>/broken/", broken),
    path("en/partner/login/<str:token>/", broken),
    path("api/v1/broken", broken),
    *urls.urlpatterns,
]
handler500 = urls.handler500


@pytest.fixture
def written() -> Iterator[StringIO]:
    """What the process would write, in its form, of everything."""
    settings = logging_settings()
    handler = logging.StreamHandler(StringIO())
    handler.setFormatter(DictConfigurator(settings).configure_formatter(settings["formatters"]["json"]))
    root = logging.getLogger()
    root.addHandler(handler)
    before, root.level = root.level, logging.DEBUG
    yield handler.stream
    root.level = before
    root.removeHandler(handler)


@pytest.mark.django_db
def test_requests_that_fail_leave_no_secret_in_the_log(settings: Settings, written: StringIO) -> None:
    settings.ROOT_URLCONF = __name__
    token = MARK + "a" * 39
    form = {
        "password": PASSWORD,
        "otp_token": f"{MARK}123456",
        "name": f"{MARK} Miller",
        "mail": f"{MARK}@a.example",
    }
    client = Client(raise_request_exception=False)
    client.cookies["sessionid"] = f"{MARK}session"
    told = {
        "authorization": f"Bearer ak_test_{MARK}",
        "stripe-signature": f"t=1,v1={MARK}",
        "referer": f"https://{MARK}/",
    }
    for target in (f"/en/orders/{token}/broken/", f"/en/partner/login/{token}/", "/api/v1/broken"):
        assert client.post(f"{target}?key={MARK}", form, headers=told).status_code == 500
    strict = Client(enforce_csrf_checks=True)
    refused = [
        client.post("/admin/login/", {"username": f"{MARK}@a.example", "password": PASSWORD}),
        strict.post(f"/en/orders/{token}/claim/", form, headers=told),
        client.get(f"/en/orders/{token}/", headers=told),
        client.get("/api/v1/orders", headers=told),
        client.post("/webhooks/stripe/", MARK, content_type="application/json", headers=told),
        client.get(f"/en/?{MARK}=%00"),
    ]
    assert {answer.status_code for answer in refused} <= {200, 400, 401, 403, 404}
    text = written.getvalue()
    assert text.count("LookupError") >= 3
    assert MARK not in text
