"""Behind bin/backup: writes one archive of the database and the keys, and notes when that last went well."""

import os
import shutil
import sys
import tempfile
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import psycopg
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError, connection

from anchorgpu.keeping import NAME
from anchorgpu.keeping.archive import KeepingError
from anchorgpu.keeping.backup import Source, back_up
from billing.addresses import Xpub
from core import clock
from core.models import SweepRun

STDOUT = "-"


class Command(BaseCommand):
    help = "Writes FOLDER/anchorgpu-<time>.tar, or the same to standard output. The shop may go on meanwhile."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "folder",
            nargs="?",
            default=str(settings.BASE_DIR / "var" / "backups"),
            help="where to; - is standard output",
        )

    def handle(self, *args: Any, folder: str, **options: Any) -> None:
        moment = clock.system_now()
        try:
            SweepRun.objects.update_or_create(name=NAME, defaults={"last_started_at": moment})
            self._write(folder, moment)
        except (KeepingError, OSError, psycopg.Error, DatabaseError) as error:
            _note_failure(error)
            raise CommandError(f"No backup was made. {error}") from error
        SweepRun.objects.filter(name=NAME).update(last_finished_at=clock.system_now(), last_error="")

    def _write(self, folder: str, moment: datetime) -> None:
        if folder != STDOUT:
            made = back_up(_source(), folder=Path(folder), moment=moment)
            self.stdout.write(f"{made} ({made.stat().st_size:,} bytes)")
            return
        with tempfile.TemporaryDirectory(prefix="anchorgpu-backup-") as work:
            made = back_up(_source(), folder=Path(work), moment=moment)
            with made.open("rb") as file:
                shutil.copyfileobj(file, sys.stdout.buffer)


def _note_failure(error: Exception) -> None:
    """Where the database itself is away nobody can note it; the age of the last good one tells then."""
    with suppress(DatabaseError):
        SweepRun.objects.filter(name=NAME).update(last_error=f"{error}"[:2000])


def _source() -> Source:
    known = connection.settings_dict
    options = {name: value for name, value in known["OPTIONS"].items() if name != "pool"}
    return Source(
        database={
            **{name: known[name] for name in ("NAME", "USER", "PASSWORD", "HOST", "PORT")},
            "OPTIONS": options,
        },
        quote_keys_file=Path(settings.QUOTE_KEYS_FILE),
        ssh_host_key_file=Path(settings.SSH_HOST_KEY_FILE),
        xpub_fingerprint=Xpub(settings.DEPOSIT_XPUB).fingerprint if settings.DEPOSIT_XPUB else "",
        environ=os.environ,
    )
