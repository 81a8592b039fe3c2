"""The servers and programs of bench.chaos, and who kills them: the process that started them, by their pids."""

import json
import os
import random
import signal
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from anchorgpu.demo import programs
from anchorgpu.demo.state import State
from anchorgpu.demo.supervisor import Supervisor
from anchorgpu.services.errors import ServiceError
from anchorgpu.services.ports import LOCALHOST, free_port
from anchorgpu.services.postgres import Postgres
from anchorgpu.services.process import Process
from anchorgpu.services.valkey import Valkey
from bench.cluster import ENGINE, Engine
from tests.environment import demo_settings

ROOT = Path(__file__).resolve().parent.parent
DATABASE = "anchorgpu"
OPEN_SECONDS, RUN_SECONDS = 240.0, 1800.0
# Between two kills: often shorter than a restart takes, so that they also meet each other; each of the six lives about
# a minute, after which a supervisor counts a program as well and starts it again at once.
KILL_EVERY = (5.0, 17.0)
# What the migration takes on two idle cores. On a machine that is busy with other work everything starts later, and the
# kills come as much more slowly: a worker that is always killed before it is up would show nothing.
MIGRATE_SECONDS = 8.0
# A server of data is away for a moment before it is started again.
AWAY_SECONDS = 1.5
POLL_SECONDS = 0.1
PROGRAMS = ("web", "worker", "beat", "gateway")
SERVERS = ("postgres", "valkey")
# A setting of the person's own shell must not reach the run.
_KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "VIRTUAL_ENV")


class Stand:
    """Everything that runs, in one folder. Use it from the main thread: children die with their parent thread."""

    def __init__(self, folder: Path, *, chance: random.Random, kills: int | None, provider: str) -> None:
        self.killed: list[str] = []
        self._engine = Engine(chance) if provider == "slurm" else None
        self._folder = folder
        self._chance = chance
        self._kills_left = sys.maxsize if kills is None else kills
        self._state = State(folder)
        # Fixed ports: who is started again is found where it was.
        self._postgres = Postgres(
            folder=folder / "postgres", log_file=self._state.log("postgres"), port=free_port()
        )
        self._valkey = Valkey(folder=folder / "valkey", log_file=self._state.log("valkey"), port=free_port())
        self._notes: list[str] = []
        self._supervisor = Supervisor(say=self._notes.append)
        self._programs: dict[str, Process] = {}
        self._driver: Process | None = None
        self._http_port = free_port()
        self._slowness = 1.0

    def run(self, arguments: list[str]) -> dict[str, Any]:
        """Start all, let the driver work, kill until it says that the last fault has come; its facts."""
        self._postgres.start()
        self._valkey.start()
        if self._engine is not None:
            self._engine.start()
        self._postgres.create_database(DATABASE)
        environment = self._environment()
        begin = time.monotonic()
        self._supervisor.run_once(
            self._python("migrate", environment, "manage.py", "migrate", "-v", "0"), seconds=OPEN_SECONDS
        )
        self._slowness = max(1.0, (time.monotonic() - begin) / MIGRATE_SECONDS)
        self._driver = self._python("driver", environment, "-m", "bench.inside.chaos", *arguments)
        self._driver.start()
        self._driver.wait_until(lambda: self._phase() != "", seconds=OPEN_SECONDS)
        self._programs = {
            "web": programs.web(self._state, environment),
            "gateway": programs.gateway(self._state, environment),
            "worker": self._python("worker", environment, *_WORKER),
            "beat": programs.beat(self._state, environment),
        }
        for program in self._programs.values():
            self._supervisor.start(program, restart=True)
        self._watch()
        return self._facts()

    def stop(self) -> None:
        if self._driver is not None:
            self._driver.kill()
        self._supervisor.stop()
        if self._engine is not None:
            self._engine.stop()
        self._valkey.stop()
        self._postgres.stop()

    def _watch(self) -> None:
        """Until the driver has ended."""
        deadline = time.monotonic() + RUN_SECONDS
        kill_at = self._next_kill()
        while self._driver is not None and self._driver.is_running:
            if time.monotonic() > deadline:
                raise ServiceError(f"The run took longer than {RUN_SECONDS:.0f} s. {self._driver.tail()}")
            self._supervisor.check()
            if self._phase() == "faults" and time.monotonic() >= kill_at and self._kills_left > 0:
                self._kill_one()
                kill_at = self._next_kill()
            time.sleep(POLL_SECONDS)

    def _next_kill(self) -> float:
        return time.monotonic() + self._slowness * self._chance.uniform(*KILL_EVERY)

    def _kill_one(self) -> None:
        """Each in turn, in an order of chance, so that a short run meets every kind."""
        everybody = PROGRAMS + SERVERS + (ENGINE if self._engine is not None else ())
        round_of = len(self.killed) // len(everybody)
        done = set(self.killed[round_of * len(everybody) :])
        name = self._chance.choice(sorted(set(everybody) - done))
        self.killed.append(name)
        self._kills_left -= 1
        if name in self._programs:
            process = self._programs[name]
            if process.is_running:
                os.kill(process.pid, signal.SIGKILL)
            return  # the supervisor sees it and starts it again
        if self._engine is not None and name in ENGINE:
            self._engine.kill(name)
            return
        server = self._postgres if name == "postgres" else self._valkey
        server.process.kill()
        time.sleep(self._chance.uniform(0.0, AWAY_SECONDS))
        server.start()

    def _facts(self) -> dict[str, Any]:
        result = self._folder / "result.json"
        if self._driver is None or self._driver.exit_code != 0 or not result.exists():
            raise ServiceError(f"The run broke. {self._driver.tail(30) if self._driver else ''}")
        facts: dict[str, Any] = json.loads(result.read_text(encoding="utf-8"))
        if not self._web_answers():
            facts["breaches"].append("the web server does not answer after the run")
        return facts

    def _web_answers(self) -> bool:
        try:
            address = f"http://{LOCALHOST}:{self._http_port}/healthz"
            with urllib.request.urlopen(address, timeout=20) as answer:  # nosec B310
                return bool(answer.status == 200)
        except (urllib.error.URLError, OSError):
            return False

    def _phase(self) -> str:
        file = self._folder / "phase"
        return file.read_text(encoding="ascii") if file.exists() else ""

    def _environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
        return {
            **kept,
            **demo_settings(
                self._folder,
                database_url=self._postgres.url(DATABASE),
                redis_url=self._valkey.url,
                ssh_port=free_port(),
            ),
            **(self._engine.settings() if self._engine is not None else {}),
            "DJANGO_SETTINGS_MODULE": "anchorgpu.settings",
            "WEB_LISTEN": f"{LOCALHOST}:{self._http_port}",
            "WEB_WORKERS": "1",
            "CHAOS_FOLDER": str(self._folder),
            "PYTHONPATH": str(ROOT),
            "PYTHONUNBUFFERED": "1",
        }

    def _python(self, name: str, environment: dict[str, str], *arguments: str) -> Process:
        return Process(
            name=f"The {name}",
            command=[sys.executable, *arguments],
            log_file=self._state.log(name),
            env=environment,
            cwd=ROOT,
            stop_signal=signal.SIGTERM,
            death_signal=signal.SIGKILL,
        )


# The demo's own worker, with an engine that fails at a tenth of its calls.
_WORKER = (
    *("-m", "celery", "-A", "bench.inside.chaos_worker", "worker", "--loglevel", "WARNING"),
    *("--concurrency", "3", "--without-gossip", "--without-mingle"),
)
