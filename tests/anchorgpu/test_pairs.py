"""Two of each program on one database: purchases go through, nothing is done twice, and one of each may be killed."""

import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from anchorgpu.demo import environment, programs
from anchorgpu.demo.environment import Ports
from anchorgpu.demo.state import State
from anchorgpu.demo.supervisor import Supervisor
from anchorgpu.services.anvil import Anvil
from anchorgpu.services.ports import free_port, reserve_free
from anchorgpu.services.postgres import Postgres
from anchorgpu.services.process import Process
from anchorgpu.services.valkey import Valkey
from tests.anchorgpu.balancer import Balancer
from tests.anchorgpu.processes import wait_for

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [pytest.mark.full, pytest.mark.chain]
# Each of these tells the end of a piece of work; a second one would be the same work done twice.
ONCE = (
    *("order.placed", "order.paid", "order.provisioning", "order.active"),
    *("payment.seen", "payment.settled", "lease.reserved", "lease.preparing", "lease.testing", "lease.ready"),
)


class Pairs:
    """Everything that runs. Started with `bin/serve`, from one environment."""

    def __init__(self, folder: Path) -> None:
        self.state = State(folder)
        self.postgres = Postgres(folder=folder / "postgres", log_file=self.state.log("postgres"))
        self.valkey = Valkey(folder=folder / "valkey", log_file=self.state.log("valkey"))
        self.chain = Anvil(
            log_file=self.state.log("anvil"), port=free_port(), state_file=self.state.chain_state
        )
        self.supervisor = Supervisor(say=print)
        self.programs: dict[str, Process] = {}
        self.gateway_ports = [free_port(), free_port()]

    def start(self) -> None:
        ports = Ports(http=reserve_free(), ssh=reserve_free())
        environment.make_secrets(self.state)
        for server in (self.postgres, self.valkey, self.chain):
            self.supervisor.adopt(server.process, is_data=True)
            server.start()
        self.postgres.create_database(environment.DATABASE)
        self.values = environment.settings(
            self.state, ports=ports, postgres=self.postgres, valkey=self.valkey, chain=self.chain
        ) | {"WEB_WORKERS": "1", "WORKER_PROCESSES": "2"}
        self.env = environment.child_environment(self.values)
        self.supervisor.run_once(programs.prepare(self.state, self.env), seconds=240)
        web_ports = [free_port(), free_port()]
        for number in (0, 1):
            self._serve(f"web{number}", "web", "--port", str(web_ports[number]))
            self._serve(f"gateway{number}", "gateway", "--port", str(self.gateway_ports[number]))
            self._serve(f"worker{number}", "worker")
            self._serve(f"beat{number}", "beat")
        ports.http.close()
        ports.ssh.close()
        self.web = Balancer(ports.http.port, web_ports)
        self.gateway = Balancer(ports.ssh.port, self.gateway_ports)
        wait_for(lambda: self.readiness()["status"] == "ready", seconds=120, what="readyz")

    def _serve(self, name: str, *arguments: str) -> None:
        process = Process(
            name=name,
            command=[ROOT / "bin" / "serve", *arguments],
            log_file=self.state.log(name),
            env=self.env,
            cwd=ROOT,
        )
        self.programs[name] = process
        self.supervisor.start(process)

    def stop(self) -> None:
        self.supervisor.stop()

    def readiness(self) -> dict[str, Any]:
        try:
            with urllib.request.urlopen(f"{self.values['SITE_URL']}/readyz", timeout=10) as answer:
                report: dict[str, Any] = json.load(answer)
        except urllib.error.HTTPError as answer:
            report = json.load(answer)
        except OSError:
            return {"status": "away", "failing": []}
        return report

    def buy(self) -> str:
        """The public id of an order that ended in a login."""
        done = subprocess.run(
            [sys.executable, "manage.py", "demo_buy", "--json"],
            cwd=ROOT,
            env=self.env,
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        url = json.loads(done.stdout.splitlines()[-1])["order"]
        token = url.rstrip("/").rpartition("/")[2]
        return str(self.ask("SELECT public_id FROM orders_order WHERE token = %s", token)[0][0])

    def ask(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.postgres.url(environment.DATABASE)) as connection:
            return connection.execute(sql.encode(), values).fetchall()

    def twice(self, order: str) -> list[str]:
        """What was told or mailed more than once."""
        events = self.ask("SELECT name, count(*) FROM core_event WHERE order_ref = %s GROUP BY name", order)
        mails = self.ask(
            "SELECT subject, count(*) FROM core_outgoingmail WHERE order_ref = %s GROUP BY subject", order
        )
        told = dict(events)
        assert set(ONCE) <= set(told)
        return [name for name in ONCE if told[name] != 1] + [
            subject for subject, count in mails if count != 1
        ]


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pairs]:
    found = Pairs(tmp_path_factory.mktemp("pairs"))
    try:
        found.start()
        yield found
    finally:
        found.stop()


def test_two_of_each_do_everything_once(pairs: Pairs) -> None:
    for _purchase in range(3):
        assert pairs.twice(pairs.buy()) == []
    assert min(pairs.web.served.values()) > 0
    assert len(pairs.gateway.served) == 2
    assert pairs.ask("SELECT count(*) FROM core_outboxrow WHERE status = 'parked'") == [(0,)]


def test_one_of_each_is_killed_and_the_shop_goes_on(pairs: Pairs) -> None:
    """Comes after the other: the shop has sold already."""
    for name in ("web0", "worker0", "beat0", "gateway0"):
        os.killpg(pairs.programs[name].pid, signal.SIGKILL)
        pairs.programs[name].kill()
    assert pairs.twice(pairs.buy()) == []
    gone = f":{pairs.gateway_ports[0]}"
    wait_for(
        lambda: [part for part in pairs.readiness()["failing"] if part.endswith(gone)] != [],
        seconds=90,
        what="the gateway that is gone, in readyz",
    )
    assert pairs.readiness()["status"] == "degraded"


def test_one_that_is_stopped_in_order_is_not_missed(pairs: Pairs) -> None:
    """The last gateway: its own row goes, and /readyz is red because nobody listens."""
    pairs.programs["gateway1"].stop()
    assert pairs.programs["gateway1"].exit_code == 0
    rows = pairs.ask("SELECT name FROM core_sweeprun WHERE name LIKE 'gateway:%%'")
    assert [name for (name,) in rows if name.endswith(f":{pairs.gateway_ports[1]}")] == []
