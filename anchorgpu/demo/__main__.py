"""The demo: `python -m anchorgpu.demo`, started by bin/demo once everything is installed."""

import argparse
import errno
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path

from anchorgpu.demo import environment, programs
from anchorgpu.demo.environment import Ports
from anchorgpu.demo.state import State
from anchorgpu.demo.supervisor import Stopped, Supervisor
from anchorgpu.env_file import read_env_file
from anchorgpu.services.anvil import Anvil
from anchorgpu.services.errors import ServiceError
from anchorgpu.services.ports import LOCALHOST, free_port, port_problem
from anchorgpu.services.postgres import Postgres
from anchorgpu.services.valkey import Valkey

ROOT = Path(__file__).resolve().parent.parent.parent
HTTP_PORT, SSH_PORT, CHAIN_PORT = 8000, 2222, 8545
# A cold first start on two busy cores; a warm one takes seconds.
PREPARE_SECONDS, READY_SECONDS = 240.0, 120.0


def say(text: str) -> None:
    print(text, flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parse(arguments)
    state = State(ROOT / "var")
    supervisor = Supervisor(say=say)
    supervisor.listen_to_signals()
    try:
        lock = state.lock()
        try:
            _run(options, state, supervisor)
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


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bin/demo",
        description="Runs the whole shop on this machine, with simulated GPUs and test money.",
    )
    parser.add_argument("--port", type=_port, default=HTTP_PORT, help="of the web pages (default 8000)")
    parser.add_argument(
        "--ssh-port", type=_port, help="of the SSH gateway (default 2222, or another free one)"
    )
    parser.add_argument("--reset", action="store_true", help="forget all orders, keys and passwords first")
    return parser.parse_args(arguments)


def _port(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) < 65536:
        raise argparse.ArgumentTypeError("a port is a number from 1 to 65535")
    return int(text)


def _sentence(problem: Exception) -> str:
    if isinstance(problem, OSError):
        if problem.errno == errno.ENOSPC:
            return f"The disk is full: {problem.filename or 'var/'} cannot be written; free some space."
        return f"{problem.strerror or problem} ({problem.filename or 'no file'})."
    return str(problem)


def _run(options: argparse.Namespace, state: State, supervisor: Supervisor) -> None:
    started = time.monotonic()
    if options.reset:
        state.reset()
        say("The former state is gone.")
    ports = _choose_ports(options, state)
    say("Starting PostgreSQL, Valkey and the local chain")
    environment.make_secrets(state)
    values = _start_servers(state, supervisor, ports)
    environment.publish(state, values)
    env = environment.child_environment(values)
    say("Preparing (the log is var/log/prepare.log)")
    supervisor.run_once(programs.prepare(state, env), seconds=PREPARE_SECONDS)
    say("Starting web, worker, beat and the SSH gateway")
    supervisor.start(programs.web(state, env))
    supervisor.start(programs.worker(state, env), restart=True)
    supervisor.start(programs.beat(state, env), restart=True)
    supervisor.start(programs.gateway(state, env), restart=True)
    supervisor.wait_until(lambda: _is_ready(ports.http), what="The shop (/readyz)", seconds=READY_SECONDS)
    say(_ready_block(values, state, seconds=time.monotonic() - started))
    supervisor.watch()


def _choose_ports(options: argparse.Namespace, state: State) -> Ports:
    """A port that the person asked for is used or refused; the SSH port stays what it was where it can."""
    problem = port_problem(options.port)
    if problem:
        raise ServiceError(
            f"Port {options.port} {problem}; choose another, for instance: bin/demo --port 8080"
        )
    if options.ssh_port is not None:
        problem = port_problem(options.ssh_port)
        if problem:
            raise ServiceError(
                f"Port {options.ssh_port} {problem}; choose another, for instance: bin/demo --ssh-port 2223"
            )
        return Ports(http=options.port, ssh=options.ssh_port)
    return Ports(http=options.port, ssh=free_port(preferred=_former(state, "SSH_PORT") or SSH_PORT))


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
        "  or have a buyer do it all: python manage.py demo_buy",
        "  watch a whole term go by: python manage.py demo_clock --skip 2d",
        "Settings are in var/env, logs in var/log. Ctrl-C ends everything.",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
