"""The file with a demo's settings, `var/env`: lines KEY='value' that a POSIX shell can source too."""

import shlex
from collections.abc import Mapping
from pathlib import Path

HEADER = (
    "# Settings of the demo in this folder, written at each start. For a shell: set -a; . var/env; set +a\n"
)


def format_env(settings: Mapping[str, str]) -> str:
    """The file's text. Values are quoted for a shell, whatever they hold."""
    lines = [f"{key}={_quote(value)}" for key, value in settings.items()]
    return HEADER + "\n".join(lines) + "\n"


def read_env_file(path: Path) -> dict[str, str]:
    """The settings in the file; other lines are passed over."""
    settings = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        key, separator, value = line.partition("=")
        if separator and key.isidentifier():
            settings[key] = "".join(shlex.split(value))
    return settings


def _quote(value: str) -> str:
    return "'" + value.replace("'", "'\"'\"'") + "'"
