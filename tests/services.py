"""Servers of the test run's own, started before Django reads its settings.

Loaded by `-p tests.services`. A running demo and a DATABASE_URL of the person's shell are never touched.
"""

import atexit
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from anchorgpu import catalogues
from anchorgpu.services.anvil import Anvil
from anchorgpu.services.ports import free_port
from anchorgpu.services.postgres import Postgres
from anchorgpu.services.valkey import Valkey
from tests.environment import demo_settings

# Settings of the person's own shell that would change what the tests see.
_FOREIGN = (
    "STRIPE_SECRET_KEY",
    "STRIPE_WEBHOOK_SECRET",
    "STRIPE_TRANSPORT",
    "EMAIL_URL",
    "TRUSTED_PROXIES",
    "PROVIDER",
    "SLURM_CONF",
    "STAFF_SECOND_FACTOR",
    "WEBHOOK_LOOPBACK",
    "CURRENCY",
    "IMPRINT_FILE",
    "METRICS_TOKEN",
    "PROMETHEUS_MULTIPROC_DIR",
)


def _start() -> None:
    catalogues.compile_all()
    folder = Path(tempfile.mkdtemp(prefix="anchorgpu-tests-"))
    postgres = Postgres(folder=folder / "postgres", log_file=folder / "log" / "postgres.log", durable=False)
    valkey = Valkey(folder=folder / "valkey", log_file=folder / "log" / "valkey.log", durable=False)
    atexit.register(_stop, folder, postgres, valkey, os.getpid())
    postgres.start()
    valkey.start()
    postgres.create_database("anchorgpu")
    for name in _FOREIGN:
        os.environ.pop(name, None)
    os.environ["ANCHORGPU_TEST_FOLDER"] = str(folder)
    os.environ.update(
        demo_settings(
            folder, database_url=postgres.url("anchorgpu"), redis_url=valkey.url, ssh_port=free_port()
        )
    )


def _stop(folder: Path, postgres: Postgres, valkey: Valkey, owner: int) -> None:
    if os.getpid() != owner:  # a forked child inherits the exit handlers
        return
    valkey.stop()
    postgres.stop()
    shutil.rmtree(folder, ignore_errors=True)


def _use_own_cache() -> None:
    """Parallel workers share the servers; each has its own cache, as pytest-django gives each a database."""
    number = int(os.environ["PYTEST_XDIST_WORKER"].removeprefix("gw")) % 15 + 1
    os.environ["REDIS_URL"] = os.environ["REDIS_URL"].rpartition("/")[0] + f"/{number}"


if "PYTEST_XDIST_WORKER" in os.environ:
    _use_own_cache()
else:
    _start()


@pytest.fixture(scope="session")
def anvil(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Anvil]:
    """A chain that mines each transaction at once; finality is 64 blocks behind (`mine(65)` passes it)."""
    chain = Anvil(log_file=tmp_path_factory.mktemp("anvil") / "anvil.log")
    chain.start()
    yield chain
    chain.stop()
