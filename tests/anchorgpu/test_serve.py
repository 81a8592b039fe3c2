"""bin/serve: what it refuses and how, what it starts, and that the server behind it bounds what comes in."""

import http.client
import os
import signal
import socket
import subprocess
import sys
from configparser import ConfigParser
from pathlib import Path

import pytest
from django.conf import settings as django_settings
from django.db import connection

from anchorgpu import programs, serve, startup
from anchorgpu.addresses import SettingError
from anchorgpu.beat import Rounds
from anchorgpu.celery import app
from anchorgpu.env import read_env
from anchorgpu.env_file import format_env
from anchorgpu.services.ports import LOCALHOST, free_port
from anchorgpu.serving import WEB_GRACE_SECONDS
from tests.anchorgpu.processes import descendants, is_alive, wait_for
from tests.anchorgpu.web_servers import server, stop
from tests.environment import production_settings

ROOT = Path(__file__).resolve().parents[2]


def run(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    """bin/serve with nothing but these settings."""
    return subprocess.run(
        [str(ROOT / "bin" / "serve"), *arguments],
        env={"PATH": os.environ["PATH"], **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_setting_that_is_missing_is_one_sentence_and_a_code_of_its_own(tmp_path: Path) -> None:
    settings = production_settings(tmp_path)
    settings.pop("SITE_URL")
    (tmp_path / "env").write_text(format_env(settings), encoding="utf-8")
    done = run("web", "--env-file", str(tmp_path / "env"))
    assert done.returncode == serve.EXIT_SETTINGS
    assert done.stderr == "AnchorGPU cannot start: SITE_URL is not set; docs/operations.md describes it.\n"


def test_a_database_that_does_not_answer_is_one_sentence(tmp_path: Path) -> None:
    done = run("migrate", **production_settings(tmp_path))
    assert done.returncode == 1
    assert done.stderr.startswith("bin/serve: the database cannot be reached: ")
    assert done.stderr.count("\n") == 1
    assert "secret" not in done.stderr


@pytest.mark.parametrize("arguments", [["worker", "--port", "1"], ["web", "--port", "99999"], ["shop"], []])
def test_options_that_mean_nothing_are_refused(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        serve.main(arguments)
    assert caught.value.code == 2
    assert "usage: bin/serve" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("program", "name", "before", "after"),
    [
        ("web", "WEB_LISTEN", "10.0.0.1:8000", "10.0.0.1:8100"),
        ("web", "WEB_LISTEN", None, "127.0.0.1:8100"),
        ("gateway", "SSH_LISTEN", "[::]:2222", "[::]:8100"),
        ("gateway", "SSH_LISTEN", None, None),
    ],
)
def test_a_port_takes_the_place_of_that_in_the_settings(
    monkeypatch: pytest.MonkeyPatch, program: str, name: str, before: str | None, after: str | None
) -> None:
    monkeypatch.delenv(name, raising=False)
    if before is not None:
        monkeypatch.setenv(name, before)
    serve._choose_port(serve._parse([program, "--port", "8100"]))
    assert os.environ.get(name) == after


@pytest.mark.django_db
def test_a_database_without_the_newest_tables_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    env = read_env({**os.environ, "DATABASE_URL": database_url()})
    startup.refuse_older_database(env)
    known = startup.known_migrations() | {("core", "9999_later")}
    monkeypatch.setattr(startup, "known_migrations", lambda: known)
    with pytest.raises(SettingError, match=r"lacks core\.9999_later\): run bin/serve migrate\."):
        startup.refuse_older_database(env)


def database_url() -> str:
    """That of this test, which has all tables."""
    return f"{os.environ['DATABASE_URL'].rpartition('/')[0]}/{connection.settings_dict['NAME']}"


def test_a_beat_begins_with_a_round_of_everything() -> None:
    scheduler = Rounds(app=app)
    assert set(scheduler.schedule) == set(django_settings.CELERY_BEAT_SCHEDULE)
    assert all(entry.is_due()[0] for entry in scheduler.schedule.values())
    assert not any(next(entry).is_due()[0] for entry in scheduler.schedule.values())


def test_two_workers_on_one_machine_have_different_names(monkeypatch: pytest.MonkeyPatch) -> None:
    names = []
    for pid in (1, 2):
        monkeypatch.setattr(os, "getpid", lambda pid=pid: pid)
        line = programs.command("worker")
        names.append(line[line.index("--hostname") + 1])
    assert len(set(names)) == 2


ALL = """
import sys
from anchorgpu import serve
# One write for the line: four programs share the pipe.
program = "import os, sys, time; os.write(1, f'{sys.argv[1]} runs\\\\n'.encode()); time.sleep(60)"
serve.command = lambda name: [sys.executable, "-c", program, name]
sys.exit(serve._all())
"""


def test_all_runs_each_starts_it_again_and_ends_with_them() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", ALL], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        said = {process.stdout.readline() for _ in programs.PROGRAMS}
        assert said == {f"{name} runs\n" for name in programs.PROGRAMS}
        children = descendants(process.pid)
        assert len(children) == len(programs.PROGRAMS)
        os.kill(min(children), signal.SIGKILL)
        assert "ended (code -9); starting it again" in process.stdout.readline()
        assert process.stdout.readline().endswith(" runs\n")
        children |= descendants(process.pid)
        process.terminate()
        assert process.wait(20) == 0
    wait_for(lambda: not any(map(is_alive, children)), seconds=5, what="end of the programs")


def answer_to(port: int, request: bytes) -> http.client.HTTPResponse:
    """To what is sent as it stands; nothing more is sent."""
    with socket.create_connection((LOCALHOST, port), timeout=30) as client:
        client.sendall(request)
        answer = http.client.HTTPResponse(client)
        answer.begin()
        answer.read()
        return answer


REQUESTS = {
    "a page": (b"GET /healthz HTTP/1.1\r\nHost: testserver\r\n\r\n", 200),
    "a false host in an absolute address": (
        b"GET http://evil.example/en/ HTTP/1.1\r\nHost: evil.example\r\n\r\n",
        400,
    ),
    "another host in an absolute address alone": (
        b"GET http://evil.example/nothing HTTP/1.1\r\nHost: testserver\r\n\r\n",
        404,
    ),
    "a false host": (b"GET /en/ HTTP/1.1\r\nHost: evil.example\r\n\r\n", 400),
    # Only announced: the answer does not wait for it.
    "a body of 10 GB": (
        b"POST /theme/ HTTP/1.1\r\nHost: testserver\r\nContent-Length: 10000000000\r\n\r\n",
        413,
    ),
    "a body without a length": (
        b"POST /theme/ HTTP/1.1\r\nHost: testserver\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
        411,
    ),
    "the same of the API": (
        b"POST /api/v1/quotes HTTP/1.1\r\nHost: testserver\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        400,
    ),
    "two lengths": (
        b"POST /theme/ HTTP/1.1\r\nHost: testserver\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        400,
    ),
    "a length and chunks": (
        b"POST / HTTP/1.1\r\nHost: testserver\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        400,
    ),
    "a long address": (b"GET /" + b"a" * 5000 + b" HTTP/1.1\r\nHost: testserver\r\n\r\n", 414),
    "many headers": (
        b"GET / HTTP/1.1\r\nHost: testserver\r\n" + b"".join(b"X-%d: a\r\n" % n for n in range(80)) + b"\r\n",
        431,
    ),
    "a long header": (b"GET / HTTP/1.1\r\nHost: testserver\r\nX-A: " + b"a" * 9000 + b"\r\n\r\n", 431),
}


@pytest.mark.django_db
def test_the_web_server_bounds_what_comes_in() -> None:
    """One server for all: its start takes seconds."""
    port = free_port()
    plain = {"DATABASE_URL": database_url(), "DJANGO_SETTINGS_MODULE": "tests.plain_settings"}
    with server(port, programs.command("web")[1:], held=None, **plain) as process:
        for name, (request, status) in REQUESTS.items():
            answer = answer_to(port, request)
            assert (name, answer.status) == (name, status)
            assert answer.getheader("Server") in (None, "AnchorGPU")
            if answer.getheader("Server"):
                assert answer.getheader("X-Request-ID")
        assert stop(process) == 0


UNITS = ROOT / "docs" / "examples" / "deploy"


@pytest.mark.parametrize("program", programs.PROGRAMS)
def test_the_unit_of_a_program_starts_it_and_waits_for_its_end(program: str) -> None:
    unit = ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]  # its documented use
    unit.read_string((UNITS / f"anchorgpu-{program}.service").read_text(encoding="utf-8"))
    service = unit["Service"]
    assert service["ExecStart"].split("/")[-1] == f"serve {program}"
    assert service["RestartPreventExitStatus"] == str(serve.EXIT_SETTINGS)
    assert service["NoNewPrivileges"] == "yes"
    assert service["ProtectSystem"] == "strict"
    needed = {"web": WEB_GRACE_SECONDS, "worker": django_settings.CELERY_TASK_TIME_LIMIT}
    assert int(service["TimeoutStopSec"]) > needed.get(program, 10)
    assert max(needed.values()) < serve.STOP_SECONDS
