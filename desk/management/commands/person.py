"""A buyer's data from the shell: what is kept, the file with all of it, or its erasure."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from core.errors import Refusal
from core.person import find, kept_of, open_matters_of
from core.services.erase_person import erase_person, export_person
from desk.person_file import as_zip
from desk.person_words import CHANGED, SECTIONS

ACTOR = "person"


class Command(BaseCommand):
    help = "Says what is kept about a buyer, writes it to a file, or erases it. The books keep what the law asks for."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("address", help="the buyer's e-mail address")
        what = parser.add_mutually_exclusive_group()
        what.add_argument("--export", type=Path, metavar="FILE", help="write a ZIP with all that is kept")
        what.add_argument("--erase", action="store_true", help="erase it, for good; needs --reason")
        parser.add_argument("--reason", default="", help="kept in the audit, so without the name")

    def handle(self, *args: Any, **options: Any) -> None:
        address, reason = options["address"], options["reason"].strip()
        try:
            if options["erase"]:
                self._erase(address, reason)
            elif options["export"] is not None:
                found, kept = export_person(address=address, actor=ACTOR, reason=reason)
                options["export"].write_bytes(as_zip(found, kept))
            else:
                self._tell(address)
        except Refusal as refusal:
            raise CommandError(refusal.text) from refusal

    def _erase(self, address: str, reason: str) -> None:
        if not reason:
            raise CommandError("An erasure needs --reason.")
        done = erase_person(address=address, actor=ACTOR, reason=reason)
        for name, number in done.counts.items():
            self.stdout.write(f"{number:>6}  {CHANGED[name]}")

    def _tell(self, address: str) -> None:
        found = find(address)
        kept = kept_of(found)
        for section, rows in kept.items():
            self.stdout.write(f"{len(rows):>6}  {SECTIONS[section]}")
        for sentence in open_matters_of(found):
            self.stdout.write(f"Not settled: {sentence}")
        if not kept:
            self.stdout.write("Nothing is kept about this address.")
