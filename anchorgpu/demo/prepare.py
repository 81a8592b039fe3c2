"""Brings chain, database and files of a demo to where the programs can start; run as a process of its own.

In one process because each start of Django costs seconds. Everything here may be repeated.
"""

import io
import os
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import django
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command

from anchorgpu import startup
from anchorgpu.demo import files
from anchorgpu.env import read_env
from billing.rails import local_chain


def main() -> None:
    """The steps in order, each with its line. The chain comes first: settings name the file it writes."""
    _step("test USDC on the local chain", _deploy_token)
    try:
        startup.check(read_env(os.environ))
        django.setup()
    except ImproperlyConfigured as error:
        raise SystemExit(f"AnchorGPU cannot start: {error}") from None
    _step("database", lambda: call_command("migrate", interactive=False, verbosity=0))
    _step("catalogue", lambda: call_command("seed_catalog", stdout=io.StringIO()))
    _step("fleet and logins", _set_up_demo)
    _step("the chain's clock", _move_chain)
    _step("static files", files.collect_static)
    _forget_gateway()


def _step(what: str, work: Callable[[], object]) -> None:
    started = time.monotonic()
    work()
    print(f"    {what}: {time.monotonic() - started:.1f} s", flush=True)


def _deploy_token() -> None:
    local_chain.prepare(os.environ["CHAIN_RPC_URL"], os.environ["EVM_NETWORKS_FILE"])


def _set_up_demo() -> None:
    """What the command says (the partner's key) is shown when the demo is ready."""
    said = io.StringIO()
    call_command("sync_roles", stdout=io.StringIO())
    call_command("demo_setup", stdout=said)
    notes = Path(os.environ["DEMO_NOTES_FILE"])
    notes.touch(mode=0o600)
    notes.write_text(said.getvalue(), encoding="utf-8")


def _move_chain() -> None:
    """A stopped chain stands still while the product's clock goes on."""
    # Its models can be imported only now that Django is set up.
    clock = import_module("core.clock")
    local_chain.move_time(os.environ["CHAIN_RPC_URL"], clock.now())


def _forget_gateway() -> None:
    """A sign of life of the last run must not make /readyz green before this run's gateway listens."""
    import_module("fleet.gateway.heartbeat").forget()


if __name__ == "__main__":
    main()
