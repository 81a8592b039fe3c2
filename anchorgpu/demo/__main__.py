"""The demo: `python -m anchorgpu.demo`, started by bin/demo once everything is installed."""

import argparse
import errno
import os
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path

from anchorgpu.demo import environment, options, programs
from anchorgpu.demo.environment import Ports
from anchorgpu.demo.state import State
from anchorgpu.demo.supervisor import Stopped, Supervisor
from anchorgpu.env_file import read_env_file
from anchorgpu.services.anvil import Anvil
from anchorgpu.services.errors import ServiceError
from anchorgpu.services.ports import LOCALHOST, PortTaken, Reservation, port_problem, reserve_free
from anchorgpu.services.postgres import Postgres
from anchorgpu.services.process import Process
from anchorgpu.services.valkey import Valkey

ROOT = Path(__file__).resolve().parent.parent.parent
CHAIN_PORT = 8545
# A cold first start on two busy cores; a warm one takes seconds.
PREPARE_SECONDS, READY_SECONDS = 240.0, 120.0


def say(text: str) -> None:
    print(text, flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    # bin/install tells when it began; without it the demo begins here.
    started = float(os.environ.pop("ANCHORGPU_STARTED", "") or time.monotonic())
    chosen = options.parse(arguments)
    state = State(ROOT / "var")
    supervisor = Supervisor(say=say)
    supervisor.listen_to_signals()
    try:
        lock = state.lock()
        try:
            _run(chosen, state, supervisor, started=started)
        finally:
            supervisor.stop()
            lock.close()
    except Stopped:
        say("Stopped; nothing is left running. The state is in var/.")
        return 0
    except (ServiceError, OSError) as problem:
        print(f"bin/demo: {_sentence(problem)}", file=sys.stderr, flush=True)
        return 1
    return 0


def _sentence(problem: Exception) -> str:
    if isinstance(problem, OSError):
        if problem.errno == errno.ENOSPC:
            return f"The disk is full: {problem.filename or 'var/'} cannot be written; free some space."
        return f"{problem.strerror or problem} ({problem.filename or 'no file'})."
    return str(problem)


def _run(chosen: argparse.Namespace, state: State, supervisor: Supervisor, *, started: float) -> None:
    if chosen.reset:
        state.reset()
        say("The former state is gone.")
    ports = _reserve_ports(chosen, state)
    say("Starting PostgreSQL, Valkey and the local chain")
    environment.make_secrets(state)
    values = _start_servers(state, supervisor, ports)
    environment.publish(state, values)
    env = environment.child_environment(values)
    say("Preparing (the log is var/log/prepare.log)")
    supervisor.run_once(programs.prepare(state, env), seconds=PREPARE_SECONDS)
    say("Starting web, worker, beat and the SSH gateway")
    gateway = programs.gateway(state, env)
    try:
        ports.http.release()
        supervisor.start(programs.web(state, env))
        ports.ssh.release()
        supervisor.start(gateway)
        supervisor.start(programs.worker(state, env), restart=True)
        supervisor.start(programs.beat(state, env), restart=True)
        supervisor.wait_until(
            lambda: _is_ready(ports.http.port), what="The shop (/readyz)", seconds=READY_SECONDS
        )
    except ServiceError:
        _explain_gateway(gateway, ports.ssh.port)
        raise
    # From here on a fault of the gateway passes; at the start it would only hide that nobody can log in.
    supervisor.restart_from_now_on(gateway)
    say(_ready_block(values, state, seconds=time.monotonic() - started))
    supervisor.watch()


def _reserve_ports(chosen: argparse.Namespace, state: State) -> Ports:
    """A port that the person asked for is used or refused; the SSH port stays what it was where it can."""
    http = _reserve(chosen.port, "--port 8080")
    if chosen.ssh_port is not None:
        return Ports(http=http, ssh=_reserve(chosen.ssh_port, "--ssh-port 2223"))
    return Ports(http=http, ssh=reserve_free(preferred=_former(state, "SSH_PORT") or options.SSH_PORT))


def _reserve(port: int, instead: str) -> Reservation:
    try:
        return Reservation(port)
    except PortTaken as problem:
        raise ServiceError(
            f"Port {port} {problem}; choose another, for instance: bin/demo {instead}"
        ) from problem


def _explain_gateway(gateway: Process, port: int) -> None:
    """Raises ServiceError if the gateway has ended because its port went to another program meanwhile."""
    problem = port_problem(port) if gateway.exit_code is not None else None
    if problem is not None:
        raise ServiceError(
            f"The SSH gateway cannot listen: port {port} {problem}; "
            "choose another, for instance: bin/demo --ssh-port 2223"
        )


def _former(state: State, name: str) -> int | None:
    if not state.env_file.exists():
        return None
    value = read_env_file(state.env_file).get(name, "")
    return int(value) if value.isdecimal() else None


def _start_servers(state: State, supervisor: Supervisor, ports: Ports) -> dict[str, str]:
    postgres = Postgres(
        folder=state.folder / "postgres", log_file=state.log("postgres"), port=_former(state, "POSTGRES_PORT")
    )
    valkey = Valkey(
        folder=state.folder / "valkey", log_file=state.log("valkey"), port=_former(state, "VALKEY_PORT")
    )
    chain = Anvil(
        log_file=state.log("anvil"),
        port=_former(state, "CHAIN_PORT") or CHAIN_PORT,
        state_file=state.chain_state,
    )
    for server in (postgres, valkey, chain):
        supervisor.adopt(server.process, is_data=True)
        server.start()
    postgres.create_database(environment.DATABASE)
    return environment.settings(state, ports=ports, postgres=postgres, valkey=valkey, chain=chain)


def _is_ready(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://{LOCALHOST}:{port}/readyz", timeout=3) as answer:  # nosec B310
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def _ready_block(values: dict[str, str], state: State, *, seconds: float) -> str:
    notes = state.notes_file.read_text(encoding="utf-8").splitlines() if state.notes_file.exists() else []
    site, staff = values["SITE_URL"], values["DEMO_STAFF_USER"]
    lines = [
        "",
        f"AnchorGPU is ready at {site}/  (after {seconds:.0f} s)",
        f"  Staff        {site}/admin/  user {staff}, password {values['DEMO_STAFF_PASSWORD']}",
        f"  Mail         {site}/demo/mail/  everything the shop has sent",
        f"  SSH gateway  {LOCALHOST}:{values['SSH_PORT']}",
        *(f"  {note}" for note in notes),
        "Allocation of GPUs, access to them and the money are simulated on this machine.",
        "Next:",
        "  buy a lot in the browser and pay from the demo wallet,",
        "  or have a buyer do it all: python3 manage.py demo_buy",
        "  watch a whole term go by: python3 manage.py demo_clock --skip 2d",
        "Settings are in var/env, logs in var/log. Ctrl-C ends everything.",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
