"""gunicorn as an installation runs it, on a port of its own or on a socket that is held; and its clients."""

import http.client
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from anchorgpu.services.ports import LOCALHOST, accepts_connections
from tests.anchorgpu.processes import wait_for

ROOT = Path(__file__).resolve().parents[2]
SLOW = ("-m", "gunicorn", "--config", "python:anchorgpu.web", "tests.anchorgpu.slow_application:application")
# What a service manager does between fork and exec: the socket becomes number 3.
HAND_ON = (
    "import os, sys; os.dup2(int(sys.argv[1]), 3); os.environ |= {'LISTEN_FDS': '1', 'LISTEN_PID': str(os.getpid())}; "
    "os.execv(sys.argv[2], sys.argv[2:])"
)
# Far more than an answer takes on a busy machine.
PATIENCE_SECONDS = 60


@contextmanager
def server(
    port: int, arguments: Sequence[str] = SLOW, *, held: socket.socket | None = None, **settings: str
) -> Iterator["subprocess.Popen[bytes]"]:
    """Ready when it listens; killed with its children at the end. `held`: as systemd hands a socket on."""
    command = [sys.executable, *arguments]
    if held is not None:
        command = [sys.executable, "-c", HAND_ON, str(held.fileno()), *command]
    environment = {**os.environ, "WEB_LISTEN": f"{LOCALHOST}:{port}", "WEB_WORKERS": "1", **settings}
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment,
            stdout=log,
            stderr=log,
            start_new_session=True,
            pass_fds=() if held is None else (held.fileno(),),
        )
        try:
            wait_for(
                lambda: process.poll() is not None or listens(log, port, is_held=held is not None),
                seconds=PATIENCE_SECONDS,
                what="the server",
            )
            assert process.poll() is None, said(log)
            yield process
        finally:
            kill(process)


def listens(log: IO[bytes], port: int, *, is_held: bool) -> bool:
    """A held socket lets clients in from the start: only the server's own word tells."""
    return "Listening at" in said(log) if is_held else accepts_connections(port)


def said(log: IO[bytes]) -> str:
    """What the server has written; its own place in the file stays."""
    size = os.fstat(log.fileno()).st_size
    return os.pread(log.fileno(), size, 0).decode()


def kill(process: "subprocess.Popen[bytes]") -> None:
    """The whole group, as a power cut would."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def stop(process: "subprocess.Popen[bytes]") -> int:
    """In order; its exit code."""
    process.send_signal(signal.SIGTERM)
    return process.wait(PATIENCE_SECONDS)


def ask(port: int, target: str = "/", **headers: str) -> str:
    """The body of a 200. Raises OSError or HTTPException where there is no whole answer."""
    connection = http.client.HTTPConnection(LOCALHOST, port, timeout=PATIENCE_SECONDS)
    try:
        connection.request("GET", target, headers={"Connection": "close", **headers})
        answer = connection.getresponse()
        body = answer.read().decode()
        assert answer.status == 200, answer.status
        return body
    finally:
        connection.close()


def send(port: int, target: str) -> http.client.HTTPConnection:
    """A request that is under way: the kernel has let it in."""
    connection = http.client.HTTPConnection(LOCALHOST, port, timeout=PATIENCE_SECONDS)
    connection.request("GET", target)
    return connection


def first_failure(port: int) -> Exception:
    """Ask until nobody answers any more; how that looked."""
    while True:
        try:
            ask(port)
        except (OSError, http.client.HTTPException) as error:
            return error


class Clients:
    """Threads that ask without a pause, each on a new connection, and count what they got and what they lost."""

    def __init__(self, port: int, *, count: int = 6) -> None:
        self.answers: list[str] = []
        self.lost: list[str] = []
        self._port = port
        self._is_over = threading.Event()
        self._threads = [threading.Thread(target=self._run) for _ in range(count)]

    def _run(self) -> None:
        while not self._is_over.is_set() and self._ask("/?0.02"):
            pass

    def _ask(self, target: str) -> bool:
        try:
            self.answers.append(ask(self._port, target).split()[0])
        except (OSError, http.client.HTTPException) as error:
            self.lost.append(f"{type(error).__name__}: {error}")
            return False
        return True

    def one_more(self, target: str) -> None:
        """A request beside the others. It has been let in as soon as some that came later are answered."""
        self._threads.append(threading.Thread(target=self._ask, args=(target,)))
        self._threads[-1].start()

    def __enter__(self) -> "Clients":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._is_over.set()
        for thread in self._threads:
            thread.join()

    def wait_for_more(self, count: int) -> None:
        """Until so many more have been answered."""
        wanted = len(self.answers) + count
        wait_for(
            lambda: len(self.answers) >= wanted or bool(self.lost), seconds=PATIENCE_SECONDS, what="answers"
        )
