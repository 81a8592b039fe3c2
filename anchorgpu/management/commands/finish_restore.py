"""The second half of bin/restore, which starts it: the rows are there, and nothing may use them before this has run."""

import json
from datetime import datetime
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser

from anchorgpu.keeping import finish


class Command(BaseCommand):
    help = (
        "Called by bin/restore: brings restored tables up to this version and makes them safe to sell from."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--made-at", required=True, help="time of the backup, ISO 8601")
        parser.add_argument("--of-version", required=True, help="version that made it")

    def handle(self, *args: Any, made_at: str, of_version: str, **options: Any) -> None:
        if not finish.is_unfinished():
            raise CommandError("Nothing is being restored into this database: use bin/restore.")
        call_command("migrate", interactive=False, verbosity=0)
        facts = finish.finish(backup_at=datetime.fromisoformat(made_at), version=of_version)
        self.stdout.write(json.dumps(facts))
