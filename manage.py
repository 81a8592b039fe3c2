#!/usr/bin/env python3
"""Django's command line. Without DATABASE_URL it speaks to the demo of this folder (var/env)."""

import importlib.util
import os
import runpy
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent


def use_own_environment() -> None:
    """Starts again under .venv where Django is missing."""
    if importlib.util.find_spec("django") is not None:
        return
    python = ROOT / ".venv" / "bin" / "python"
    if python.is_file() and Path(sys.prefix) != ROOT / ".venv":
        os.execv(python, [str(python), *sys.argv])  # noqa: S606  # this very script again
    raise SystemExit(
        "Django is not installed here: run bin/demo once, it installs what is needed into .venv."
    )


def main() -> None:
    use_own_environment()
    # Not an import at the top: it works only once Django is there.
    runpy.run_module("anchorgpu.command_line", run_name="__main__")


if __name__ == "__main__":
    main()
