"""Put a backup back into an empty database (bin/restore). Without Django until the rows and keys it needs are there."""

import argparse
import json
import os
import subprocess  # starts the second half, in an environment of its own
import sys
import tempfile
from collections.abc import Mapping, MutableMapping, Sequence
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from anchorgpu.addresses import SettingError, database
from anchorgpu.command_line import use_running_demo
from anchorgpu.env import read_env
from anchorgpu.keeping import archive, programs
from anchorgpu.keeping.archive import KeepingError, Manifest
from anchorgpu.startup import RESTORE_MARKER, connect, known_migrations
from billing.addresses import Xpub

ROOT = Path(__file__).resolve().parent.parent.parent
KEYS = {archive.QUOTE_KEYS: "QUOTE_KEYS_FILE", archive.SSH_HOST_KEY: "SSH_HOST_KEY_FILE"}
# Tables of extensions are the server's own.
_RELATIONS = """
    SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'S', 'f') AND n.nspname !~ '^(pg_|information_schema$)'
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')
"""
_OTHERS = """
    SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()
"""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="bin/restore", description="Puts a backup back into an empty database."
    )
    parser.add_argument("archive", type=Path, metavar="ARCHIVE", help="a file that bin/backup made")
    parser.add_argument("--into", required=True, metavar="DATABASE_URL", help="an empty database")
    parser.add_argument(
        "--force",
        action="store_true",
        help="put the backup's keys in place of others, which are kept beside them",
    )
    options = parser.parse_args(arguments)
    environ = dict(os.environ)
    use_running_demo(environ, ROOT / "var" / "env")
    environ["DATABASE_URL"] = options.into
    try:
        restore(options.archive, environ=environ, force=options.force)
    except (KeepingError, SettingError, OSError, psycopg.Error) as error:
        sys.stderr.write(f"bin/restore: {error}\n")
        return 1
    return 0


def restore(source: Path, *, environ: MutableMapping[str, str], force: bool) -> None:
    """All checks first; from the marker on the database is closed until the last step is done. Raises KeepingError,
    SettingError, OSError, psycopg.Error."""
    manifest = archive.read_manifest(source)
    refuse_newer(manifest)
    target = database(environ["DATABASE_URL"])
    with tempfile.TemporaryDirectory(prefix="anchorgpu-restore-") as folder:
        parts = archive.unpack(source, Path(folder), manifest)
        with connect(target) as connection:
            refuse_occupied(connection, manifest)
        for name, setting in KEYS.items():
            put_key_back(parts[name], environ, setting, force=force)
        env = read_env(environ)
        if env.deposit_xpub and Xpub(env.deposit_xpub).fingerprint != manifest.xpub_fingerprint:
            _say(
                "DEPOSIT_XPUB is not the one of the backup: programs refuse to start, or ask for accept_xpub."
            )
        with connect(target) as connection:
            connection.execute(sql.SQL("CREATE TABLE {} ()").format(sql.Identifier(RESTORE_MARKER)))
            major = connection.info.server_version // 10_000
        _say(f"Restoring the database of {manifest.made_at:%Y-%m-%d %H:%M} UTC ...")
        _load(parts[archive.DATABASE], target, server_major=major)
    _report(_finish(manifest, environ))


def refuse_newer(manifest: Manifest) -> None:
    """Old code does not know what newer tables mean; an older dump is brought up to this version at the end."""
    unknown = sorted(manifest.migrations - known_migrations())
    if unknown:
        app, name = unknown[0]
        raise KeepingError(
            f"The backup was made by a newer version ({manifest.version}; it has {app}.{name}): install that version."
        )


def refuse_occupied(connection: psycopg.Connection, manifest: Manifest) -> None:
    """Nothing is ever restored over something, nor under a program that runs."""
    if connection.info.server_version // 10_000 < manifest.server_major:
        raise KeepingError(
            f"The backup is of PostgreSQL {manifest.server_major}, this server is an older one."
        )
    if connection.execute("SELECT to_regclass(%s)", [RESTORE_MARKER]).fetchone() != (None,):
        raise KeepingError(
            "A restore into this database was interrupted: drop it, make a new one, and try again."
        )
    if connection.execute(_RELATIONS).fetchone() != (0,):
        raise KeepingError("The database is not empty: make a new one and name it with --into.")
    if connection.execute(_OTHERS).fetchone() != (0,):
        raise KeepingError("Another program is connected to the database: stop it first.")


def put_key_back(part: Path, environ: Mapping[str, str], setting: str, *, force: bool) -> None:
    """Where the file is missing, or with `force`; another key that is there is kept beside it, never lost."""
    if not environ.get(setting, "").strip():
        raise SettingError(f"{setting} is not set; docs/operations.md describes it.")
    place, key = Path(environ[setting]), part.read_bytes()
    if place.exists():
        if place.read_bytes() == key:
            return
        if not force:
            _say(
                f"{place} holds another key than the backup and stays; --force puts the backup's in its place."
            )
            return
        place.rename(_free_name(place))
    place.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(key)
    _say(f"{place} is the backup's.")


def _free_name(place: Path) -> Path:
    number = 1
    while (kept := place.with_name(f"{place.name}.before-restore-{number}")).exists():
        number += 1
    return kept


def _load(dump: Path, target: Mapping[str, Any], *, server_major: int) -> None:
    programs.run(
        [
            programs.program("pg_restore", server_major=server_major),
            "--exit-on-error",
            "--single-transaction",
            "--no-owner",
            "--no-privileges",
            f"--dbname={target['NAME']}",
            dump,
        ],
        target,
    )


def _finish(manifest: Manifest, environ: Mapping[str, str]) -> dict[str, Any]:
    done = subprocess.run(  # this project's own command
        [
            sys.executable,
            str(ROOT / "manage.py"),
            "finish_restore",
            f"--made-at={manifest.made_at.isoformat()}",
            f"--of-version={manifest.version}",
        ],
        env=dict(environ),
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise KeepingError("The restore is not finished, and the database stays closed: see the lines above.")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _report(facts: Mapping[str, Any]) -> None:
    _say(
        "The database is restored. What happened after the backup is unknown to it, so that\n"
        f"  - {facts['addresses_left_out']} deposit addresses of the pool, and many beyond, go to nobody:\n"
        "    crypto is offered again when the worker has looked at them on each network;\n"
        f"  - nothing is sold from {facts['nodes_waiting']} nodes until the provider has said what runs there;\n"
        f"  - {facts['refunds_perhaps_sent']} refunds that are due may have been sent: look at your wallet first;\n"
        f"  - {facts['mails_held']} mails are held back: a decision asks whether to send them.\n"
        "Now name this database in DATABASE_URL, start the programs, read the decisions, and run\n"
        "    python3 manage.py reconcile"
    )


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
