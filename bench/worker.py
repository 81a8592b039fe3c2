"""The web server of a measurement, and what its one worker uses, read from /proc."""

import os
import sys
from pathlib import Path

from anchorgpu.services.ports import LOCALHOST
from anchorgpu.services.process import Process

_TICKS = os.sysconf("SC_CLK_TCK")


def web_server(port: int, *, log_file: Path) -> Process:
    """gunicorn with the shop's own configuration and one worker. Log lines go to a file, as where it is deployed."""
    return Process(
        name="The web server",
        command=[
            sys.executable,
            "-m",
            "gunicorn",
            "--config",
            "python:anchorgpu.web",
            "anchorgpu.wsgi:application",
        ],
        log_file=log_file,
        env=dict(os.environ) | {"WEB_LISTEN": f"{LOCALHOST}:{port}", "WEB_WORKERS": "1", "WEB_THREADS": "8"},
    )


def worker_of(master: int) -> int:
    """The process that answers requests: the master's only child."""
    children = Path(f"/proc/{master}/task/{master}/children").read_text(encoding="ascii").split()
    if len(children) != 1:
        raise RuntimeError(f"One worker was expected, there are {len(children)}.")
    return int(children[0])


def cpu_seconds(pid: int) -> float:
    """User and system time that a process has used, all its threads."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def memory_mb(pid: int) -> tuple[float, float]:
    """Memory of a process in MB of 10^6 bytes: its share (what it shares with others divided by their number), and
    all that it has mapped."""
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    kilobytes = {line.split()[0]: int(line.split()[1]) for line in rollup.splitlines()[1:]}
    return kilobytes["Pss:"] * 1024 / 1e6, kilobytes["Rss:"] * 1024 / 1e6
