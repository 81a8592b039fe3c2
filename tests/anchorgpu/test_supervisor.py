"""The supervisor with true processes: order, restarts, and nothing left however it ends."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ClassVar

import pytest

from anchorgpu.demo.supervisor import Supervisor
from anchorgpu.services.errors import ServiceError
from anchorgpu.services.process import Process
from tests.anchorgpu.processes import descendants, is_alive, wait_for

ROOT = Path(__file__).resolve().parent.parent.parent
Start = Callable[[str], "Demo"]


class Demo:
    """A running dummy demo."""

    def __init__(self, folder: Path, mode: str) -> None:
        self.folder = folder
        self.output = folder / "output"
        with self.output.open("wb") as output:
            self.popen = subprocess.Popen(
                [sys.executable, "-m", "tests.anchorgpu.dummy_demo", str(folder), mode],
                stdout=output,
                stderr=output,
                cwd=ROOT,
            )
        wait_for(lambda: "ready " in self.said() or self.popen.poll() is not None, seconds=40, what="ready")
        ready = re.search(r"ready postgres=(\d+) web=(\d+) worker=(\d+)", self.said())
        assert ready, self.said()
        self.postgres, self.web, self.worker = map(int, ready.groups())

    def said(self) -> str:
        return self.output.read_text(encoding="utf-8")

    def events(self) -> list[str]:
        return (self.folder / "events").read_text(encoding="utf-8").splitlines()

    def below(self) -> set[int]:
        return descendants(self.popen.pid)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    demos = []

    def _start(mode: str) -> Demo:
        demos.append(Demo(tmp_path, mode))
        return demos[-1]

    yield _start
    for demo in demos:
        demo.popen.kill()
        demo.popen.wait()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_ends_every_child(start: Start, number: signal.Signals) -> None:
    demo = start("normal")
    below = demo.below()
    assert {demo.postgres, demo.web, demo.worker} < below  # PostgreSQL has children of its own
    demo.popen.send_signal(number)
    demo.popen.send_signal(number)  # an impatient second Ctrl-C
    assert demo.popen.wait(timeout=10) == 0
    assert not [pid for pid in below if is_alive(pid)]
    assert sorted(event for event in demo.events() if "stops" in event) == ["web stops", "worker stops"]
    log = (demo.folder / "postgres.log").read_text(encoding="utf-8")
    assert "database system is shut down" in log


class Recorder(Process):
    """Writes down when it is asked to stop and when it is waited for."""

    calls: ClassVar[list[str]] = []

    def start(self) -> None:
        """Nothing runs: only the order is looked at."""

    def request_stop(self) -> None:
        self.calls.append(f"ask {self.name}")

    def stop(self, *, seconds: float | None = None) -> None:
        self.calls.append(f"wait {self.name}")


def test_stop_goes_in_reverse_order_and_data_goes_last(tmp_path: Path) -> None:
    """All programs are asked before one is waited for; a server of data is not asked while a program runs."""
    supervisor = Supervisor(say=lambda text: None)
    for name in ("postgres", "valkey", "web", "worker"):
        process = Recorder(name=name, command=["true"], log_file=tmp_path / "log")
        if name in ("postgres", "valkey"):
            supervisor.adopt(process, is_data=True)
        else:
            supervisor.start(process)
    Recorder.calls.clear()
    supervisor.stop()
    assert Recorder.calls == [
        *("ask worker", "ask web", "wait worker", "wait web"),
        *("wait valkey", "wait postgres"),
    ]


def test_child_that_does_not_stop_is_killed_in_time(start: Start) -> None:
    demo = start("stubborn")
    below = demo.below()
    demo.popen.send_signal(signal.SIGTERM)
    assert demo.popen.wait(timeout=10) == 0
    assert not [pid for pid in below if is_alive(pid)]
    stopped = re.search(r"stopped after ([\d.]+)", demo.said())
    assert stopped
    assert float(stopped[1]) < 10


def test_killed_supervisor_leaves_nothing(start: Start) -> None:
    demo = start("stubborn")
    below = demo.below()
    assert demo.postgres in below
    demo.popen.kill()
    demo.popen.wait()
    wait_for(lambda: not [pid for pid in below if is_alive(pid)], seconds=5, what="all gone")


def test_killed_supervisor_without_the_protection(start: Start) -> None:
    """The control: the children of an unprotected supervisor stay."""
    demo = start("unprotected")
    below = demo.below()
    demo.popen.kill()
    demo.popen.wait()
    with pytest.raises(AssertionError, match="all gone"):
        wait_for(lambda: not [pid for pid in below if is_alive(pid)], seconds=2, what="all gone")
    for pid in (demo.web, demo.worker, demo.postgres):
        os.kill(pid, signal.SIGKILL)
    wait_for(lambda: not [pid for pid in below if is_alive(pid)], seconds=5, what="all gone")


def test_worker_is_started_again(start: Start) -> None:
    demo = start("normal")
    os.kill(demo.worker, signal.SIGKILL)
    wait_for(lambda: demo.events().count("worker starts") == 2, seconds=10, what="second worker")
    assert "worker ended (code -9); starting it again in 0.5 s." in demo.said()
    assert is_alive(demo.web)
    assert demo.popen.poll() is None


def test_end_of_another_child_ends_the_demo(start: Start) -> None:
    demo = start("normal")
    below = demo.below()
    os.kill(demo.web, signal.SIGKILL)
    assert demo.popen.wait(timeout=10) == 1
    assert "web ended (code -9)." in demo.said()
    assert not [pid for pid in below if is_alive(pid)]


def test_end_counts_as_final_until_the_program_is_to_be_started_again(tmp_path: Path) -> None:
    """A gateway that cannot listen ends the start of the demo; later it is started again."""
    said: list[str] = []
    supervisor = Supervisor(say=said.append)
    program = Process(name="gateway", command=["false"], log_file=tmp_path / "log")
    supervisor.start(program)
    wait_for(lambda: program.exit_code is not None, seconds=10, what="its end")
    with pytest.raises(ServiceError, match=r"^gateway ended \(code 1\)"):
        supervisor.check()
    supervisor.restart_from_now_on(program)
    supervisor.check()
    assert said == ["gateway ended (code 1); starting it again in 0.5 s."]
    first = program.pid

    def started_again() -> bool:
        supervisor.check()
        return program.pid != first

    wait_for(started_again, seconds=10, what="second start")
    supervisor.stop()
