"""Hints to the broker, gathered and sent by a thread of their own (DESIGN rule 8).

Sending one takes more time than a statement of the database, and a broker that hangs takes a second; nobody who has
just bought something should wait for either. A hint that is lost costs nothing but time: a sweep finds the row.
"""

import atexit
import os
import threading
import time
from queue import Empty, Full, Queue

import structlog
from celery import current_app

log = structlog.get_logger(__name__)

# What is given within this time goes in one message. Nobody notices it: the work that it starts takes longer.
GATHER_SECONDS = 0.05
MAX_IN_ONE = 100
# A broker that hangs must not fill the memory: a sweep finds what has no place here.
MAX_WAITING = 2000
# A sweep finds everything within about this time anyway.
QUIET_SECONDS = 5.0
# A process that ends waits so long for the last ones; a socket gives up after a second.
EXIT_SECONDS = 1.5

Hint = tuple[str, tuple[object, ...]]


class Sender:
    """One thread and what waits for it. A process has one; a fork begins without."""

    def __init__(self) -> None:
        self._waiting: Queue[Hint | threading.Event] = Queue(MAX_WAITING)
        threading.Thread(target=self._run, name="hints", daemon=True).start()

    def give(self, hint: Hint | threading.Event) -> bool:
        try:
            self._waiting.put_nowait(hint)
        except Full:
            return False
        return True

    def _run(self) -> None:
        while True:
            first = self._waiting.get()
            if not isinstance(first, threading.Event):
                time.sleep(GATHER_SECONDS)
            gathered = [first]
            while len(gathered) < MAX_IN_ONE:
                try:
                    gathered.append(self._waiting.get_nowait())
                except Empty:
                    break
            _send([one for one in gathered if not isinstance(one, threading.Event)])
            for one in gathered:
                if isinstance(one, threading.Event):
                    one.set()


def _send(hints: list[Hint]) -> None:
    """One message, one try. After a failure this process is quiet for QUIET_SECONDS."""
    global _quiet_until  # noqa: PLW0603  # one process, one broker
    if not hints or time.monotonic() < _quiet_until:
        return
    task, args = hints[0] if len(hints) == 1 else ("core.pass_on_hints", (hints,))
    try:
        current_app.send_task(task, args=args, retry=False, ignore_result=True)
    except Exception as error:  # whatever it is, the next hint is tried again
        _quiet_until = time.monotonic() + QUIET_SECONDS
        log.warning("task_hints_lost", tasks=len(hints), first=hints[0][0], error=type(error).__name__)


_quiet_until = 0.0
_sender: Sender | None = None
_lock = threading.Lock()


def give(task: str, *args: object) -> bool:
    """Have a task sent soon. False where no more hints can wait: a sweep will see to it."""
    return _own().give((task, args))


def flush(seconds: float = EXIT_SECONDS) -> bool:
    """Wait until all that was given has been tried; False if that takes longer."""
    if _sender is None:
        return True
    done = threading.Event()
    return _sender.give(done) and done.wait(seconds)


def pass_on(hints: list[tuple[str, list[object]]]) -> None:
    """What a worker does with a message of several hints: each becomes a task. Safe to repeat, as each of them is."""
    for task, args in hints:
        current_app.send_task(task, args=args, retry=False, ignore_result=True)


def _own() -> Sender:
    global _sender  # noqa: PLW0603  # one process, one sender
    if _sender is None:
        with _lock:
            if _sender is None:
                _sender = Sender()
    return _sender


def _forget() -> None:
    """After a fork: the thread stayed with the parent, and so does what waits for it."""
    global _sender, _lock  # one process, one sender
    _sender, _lock = None, threading.Lock()


os.register_at_fork(after_in_child=_forget)
atexit.register(flush)
