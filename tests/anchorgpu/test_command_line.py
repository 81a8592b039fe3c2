"""manage.py as a person runs it: finds the demo's settings, and says in one sentence why it cannot start."""

import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest
from django.db import connection as db_connection

from anchorgpu import startup
from anchorgpu.addresses import SettingError
from anchorgpu.command_line import refuse_stopped_demo, use_running_demo
from anchorgpu.env import read_env
from anchorgpu.env_file import format_env, read_env_file
from anchorgpu.services.ports import free_port
from billing.models import AcceptedXpub, DepositAddress
from tests.environment import demo_settings, production_settings

ROOT = Path(__file__).resolve().parent.parent.parent


def _manage(*arguments: str, env: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, str(ROOT / "manage.py"), *arguments]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=60)


def test_refusal_is_one_sentence_without_a_traceback(tmp_path: Path) -> None:
    settings = production_settings(tmp_path) | {"PROVIDER": "the-cloud"}
    done = _manage("showmigrations", env=settings | {"PATH": os.environ["PATH"]})
    assert done.returncode == 1
    assert done.stderr == "AnchorGPU cannot start: PROVIDER is unknown; known is: simulated, slurm.\n"


IN_FOLDER = (
    "import sys; from pathlib import Path; from anchorgpu import command_line; "
    "command_line.ROOT = Path(sys.argv[1]); command_line.run(['manage.py', *sys.argv[2:]])"
)


