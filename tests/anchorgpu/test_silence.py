"""Clients that begin a request and fall silent do not keep gunicorn's threads."""

import http.client
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from anchorgpu.services.ports import free_port

ROOT = Path(__file__).resolve().parent.parent.parent
THREADS = 2
CONFIG = """
worker_class, workers, threads, control_socket_disable = "gthread", 1, {threads}, True
from anchorgpu import silence
silence.SILENCE_SECONDS = 1
{hook}
"""
APP = """
def application(environ, start_response):
    start_response("200 OK", [("Content-Length", "2")])
    return [b"ok"]
"""


@contextmanager
def gunicorn(folder: Path, hook: str) -> Iterator[int]:
    (folder / "config.py").write_text(CONFIG.format(threads=THREADS, hook=hook), encoding="utf-8")
    (folder / "tiny.py").write_text(APP, encoding="utf-8")
    port = free_port()
    command = [sys.executable, "-m", "gunicorn", "--config", str(folder / "config.py")]
    command += ["--bind", f"127.0.0.1:{port}", "--pythonpath", f"{ROOT},{folder}", "tiny:application"]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=ROOT)
    try:
        deadline = time.monotonic() + 20
        while not answers(port, seconds=1):
            assert time.monotonic() < deadline, (folder / "log").read_text(encoding="utf-8")
        yield port
    finally:
        process.kill()
        process.wait(timeout=10)


def answers(port: int, *, seconds: float) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=seconds)
    try:
        connection.request("GET", "/")
        return connection.getresponse().read() == b"ok"
    except OSError:
        return False
    finally:
        connection.close()


def answered_beside_half_requests(port: int) -> bool:
    with ExitStack() as stack:
        for _number in range(2 * THREADS):
            half = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=5))
            half.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n")
        return answers(port, seconds=8)


@pytest.mark.parametrize(
    ("hook", "expected"), [("when_ready = silence.when_ready", True), ("", False)], ids=["bounded", "control"]
)
def test_half_requests_let_go_of_the_threads(tmp_path: Path, hook: str, expected: bool) -> None:
    with gunicorn(tmp_path, hook) as port:
        assert answered_beside_half_requests(port) is expected
