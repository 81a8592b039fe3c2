"""pg_dump and pg_restore of the server's own version: an older one refuses it, a newer one writes what it cannot read.

They come with the embedded server; for another one they are its own package's.
"""

import os
import re
import shutil
import subprocess  # runs pg_dump and pg_restore
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from anchorgpu.keeping.archive import KeepingError
from anchorgpu.services.errors import ServiceError
from anchorgpu.services.postgres import binaries

_VERSION = re.compile(r"\(PostgreSQL\) (\d+)")
_OPTIONS = {
    "sslmode": "PGSSLMODE",
    "sslrootcert": "PGSSLROOTCERT",
    "sslcert": "PGSSLCERT",
    "sslkey": "PGSSLKEY",
    "application_name": "PGAPPNAME",
    "target_session_attrs": "PGTARGETSESSIONATTRS",
}


def program(name: str, *, server_major: int) -> Path:
    """The program of that version. Raises KeepingError where this machine has none."""
    for candidate in _candidates(name, server_major):
        if candidate.is_file() and _major(candidate) == server_major:
            return candidate
    raise KeepingError(
        f"The server is PostgreSQL {server_major}, and this machine has no {name} of that version: install its "
        f"client (Debian, Ubuntu: apt-get install postgresql-client-{server_major})."
    )


def run(command: Sequence[str | Path], database: Mapping[str, Any]) -> None:
    """Run one of them against this database. The password stands in the environment, where no list of processes shows
    it. Raises KeepingError with its last line."""
    done = subprocess.run(  # fixed programs, no shell
        [str(part) for part in command],
        env=_environment(database),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    if done.returncode != 0:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["it gave no reason"]
        raise KeepingError(f"{Path(command[0]).name} failed: {lines[-1][:500]}")


def _candidates(name: str, major: int) -> Iterator[Path]:
    try:
        yield binaries() / name
    except ServiceError:
        pass
    yield Path(f"/usr/lib/postgresql/{major}/bin/{name}")
    yield Path(f"/usr/pgsql-{major}/bin/{name}")
    found = shutil.which(name)
    if found:
        yield Path(found)


def _major(candidate: Path) -> int | None:
    done = subprocess.run([candidate, "--version"], capture_output=True, text=True, check=False)
    found = _VERSION.search(done.stdout)
    return int(found[1]) if found else None


def _environment(database: Mapping[str, Any]) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    named = {
        "PGDATABASE": database["NAME"],
        "PGUSER": database["USER"],
        "PGPASSWORD": database["PASSWORD"],
        "PGHOST": database["HOST"],
        "PGPORT": str(database["PORT"]),
    } | {_OPTIONS[name]: value for name, value in database["OPTIONS"].items() if name in _OPTIONS}
    return {**kept, "LC_ALL": "C", **{name: value for name, value in named.items() if value}}
