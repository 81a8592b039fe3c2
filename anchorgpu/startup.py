"""What is checked against the database before anything serves: not newer than the code, xpub not changed unseen."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psycopg
from django.core.exceptions import ImproperlyConfigured

from anchorgpu import catalogues
from anchorgpu.addresses import SettingError
from anchorgpu.env import Env, read_env
from billing.addresses import Xpub

ROOT = Path(__file__).resolve().parent.parent
OWN_APPS = ("core", "catalog", "fleet", "orders", "billing", "shop", "partners", "guides", "desk")
CONNECT_SECONDS = 5
# A table of this name stands in a database that is being restored.
RESTORE_MARKER = "restore_unfinished"


def check(env: Env) -> None:
    """Raises SettingError if the settings do not fit the database that they name.

    With a connection of its own, closed at once: the caller may fork. A server that cannot be reached is left
    to whoever needs it, which waits or says so in its own words.
    """
    try:
        connection = connect(env.database)
    except psycopg.OperationalError:
        return
    with connection:
        refuse_unfinished_restore(connection)
        refuse_newer_database(connection, known=known_migrations())
        if env.deposit_xpub:
            refuse_changed_xpub(connection, fingerprint=Xpub(env.deposit_xpub).fingerprint)


def check_or_exit() -> Env:
    """The same before a program loads the application, and that it speaks all languages. One sentence, no traceback."""
    try:
        env = read_env(os.environ)
        check(env)
        refuse_stale_translations()
    except ImproperlyConfigured as error:
        sys.stderr.write(f"AnchorGPU cannot start: {error}\n")
        raise SystemExit(1) from None
    return env


def refuse_stale_translations(folder: Path = catalogues.LOCALE) -> None:
    """A shop that silently speaks English, or yesterday's words, would be noticed by buyers only."""
    stale = [source.parent.parent.name for source in catalogues.stale_sources(folder)]
    if stale:
        raise SettingError(
            f"The translations are not compiled ({', '.join(stale)}): run bin/install, "
            "or .venv/bin/python -m anchorgpu.catalogues."
        )


def known_migrations(root: Path = ROOT) -> set[tuple[str, str]]:
    """The migrations that this code has."""
    return {
        (app, file.stem)
        for app in OWN_APPS
        for file in (root / app / "migrations").glob("*.py")
        if file.stem != "__init__"
    }


def refuse_unfinished_restore(connection: psycopg.Connection) -> None:
    """Between the last row and the last step of a restore a shop would give out what others have (bin/restore)."""
    if _has_table(connection, RESTORE_MARKER):
        raise SettingError(
            "DATABASE_URL names a database whose restore has not finished: "
            "make a new database and run bin/restore again."
        )


def refuse_newer_database(connection: psycopg.Connection, *, known: set[tuple[str, str]]) -> None:
    """Old code on new tables would fail anywhere, or write what the new code does not expect."""
    if not _has_table(connection, "django_migrations"):
        return
    rows = connection.execute(
        "SELECT app, name FROM django_migrations WHERE app = ANY(%s) ORDER BY id", [list(OWN_APPS)]
    ).fetchall()
    for app, name in rows:
        if (app, name) not in known:
            raise SettingError(
                f"DATABASE_URL names a database newer than this code (it has {app}.{name}): "
                "install that version."
            )


def refuse_older_database(env: Env) -> None:
    """A program on tables that are not there yet would fail at each request. Whoever cannot be reached may wait."""
    try:
        connection = connect(env.database)
    except psycopg.OperationalError:
        return
    with connection:
        has_any = _has_table(connection, "django_migrations")
        rows = connection.execute("SELECT app, name FROM django_migrations").fetchall() if has_any else []
    lacking = sorted(known_migrations() - set(rows))
    if lacking:
        app, name = lacking[0]
        raise SettingError(
            f"DATABASE_URL names a database older than this code (it lacks {app}.{name}): run bin/serve migrate."
        )


def refuse_changed_xpub(connection: psycopg.Connection, *, fingerprint: str) -> None:
    """Somebody who changes the xpub by mistake, or by break-in, would send all money elsewhere (billing.pool)."""
    if not _has_table(connection, "billing_acceptedxpub"):
        return
    row = connection.execute(
        "SELECT EXISTS (SELECT FROM billing_depositaddress WHERE xpub_fingerprint <> %(it)s AND status = 'issued')"
        " AND NOT EXISTS (SELECT FROM billing_acceptedxpub WHERE fingerprint = %(it)s)",
        {"it": fingerprint},
    ).fetchone()
    if row is not None and row[0]:
        raise SettingError(
            "DEPOSIT_XPUB has changed while addresses of another are open: put the former one back, "
            "or record the change with `manage.py accept_xpub`."
        )


def connect(database: Mapping[str, Any]) -> psycopg.Connection:
    """Past Django, which has its own. Raises psycopg.OperationalError."""
    return psycopg.connect(
        dbname=database["NAME"],
        user=database["USER"] or None,
        password=database["PASSWORD"] or None,
        host=database["HOST"] or None,
        port=database["PORT"] or None,
        connect_timeout=CONNECT_SECONDS,
        **database["OPTIONS"],
    )


def _has_table(connection: psycopg.Connection, name: str) -> bool:
    row = connection.execute("SELECT to_regclass(%s)", [name]).fetchone()
    return row is not None and row[0] is not None
