"""The programs of an installation as the demo runs them: with logs in files, and killed with the supervisor."""

import signal
import sys
from collections.abc import Mapping

from anchorgpu.demo.state import State
from anchorgpu.programs import ROOT, command
from anchorgpu.services.process import Process


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
    return _program(state, env, "The web server", "web")


def worker(state: State, env: Mapping[str, str]) -> Process:
    """Its children are killed with it (Celery sets their parent-death signal)."""
    return _program(state, env, "The worker", "worker")


def beat(state: State, env: Mapping[str, str]) -> Process:
    return _program(state, env, "The beat", "beat")


def gateway(state: State, env: Mapping[str, str]) -> Process:
    return _program(state, env, "The SSH gateway", "gateway")


def _program(state: State, env: Mapping[str, str], name: str, program: str) -> Process:
    _python_itself, *arguments = command(program)
    return _python(state, env, name, program, *arguments)
