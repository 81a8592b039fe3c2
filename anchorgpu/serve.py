"""One program of an installation in the foreground, or all of them: `python -m anchorgpu.serve`, behind bin/serve."""

import argparse
import os
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import NoReturn

import django
import psycopg
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command

from anchorgpu import catalogues, startup
from anchorgpu.addresses import SettingError
from anchorgpu.demo.options import port_number
from anchorgpu.demo.supervisor import Stopped, Supervisor
from anchorgpu.env import Env, read_env
from anchorgpu.env_file import read_env_file
from anchorgpu.programs import PROGRAMS, ROOT, command
from anchorgpu.services.errors import ServiceError
from anchorgpu.services.process import Process

# Of sysexits.h: a service manager need not try again what only a person can mend.
EXIT_SETTINGS = 78
# A task may take 120 s (CELERY_TASK_TIME_LIMIT), and gives its row back when it is ended.
STOP_SECONDS = 130.0
# One number for all who migrate this database: two machines may be brought up to date at once.
MIGRATION_LOCK = 4_170_918_233


def main(arguments: Sequence[str] | None = None) -> int:
    chosen = _parse(arguments)
    try:
        _read_file(chosen.env_file)
        # Relative names in settings mean the same here and in the programs.
        os.chdir(ROOT)
        os.environ["DJANGO_SETTINGS_MODULE"] = "anchorgpu.settings"
        os.environ["PYTHONUNBUFFERED"] = "1"
        _choose_port(chosen)
        env = read_env(os.environ)
        if chosen.program == "migrate":
            return _migrate(env)
        startup.check(env)
        startup.refuse_stale_translations()
        startup.refuse_older_database(env)
    except ImproperlyConfigured as error:
        print(f"AnchorGPU cannot start: {error}", file=sys.stderr)
        return EXIT_SETTINGS
    return _all() if chosen.program == "all" else _become(chosen.program)


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bin/serve",
        description="Runs one program of an installation in the foreground until SIGTERM. Settings come from the "
        "environment; docs/operations.md describes them.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "program",
        choices=[*PROGRAMS, "all", "migrate"],
        help="all: the four, each a process of its own, started again when it ends. migrate: brings database, "
        "roles, static files and translations to this version, and ends",
    )
    parser.add_argument(
        "--env-file",
        type=Path,
        metavar="FILE",
        help="settings as lines KEY='value'; they win over the environment",
    )
    parser.add_argument(
        "--port", type=port_number, help="of web or gateway, instead of that in WEB_LISTEN or SSH_LISTEN"
    )
    chosen = parser.parse_args(arguments)
    if chosen.port is not None and chosen.program not in ("web", "gateway"):
        parser.error("--port is for web and gateway")
    return chosen


def _read_file(file: Path | None) -> None:
    if file is None:
        return
    try:
        os.environ.update(read_env_file(file))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it has no lines KEY='value'"
        raise SettingError(f"The file {file} cannot be read: {reason}.") from error


def _choose_port(chosen: argparse.Namespace) -> None:
    if chosen.port is None:
        return
    name, default = ("WEB_LISTEN", "127.0.0.1") if chosen.program == "web" else ("SSH_LISTEN", "")
    host = os.environ.get(name, "").rpartition(":")[0] or default
    if host:
        os.environ[name] = f"{host}:{chosen.port}"


def _become(program: str) -> NoReturn:
    """The very process that was started: signals and sockets of a service manager are its own."""
    line = command(program)
    os.execv(line[0], line)  # noqa: S606  # fixed programs


def _migrate(env: Env) -> int:
    """May be repeated, and run on several machines at once."""
    catalogues.compile_all()
    startup.check(env)
    try:
        with closing(startup.connect(env.database)) as connection:
            connection.execute("SELECT pg_advisory_lock(%s)", [MIGRATION_LOCK])
            django.setup()
            call_command("migrate", interactive=False)
            call_command("sync_roles")
    except psycopg.OperationalError as error:
        print(f"bin/serve: the database cannot be reached: {_first_line(error)}", file=sys.stderr)
        return 1
    except CommandError as error:
        print(f"bin/serve: {_first_line(error)}", file=sys.stderr)
        return 1
    # What the pages of the running version name stays there: nothing is cleared.
    call_command("collectstatic", interactive=False, verbosity=0)
    return 0


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def _all() -> int:
    supervisor = Supervisor(say=lambda text: print(text, flush=True), program_seconds=STOP_SECONDS)
    supervisor.listen_to_signals()
    try:
        try:
            for program in PROGRAMS:
                process = Process(name=f"The {program}", command=command(program), log_file=None)
                supervisor.start(process, restart=True)
            supervisor.watch()
        finally:
            supervisor.stop()
    except Stopped:
        return 0
    except ServiceError as problem:
        print(f"bin/serve: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