def _manage_in(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """A command in a shell without settings, with that folder's demo."""
    return subprocess.run(
        [sys.executable, "-c", IN_FOLDER, str(folder), *arguments],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize("command", ["demo_buy", "demo_clock", "migrate", "check"])
def test_without_a_demo_it_says_what_to_run(tmp_path: Path, command: str) -> None:
    done = _manage_in(tmp_path, command)
    assert done.returncode == 1
    assert done.stderr.startswith(
        "There is no demo in this folder, and DATABASE_URL is not set: run bin/demo"
    )
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("arguments", [("demo_clock", "--skip", "1h"), ("demo_buy",), ("plan", "--json")])
def test_stopped_demo_is_one_sentence(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    settings = demo_settings(
        tmp_path,
        database_url=f"postgresql://u:p@127.0.0.1:{free_port()}/shop",
        redis_url="redis://127.0.0.1:9/0",
        ssh_port=2222,
    )
    (tmp_path / "var").mkdir()
    (tmp_path / "var" / "env").write_text(format_env(settings), encoding="utf-8")
    done = _manage_in(tmp_path, *arguments)
    assert (done.returncode, done.stderr) == (1, "The demo is not running: start bin/demo.\n")
    done = _manage_in(tmp_path, arguments[0], "--help")
    assert done.returncode == 0
    assert done.stdout.startswith("usage:")


def test_running_demo_is_not_refused() -> None:
    refuse_stopped_demo(os.environ["DATABASE_URL"])


def test_env_file_is_read_where_database_url_is_unset(tmp_path: Path) -> None:
    settings = {
        "DATABASE_URL": "postgresql://u:p@127.0.0.1:1/shop",
        "SECRET_KEY": 'it\'s "$quoted" \\ `well`',
    }
    file = tmp_path / "env"
    file.write_text(format_env(settings), encoding="utf-8")
    assert read_env_file(file) == settings

    environ = {"SECRET_KEY": "of the shell", "HOME": "/home/me"}
    assert use_running_demo(environ, file)
    assert environ == settings | {"HOME": "/home/me"}


def test_env_file_is_left_alone_where_database_url_is_set(tmp_path: Path) -> None:
    file = tmp_path / "env"
    file.write_text(format_env({"DATABASE_URL": "postgresql://demo"}), encoding="utf-8")
    environ = {"DATABASE_URL": "postgresql://mine"}
    assert not use_running_demo(environ, file)
    assert environ == {"DATABASE_URL": "postgresql://mine"}


def test_env_file_can_be_sourced_by_a_shell(tmp_path: Path) -> None:
    file = tmp_path / "env"
    value = 'it\'s "$HOME" \\n `id`'
    file.write_text(format_env({"SECRET_KEY": value}), encoding="utf-8")
    script = f'. "{file}"; printf %s "$SECRET_KEY"'
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == value


def test_starts_again_under_the_projects_environment(tmp_path: Path) -> None:
    """A Python without Django finds .venv beside manage.py; without one it says what to run."""
    (tmp_path / "manage.py").write_bytes((ROOT / "manage.py").read_bytes())
    bare = [sys.executable, "-I", "-S", str(tmp_path / "manage.py"), "check"]
    done = subprocess.run(bare, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == (
        "Django is not installed here: run bin/demo once, it installs what is needed into .venv.\n"
    )
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\necho "again: $2"\n', encoding="utf-8")
    python.chmod(0o755)
    done = subprocess.run(bare, capture_output=True, text=True, check=True)
    assert done.stdout == "again: check\n"


@pytest.fixture
def database_url() -> str:
    """An empty database beside the one of the tests; the whole server goes at the end of the run."""
    url = os.environ["DATABASE_URL"]
    name = f"startup_{uuid.uuid4().hex}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"'.encode())
    return f"{url.rpartition('/')[0]}/{name}"


@pytest.fixture
def connection(database_url: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(database_url, autocommit=True) as open_connection:
        yield open_connection


def test_database_newer_than_the_code(connection: psycopg.Connection) -> None:
    known = {("core", "0001_initial")}
    startup.refuse_newer_database(connection, known=known)  # empty: nothing to refuse
    connection.execute("CREATE TABLE django_migrations (id serial, app text, name text)")
    add = "INSERT INTO django_migrations (app, name) VALUES (%s, %s)"
    for row in (("core", "0001_initial"), ("auth", "0099_of_django")):
        connection.execute(add, row)
    startup.refuse_newer_database(connection, known=known)
    connection.execute(add, ("core", "0002_later"))
    with pytest.raises(SettingError, match=r"newer than this code \(it has core\.0002_later\)"):
        startup.refuse_newer_database(connection, known=known)


def test_this_code_knows_its_own_migrations() -> None:
    known = startup.known_migrations()
    assert ("core", "0001_initial") in known
    assert not [name for _, name in known if name == "__init__"]


def test_changed_xpub_with_open_addresses(connection: psycopg.Connection) -> None:
    startup.refuse_changed_xpub(connection, fingerprint="new")  # empty: nothing to refuse
    connection.execute("CREATE TABLE billing_acceptedxpub (fingerprint text)")
    connection.execute("CREATE TABLE billing_depositaddress (xpub_fingerprint text, status text)")
    connection.execute("INSERT INTO billing_depositaddress VALUES ('new', 'issued'), ('old', 'pooled')")
    startup.refuse_changed_xpub(connection, fingerprint="new")  # none of the other was given out
    connection.execute("INSERT INTO billing_depositaddress VALUES ('old', 'issued')")
    with pytest.raises(SettingError, match=r"^DEPOSIT_XPUB has changed .* accept_xpub"):
        startup.refuse_changed_xpub(connection, fingerprint="new")
    connection.execute("INSERT INTO billing_acceptedxpub VALUES ('new')")
    startup.refuse_changed_xpub(connection, fingerprint="new")


@pytest.mark.django_db
def test_the_check_fits_the_true_tables() -> None:
    """The names in the statement are those of billing's models."""
    DepositAddress.objects.create(
        xpub_fingerprint="old",
        index=0,
        address="0x" + "1" * 40,
        status=DepositAddress.Status.ISSUED,
        derived_at=datetime.now(UTC),
    )
    with db_connection.cursor() as cursor:
        open_connection = cursor.connection
        with pytest.raises(SettingError, match="DEPOSIT_XPUB has changed"):
            startup.refuse_changed_xpub(open_connection, fingerprint="new")
        AcceptedXpub.objects.create(fingerprint="new", accepted_at=datetime.now(UTC))
        startup.refuse_changed_xpub(open_connection, fingerprint="new")
        startup.refuse_newer_database(open_connection, known=startup.known_migrations())


def test_refusal_of_the_database_reaches_the_person(tmp_path: Path, connection: psycopg.Connection) -> None:
    connection.execute("CREATE TABLE django_migrations (id serial, app text, name text)")
    connection.execute("INSERT INTO django_migrations (app, name) VALUES ('fleet', '9999_later')")
    name = connection.info.dbname
    url = f"{os.environ['DATABASE_URL'].rpartition('/')[0]}/{name}"
    settings = production_settings(tmp_path) | {"DATABASE_URL": url, "PATH": os.environ["PATH"]}
    done = _manage("migrate", env=settings)
    assert done.returncode == 1
    assert done.stderr.startswith(
        "AnchorGPU cannot start: DATABASE_URL names a database newer than this code"
    )
    assert done.stderr.count("\n") == 1


def test_unreachable_database_is_left_to_others(tmp_path: Path) -> None:
    startup.check(read_env(production_settings(tmp_path)))
