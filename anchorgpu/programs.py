"""The command lines of the four programs of an installation, for bin/serve and for the demo alike."""

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

_CELERY = ("-m", "celery", "-A", "anchorgpu.worker")


def _worker() -> tuple[str, ...]:
    """Two on one machine need different names; what workers tell each other is of no use here."""
    name = f"worker-{os.getpid()}@%h"
    return (
        *_CELERY,
        "worker",
        "--loglevel",
        "INFO",
        "--hostname",
        name,
        "--without-gossip",
        "--without-mingle",
    )


_ARGUMENTS: Mapping[str, Callable[[], tuple[str, ...]]] = {
    "web": lambda: ("-m", "gunicorn", "--config", "python:anchorgpu.web", "anchorgpu.wsgi:application"),
    "worker": _worker,
    "beat": lambda: (
        *_CELERY,
        "beat",
        "--loglevel",
        "INFO",
        "--scheduler",
        "anchorgpu.beat:Rounds",
        "--pidfile=",
    ),
    "gateway": lambda: (str(ROOT / "manage.py"), "ssh_gateway"),
}
PROGRAMS = tuple(_ARGUMENTS)


def command(program: str) -> list[str]:
    """With the Python that runs this."""
    return [sys.executable, *_ARGUMENTS[program]()]
