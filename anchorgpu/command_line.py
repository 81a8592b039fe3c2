"""The part of manage.py that needs the dependencies: finds the settings, and refuses with one sentence."""

import os
import sys
from collections.abc import MutableMapping, Sequence
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line

from anchorgpu import startup
from anchorgpu.env import read_env
from anchorgpu.env_file import read_env_file

ROOT = Path(__file__).resolve().parent.parent
# They must work where the database is newer, not there, or waits for the operator's word.
UNCHECKED = {"accept_xpub", "check", "collectstatic", "compilemessages", "makemessages", "spectacular"}


def use_running_demo(environ: MutableMapping[str, str], file: Path) -> None:
    """Where DATABASE_URL is unset, all settings are those of the demo; a mixture of two would be neither."""
    if "DATABASE_URL" not in environ and file.is_file():
        environ.update(read_env_file(file))


def run(arguments: Sequence[str]) -> None:
    """Runs a management command. Raises SystemExit with one sentence where a setting stops the start."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "anchorgpu.settings")
    use_running_demo(os.environ, ROOT / "var" / "env")
    command = arguments[1] if len(arguments) > 1 else "help"
    try:
        if command not in UNCHECKED and not command.startswith("-") and command != "help":
            startup.check(read_env(os.environ))
        execute_from_command_line(list(arguments))
    except ImproperlyConfigured as error:
        raise SystemExit(f"AnchorGPU cannot start: {error}") from None


if __name__ == "__main__":
    run(sys.argv)
