"""Make one file of everything that cannot be made again: the database and the two private keys.

One snapshot, so that a shop which sells meanwhile is whole in it. Under its final name the file is complete.
"""

import fcntl
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import psycopg

from anchorgpu.env import read_env
from anchorgpu.keeping import archive, programs
from anchorgpu.keeping.archive import KeepingError
from anchorgpu.startup import OWN_APPS, connect
from core.version import VERSION

UNFINISHED = ".anchorgpu-unfinished"
# A statement that changes tables holds them; a migration takes seconds. Longer means that something hangs.
LOCK_WAIT = "120s"


@dataclass(frozen=True)
class Source:
    """What is kept. `database` as DATABASE_URL gives it; `environ` only for the names of the settings in it."""

    database: Mapping[str, Any]
    quote_keys_file: Path
    ssh_host_key_file: Path
    xpub_fingerprint: str
    environ: Mapping[str, str]


def back_up(source: Source, *, folder: Path, moment: datetime) -> Path:
    """Write `folder`/anchorgpu-<time>.tar and return its path. One at a time per folder; what a killed one left there
    goes first. Raises KeepingError, OSError, psycopg.Error."""
    folder.mkdir(parents=True, exist_ok=True)
    with _alone(folder) as work:
        target = folder / f"anchorgpu-{moment:%Y%m%dT%H%M%SZ}.tar"
        if target.exists():
            raise KeepingError(f"{target} is there already.")
        dump = work / archive.DATABASE
        facts = _dump(source, dump) | {"made_at": moment.isoformat()}
        archive.pack(
            work / target.name,
            facts=facts,
            parts={
                archive.DATABASE: dump,
                archive.QUOTE_KEYS: source.quote_keys_file,
                archive.SSH_HOST_KEY: source.ssh_host_key_file,
            },
        )
        (work / target.name).rename(target)
        _keep_name(folder)
    return target


@contextmanager
def _alone(folder: Path) -> Iterator[Path]:
    """A work folder of this run's own, on the disk of the target, so that the last step is one rename."""
    work = folder / UNFINISHED
    work.mkdir(mode=0o700, exist_ok=True)
    descriptor = os.open(work, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _clear(work)
        try:
            yield work
        finally:
            _clear(work)
    except BlockingIOError:
        raise KeepingError(f"Another backup is being written into {folder}.") from None
    finally:
        os.close(descriptor)


def _clear(work: Path) -> None:
    for leftover in work.iterdir():
        leftover.unlink()


def _dump(source: Source, target: Path) -> dict[str, Any]:
    """One snapshot for the dump and for what the manifest says of it."""
    with connect(source.database) as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection.read_only = True
        (snapshot,) = _row(connection, "SELECT pg_export_snapshot()")
        major = connection.info.server_version // 10_000
        facts = {
            "version": VERSION,
            "server_major": major,
            "migrations": sorted(_migrations(connection)),
            "xpub_fingerprint": source.xpub_fingerprint,
            "highest_address_index": _highest_index(connection, source.xpub_fingerprint),
            "orders": _row(connection, "SELECT count(*) FROM orders_order")[0],
            "settings": settings_named(source.environ),
        }
        programs.run(
            [
                programs.program("pg_dump", server_major=major),
                "--format=custom",
                "--no-owner",
                "--no-privileges",
                "--no-comments",
                f"--lock-wait-timeout={LOCK_WAIT}",
                f"--snapshot={snapshot}",
                # Whoever is signed in signs in again: an archive must not open anybody's session.
                "--exclude-table-data=django_session",
                f"--file={target}",
            ],
            source.database,
        )
        return facts


def _migrations(connection: psycopg.Connection) -> list[tuple[str, str]]:
    return connection.execute(
        "SELECT app, name FROM django_migrations WHERE app = ANY(%s)", [list(OWN_APPS)]
    ).fetchall()


def _highest_index(connection: psycopg.Connection, fingerprint: str) -> int | None:
    found: int | None = _row(
        connection,
        "SELECT max(index) FROM billing_depositaddress WHERE xpub_fingerprint = %s",
        [fingerprint],
    )[0]
    return found


def _row(connection: psycopg.Connection, query: str, values: list[str] | None = None) -> tuple[Any, ...]:
    row = connection.execute(query.encode(), values).fetchone()
    if row is None:
        raise KeepingError("The database gave no answer.")
    return row


def settings_named(environ: Mapping[str, str]) -> list[str]:
    """Names of this installation's settings without what they hold: secrets stay where the operator keeps them."""
    asked = _Asked(environ)
    read_env(asked)
    return sorted(asked.names)


class _Asked(dict[str, str]):
    """Notes which settings are there and were read."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        super().__init__(environ)
        self.names: set[str] = set()

    def get(self, name: str, default: Any = None) -> Any:
        value = super().get(name, default)
        if value and name in self:
            self.names.add(name)
        return value


def _keep_name(folder: Path) -> None:
    """A rename is on the disk when its folder is."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
