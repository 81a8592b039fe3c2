"""After a restore: who was erased since the backup is back, and is erased once more by the marks that were kept."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from core.errors import Refusal
from core.models import AuditEntry
from core.person import Person
from core.services.erase_person import ERASED, erase_person
from orders.selectors import addresses_of_buyers

ACTOR = "erase_again"


class Command(BaseCommand):
    help = "Erases buyers again after a restore, by a file with their marks. --list prints the marks of all erased."

    def add_arguments(self, parser: ArgumentParser) -> None:
        what = parser.add_mutually_exclusive_group(required=True)
        what.add_argument(
            "--list", action="store_true", help="print a mark a line: keep it outside the backup"
        )
        what.add_argument("--marks", type=Path, metavar="FILE", help="erase whom these marks name")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["list"]:
            for mark in (
                AuditEntry.objects.filter(action=ERASED).order_by("pk").values_list("subject", flat=True)
            ):
                self.stdout.write(mark)
            return
        marks = set(options["marks"].read_text().split())
        named = [address for address in addresses_of_buyers() if Person(address=address).mark in marks]
        refused = 0
        for address in named:
            mark = Person(address=address).mark
            try:
                erase_person(address=address, actor=ACTOR, reason="again, after a restore")
                self.stdout.write(f"{mark}: erased")
            except Refusal as refusal:
                refused += 1
                self.stdout.write(f"{mark}: {refusal.text}")
        self.stdout.write(f"{len(named) - refused} of {len(named)} erased; {len(marks)} marks read.")
        if refused:
            raise CommandError("Not all could be erased: settle what is named and run it again.")
