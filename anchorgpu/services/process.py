"""One child process: dies with its parent, logs to a file, is waited for and is stopped in bounded time."""

import ctypes
import errno
import os
import signal
import subprocess  # starting servers is what this module is for
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO

from anchorgpu.services.errors import ServiceError

PR_SET_PDEATHSIG = 1
# Loaded before any fork: between fork and exec nothing may be imported or allocated by the dynamic linker.
_LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def _die_with_parent(parent: int, death_signal: int) -> None:
    """Runs in the child before exec. The signal is tied to the spawning thread: spawn from the main one."""
    if _LIBC is None:
        return
    _LIBC.prctl(PR_SET_PDEATHSIG, death_signal, 0, 0, 0)
    if os.getppid() != parent:  # the parent went before the signal was set
        os._exit(1)


class Process:
    """A program with its log file; without one it writes where its parent does.

    `start` may be called again after the program has ended.
    """

    def __init__(
        self,
        *,
        name: str,
        command: Sequence[str | Path],
        log_file: Path | None,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        stop_signal: signal.Signals = signal.SIGTERM,
        death_signal: signal.Signals = signal.SIGKILL,
        stop_seconds: float = 8.0,
        shows_output: bool = False,
    ) -> None:
        self.name = name
        self.command = [str(part) for part in command]
        self.log_file = log_file
        self.env = dict(env) if env is not None else None
        self.cwd = cwd
        self.stop_signal = stop_signal
        self.death_signal = death_signal
        self.stop_seconds = stop_seconds
        self.shows_output = shows_output
        self._popen: subprocess.Popen[bytes] | None = None
        self._log_start = 0

    @property
    def pid(self) -> int:
        if self._popen is None:
            raise ServiceError(f"{self.name} was not started.")
        return self._popen.pid

    @property
    def exit_code(self) -> int | None:
        """None while it runs or before it was started."""
        return None if self._popen is None else self._popen.poll()

    @property
    def is_running(self) -> bool:
        return self._popen is not None and self._popen.poll() is None

    def start(self) -> None:
        """In a session of its own, so that Ctrl-C reaches the parent alone and stops have an order."""
        parent, death_signal = os.getpid(), int(self.death_signal)
        try:
            if self.log_file is None:
                self._popen = self._spawn(None, parent, death_signal)
                return
            self.log_file.parent.mkdir(parents=True, exist_ok=True)
            with self.log_file.open("ab") as log:
                self._log_start = log.tell()
                self._popen = self._spawn(log, parent, death_signal)
        except OSError as error:
            raise ServiceError(self._spawn_problem(error)) from error

    def _spawn(self, log: IO[bytes] | None, parent: int, death_signal: int) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(  # fixed programs of this project, no shell
            self.command,
            stdin=subprocess.DEVNULL,
            stdout=None if self.shows_output else log,
            stderr=log,
            env=self.env,
            cwd=self.cwd,
            start_new_session=True,
            preexec_fn=lambda: _die_with_parent(parent, death_signal),
        )

    def _spawn_problem(self, error: OSError) -> str:
        if error.errno == errno.ENOSPC:
            return f"The disk is full: {self.name} cannot write {self.log_file}; free some space."
        return f"{self.name} cannot be started: {error.strerror or error} ({self.command[0]})."

    def wait_until(self, is_ready: Callable[[], bool], *, seconds: float) -> None:
        """Polls until ready. Raises ServiceError with the last log lines if it ends or time runs out."""
        deadline = time.monotonic() + seconds
        pause = 0.02
        while True:
            if not self.is_running:
                raise ServiceError(
                    f"{self.name} ended while it started (code {self.exit_code}). {self.tail()}"
                )
            if is_ready():
                return
            if time.monotonic() > deadline:
                raise ServiceError(f"{self.name} was not ready within {seconds:.0f} s. {self.tail()}")
            time.sleep(pause)
            pause = min(pause * 1.5, 0.25)

    def request_stop(self) -> None:
        """Sends the stop signal and returns at once."""
        if self._popen is not None and self._popen.poll() is None:
            self._popen.send_signal(self.stop_signal)

    def stop(self, *, seconds: float | None = None) -> None:
        """Stops it and what it started; kills the whole group once the time is up. May be repeated."""
        if self._popen is None:
            return
        self.request_stop()
        try:
            self._popen.wait(timeout=self.stop_seconds if seconds is None else seconds)
        except subprocess.TimeoutExpired:
            self.kill()
        else:
            self._kill_group()

    def kill(self) -> None:
        """SIGKILL to the program and its group."""
        if self._popen is None:
            return
        self._popen.kill()
        self._kill_group()
        self._popen.wait()

    def _kill_group(self) -> None:
        """Members that outlived their leader. The group's id cannot be another's while a member lives."""
        if self._popen is None:
            return
        try:
            os.killpg(self._popen.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            return

    def tail(self, lines: int = 8) -> str:
        """The last log lines of this run, for the message that says why it ended."""
        if self.log_file is None:
            return ""
        try:
            with self.log_file.open("rb") as log:
                size = log.seek(0, os.SEEK_END)
                log.seek(max(self._log_start, size - 8192))
                text = log.read().decode("utf-8", "replace")
        except OSError:
            return ""
        last = [line for line in text.splitlines() if line.strip()][-lines:]
        return (
            f"Last lines of {self.log_file}:\n  " + "\n  ".join(last)
            if last
            else f"{self.log_file} is empty."
        )
