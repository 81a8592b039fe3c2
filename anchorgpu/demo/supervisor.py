"""Keeps the demo's processes: starts them in order, some again, and stops them in reverse in bounded time."""

import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FrameType

from anchorgpu.services.errors import ServiceError
from anchorgpu.services.process import Process

# Ctrl-C ends every child within 10 s: first the programs, then the servers of data that they use.
PROGRAM_STOP_SECONDS = 5.5
DATA_STOP_SECONDS = 3.0
FIRST_BACK_OFF_SECONDS = 0.5
LONGEST_BACK_OFF_SECONDS = 30.0
# A program that ran this long is taken to be well: its next end starts the back-off anew.
WELL_AFTER_SECONDS = 60.0
POLL_SECONDS = 0.2


class Stopped(BaseException):
    """Ctrl-C or SIGTERM: nothing but the way out may catch it."""


@dataclass
class _Child:
    process: Process
    is_data: bool
    is_restarted: bool
    back_off_seconds: float = FIRST_BACK_OFF_SECONDS
    started_at: float = field(default_factory=time.monotonic)
    start_again_at: float | None = None


class Supervisor:
    """Use it from the main thread: children die with the thread that started them."""

    def __init__(self, *, say: Callable[[str], None], program_seconds: float = PROGRAM_STOP_SECONDS) -> None:
        self._say = say
        self._program_seconds = program_seconds
        self._children: list[_Child] = []
        self._is_stopping = False

    def listen_to_signals(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._on_signal)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if not self._is_stopping:  # a second Ctrl-C does not cut the orderly stop short
            self._is_stopping = True
            raise Stopped

    def adopt(self, process: Process, *, is_data: bool = False) -> None:
        """Stops it with the others. Before its start, so that a signal in between leaves nothing behind."""
        self._children.append(_Child(process=process, is_data=is_data, is_restarted=False))

    def start(self, process: Process, *, restart: bool = False) -> None:
        """Starts a program; with `restart` it is started again whenever it ends."""
        self._children.append(_Child(process=process, is_data=False, is_restarted=restart))
        process.start()

    def restart_from_now_on(self, process: Process) -> None:
        """For a program whose end while all starts up is final, and later is not."""
        for child in self._children:
            if child.process is process:
                child.is_restarted = True

    def run_once(self, process: Process, *, seconds: float) -> None:
        """Runs a program to its end. Raises ServiceError with its last words if it fails."""
        child = _Child(process=process, is_data=False, is_restarted=False)
        self._children.append(child)
        process.start()
        deadline = time.monotonic() + seconds
        while process.is_running:
            if time.monotonic() > deadline:
                process.kill()
                raise ServiceError(f"{process.name} took longer than {seconds:.0f} s. {process.tail()}")
            time.sleep(0.05)
        self._children.remove(child)
        if process.exit_code != 0:
            raise ServiceError(f"{process.name} failed (code {process.exit_code}). {process.tail(20)}")

    def wait_until(self, is_ready: Callable[[], bool], *, what: str, seconds: float) -> None:
        """Waits while looking after the children. Raises ServiceError when one ends or time is up."""
        deadline = time.monotonic() + seconds
        while not is_ready():
            self.check()
            if time.monotonic() > deadline:
                raise ServiceError(
                    f"{what} was not ready within {seconds:.0f} s; the logs in var/log say why."
                )
            time.sleep(POLL_SECONDS)

    def watch(self) -> None:
        """Until a signal comes. Raises ServiceError when a child ends that is not started again."""
        while True:
            self.check()
            time.sleep(POLL_SECONDS)

    def check(self) -> None:
        """One look at every child."""
        for child in self._children:
            if child.start_again_at is not None:
                self._start_again(child)
            elif child.process.exit_code is not None:
                self._on_end(child)

    def _on_end(self, child: _Child) -> None:
        process = child.process
        if not child.is_restarted:
            raise ServiceError(f"{process.name} ended (code {process.exit_code}). {process.tail()}")
        process.stop()  # members of its group that outlived it
        if time.monotonic() - child.started_at > WELL_AFTER_SECONDS:
            child.back_off_seconds = FIRST_BACK_OFF_SECONDS
        pause = child.back_off_seconds
        self._say(f"{process.name} ended (code {process.exit_code}); starting it again in {pause:.1f} s.")
        child.start_again_at = time.monotonic() + child.back_off_seconds
        child.back_off_seconds = min(child.back_off_seconds * 2, LONGEST_BACK_OFF_SECONDS)

    def _start_again(self, child: _Child) -> None:
        if child.start_again_at is None or time.monotonic() < child.start_again_at:
            return
        child.start_again_at = None
        child.started_at = time.monotonic()
        child.process.start()

    def stop(self) -> None:
        """Programs first, then the servers of data, each in reverse order of their start."""
        self._is_stopping = True
        for is_data, seconds in ((False, self._program_seconds), (True, DATA_STOP_SECONDS)):
            group = [child.process for child in reversed(self._children) if child.is_data is is_data]
            if is_data:
                self._stop_one_by_one(group, seconds=seconds)
            else:
                self._stop_together(group, seconds=seconds)
        self._children.clear()

    def _stop_together(self, group: list[Process], *, seconds: float) -> None:
        """They do not need each other, so all are asked in order before the first is waited for."""
        deadline = time.monotonic() + seconds
        for process in group:
            process.request_stop()
        for process in group:
            process.stop(seconds=max(0.1, deadline - time.monotonic()))

    def _stop_one_by_one(self, group: list[Process], *, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        for process in group:
            process.stop(seconds=max(0.5, deadline - time.monotonic()))
