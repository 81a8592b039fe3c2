"""The programs of an installation as the demo runs them; docs/operations.md has those of production."""

import signal
import sys
from collections.abc import Mapping
from pathlib import Path

from anchorgpu.demo.state import State
from anchorgpu.services.process import Process

ROOT = Path(__file__).resolve().parent.parent.parent


def _python(state: State, env: Mapping[str, str], name: str, log: str, *arguments: str) -> Process:
    return Process(
        name=name,
        command=[sys.executable, *arguments],
        log_file=state.log(log),
        env=env,
        cwd=ROOT,
        stop_signal=signal.SIGTERM,
        # Killed with the supervisor: rows are the jobs, so a task cut short is done again at the next start.
        death_signal=signal.SIGKILL,
    )


def prepare(state: State, env: Mapping[str, str]) -> Process:
    """Its steps are shown as they are done; its errors go to the log."""
    process = _python(state, env, "The preparation", "prepare", "-m", "anchorgpu.demo.prepare")
    process.shows_output = True
    return process


def web(state: State, env: Mapping[str, str]) -> Process:
    """Its workers notice a killed master by themselves, within a second."""
    arguments = ("-m", "gunicorn", "--config", "python:anchorgpu.web", "anchorgpu.wsgi:application")
    return _python(state, env, "The web server", "web", *arguments)


def worker(state: State, env: Mapping[str, str]) -> Process:
    """Its children are killed with it (Celery sets their parent-death signal)."""
    options = ("--loglevel", "INFO", "--concurrency", "4", "--without-gossip", "--without-mingle")
    return _python(
        state, env, "The worker", "worker", "-m", "celery", "-A", "anchorgpu.worker", "worker", *options
    )


def beat(state: State, env: Mapping[str, str]) -> Process:
    """Its schedule file holds only when it last ran what; due work is found in the database."""
    options = ("--loglevel", "INFO", "--schedule", str(state.folder / "beat"), "--pidfile=")
    return _python(state, env, "The beat", "beat", "-m", "celery", "-A", "anchorgpu.worker", "beat", *options)


def gateway(state: State, env: Mapping[str, str]) -> Process:
    return _python(state, env, "The SSH gateway", "gateway", str(ROOT / "manage.py"), "ssh_gateway")
