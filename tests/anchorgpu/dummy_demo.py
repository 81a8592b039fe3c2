"""A demo of dummies, run as a process of its own by test_supervisor: `dummy_demo.py FOLDER MODE`."""

import sys
import time
from pathlib import Path

from anchorgpu.demo.supervisor import Stopped, Supervisor
from anchorgpu.services import process
from anchorgpu.services.errors import ServiceError
from anchorgpu.services.postgres import Postgres
from anchorgpu.services.process import Process

# Says when it starts and when it is asked to stop; with a child of its own, as gunicorn and Celery have.
CHILD = """
import signal, subprocess, sys, time
name, log, stubborn = sys.argv[1:]
def note(what):
    with open(log, "a") as file:
        file.write(f"{name} {what}\\n")
def stop(*_):
    note("stops")
    if stubborn == "no":
        sys.exit(0)
signal.signal(signal.SIGTERM, stop)
note("starts")
while True:
    time.sleep(0.05)
"""


def main(folder: Path, mode: str) -> int:
    if mode == "unprotected":
        process._LIBC = None  # no parent-death signal: the control of the test that kills the supervisor
    supervisor = Supervisor(say=lambda text: print(text, flush=True))
    supervisor.listen_to_signals()

    def dummy(name: str, *, stubborn: bool = False) -> Process:
        arguments = [name, str(folder / "events"), "yes" if stubborn else "no"]
        return Process(
            name=name,
            command=[sys.executable, "-c", CHILD, *arguments],
            log_file=folder / f"{name}.log",
        )

    postgres = Postgres(folder=folder / "postgres", log_file=folder / "postgres.log", durable=False)
    try:
        supervisor.adopt(postgres.process, is_data=True)
        postgres.start()
        web, worker = dummy("web"), dummy("worker", stubborn=mode == "stubborn")
        supervisor.start(web)
        supervisor.start(worker, restart=True)
        supervisor.wait_until(lambda: _started(folder, 2), what="the dummies", seconds=20)
        print(f"ready postgres={postgres.process.pid} web={web.pid} worker={worker.pid}", flush=True)
        supervisor.watch()
    except Stopped:
        started = time.monotonic()
        supervisor.stop()
        print(f"stopped after {time.monotonic() - started:.1f}", flush=True)
        return 0
    except ServiceError as problem:
        supervisor.stop()
        print(problem, flush=True)
        return 1
    return 0


def _started(folder: Path, wanted: int) -> bool:
    events = folder / "events"
    return events.exists() and events.read_text(encoding="utf-8").count("starts") >= wanted


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2]))
