"""Servers of a measurement's own, in a temporary folder on free ports: a running demo is never touched.

The settings are those of a true installation, not of a demo: no clock that moves, no chain of its own.
"""

import os
import shutil
import subprocess  # the measurement runs in a process that has its settings from the start
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from anchorgpu.services.postgres import Postgres
from anchorgpu.services.valkey import Valkey
from tests.environment import production_settings

ROOT = Path(__file__).resolve().parent.parent
# A setting of the person's own shell must not reach a measurement.
_KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "VIRTUAL_ENV")
# Quiet programs: a log line for each request would be a part of what is measured.
_DATABASE = "anchorgpu"
# What a measurement of the production shape adds to the settings of a true installation.
SHAPE: Mapping[str, object] = {
    "DJANGO_SETTINGS_MODULE": "bench.load_settings",
    # The server stands behind a proxy, as deployed: it tells the buyer's address and that TLS was spoken.
    "TRUSTED_PROXIES": "127.0.0.1/32",
    "QUOTE_VALID_SECONDS": 24 * 3600,
    "API_REQUESTS_PER_MINUTE_KEY": 1_000_000,
}


def run_inside(
    module: str, arguments: Sequence[str], *, durable: bool, settings: Mapping[str, object] | None = None
) -> int:
    """Start PostgreSQL and Valkey, migrate, run `python -m module arguments`, stop both; the exit code.

    `durable`: commits are flushed to disk as in production. `settings` are more variables of the environment.
    """
    folder = Path(tempfile.mkdtemp(prefix="anchorgpu-bench-"))
    postgres = Postgres(folder=folder / "postgres", log_file=folder / "postgres.log", durable=durable)
    valkey = Valkey(folder=folder / "valkey", log_file=folder / "valkey.log", durable=False)
    try:
        postgres.start()
        valkey.start()
        postgres.create_database(_DATABASE)
        environment = {name: os.environ[name] for name in _KEPT if name in os.environ}
        environment |= production_settings(folder)
        environment |= {
            "DJANGO_SETTINGS_MODULE": "anchorgpu.settings",
            "DATABASE_URL": postgres.url(_DATABASE),
            "REDIS_URL": valkey.url,
            "BENCH_FOLDER": str(folder),
            "PYTHONPATH": str(ROOT),
        }
        environment |= {name: str(value) for name, value in (settings or {}).items()}
        _run([sys.executable, "manage.py", "migrate", "--verbosity", "0"], environment)
        return _run([sys.executable, "-m", module, *arguments], environment)
    finally:
        valkey.stop()
        postgres.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _run(command: Sequence[str], environment: Mapping[str, str]) -> int:
    return subprocess.run(list(command), env=dict(environment), cwd=ROOT, check=False).returncode
