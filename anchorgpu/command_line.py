"""The part of manage.py that needs the dependencies: finds the settings, and refuses with one sentence."""

import os
import sys
from collections.abc import MutableMapping, Sequence
from pathlib import Path

import psycopg
from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line

from anchorgpu import startup
from anchorgpu.env import read_env
from anchorgpu.env_file import read_env_file

ROOT = Path(__file__).resolve().parent.parent
# They must work where the database is newer, not there, or waits for the operator's word.
UNCHECKED = {
    "accept_xpub",
    "check",
    "collectstatic",
    "compilemessages",
    "finish_restore",
    "makemessages",
    "spectacular",
}


# They need settings at most, so that a demo that is stopped is no hindrance.
WITHOUT_DEMO = UNCHECKED | {"plan_check"}
# They speak to buyers; web and worker are asked by anchorgpu.web and anchorgpu.worker.
SERVING = {"ssh_gateway"}
CONNECT_SECONDS = 5


def use_running_demo(environ: MutableMapping[str, str], file: Path) -> bool:
    """Where DATABASE_URL is unset, all settings are those of the demo; a mixture of two would be neither."""
    if "DATABASE_URL" in environ or not file.is_file():
        return False
    environ.update(read_env_file(file))
    return True


def run(arguments: Sequence[str]) -> None:
    """Runs a management command. Raises SystemExit with one sentence where a setting stops the start."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "anchorgpu.settings")
    is_demo = use_running_demo(os.environ, ROOT / "var" / "env")
    command = _command(arguments)
    if command is not None and "DATABASE_URL" not in os.environ:
        raise SystemExit(
            "There is no demo in this folder, and DATABASE_URL is not set: run bin/demo first "
            "(docs/operations.md describes the settings of a true installation)."
        )
    try:
        if command is not None and command not in UNCHECKED:
            startup.check(read_env(os.environ))
        if command in SERVING:
            startup.refuse_stale_translations()
        if command is not None and command not in WITHOUT_DEMO and is_demo:
            refuse_stopped_demo(os.environ["DATABASE_URL"])
        execute_from_command_line(list(arguments))
    except ImproperlyConfigured as error:
        raise SystemExit(f"AnchorGPU cannot start: {error}") from None


def _command(arguments: Sequence[str]) -> str | None:
    """The command that will do something; None where only a help text or the version is asked for."""
    if len(arguments) < 2 or arguments[1] == "help" or {"-h", "--help", "--version"} & set(arguments[1:]):
        return None
    return arguments[1]


def refuse_stopped_demo(database_url: str) -> None:
    """Asked once here: each use of the database would wait for the pool's time-out and end in a traceback."""
    try:
        psycopg.connect(database_url, connect_timeout=CONNECT_SECONDS).close()
    except psycopg.OperationalError:
        raise SystemExit("The demo is not running: start bin/demo.") from None


if __name__ == "__main__":
    run(sys.argv)
