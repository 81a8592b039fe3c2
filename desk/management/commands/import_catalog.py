"""Look at a catalogue file, and write it with --apply: the same as on the desk."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _

from catalog.import_file import MAX_BYTES, FileRefused
from catalog.import_plan import ImportPlan
from catalog.services.import_catalog import apply_import, preview_import
from core.errors import Refusal
from desk.import_words import figure_words, row_words, staying_words
from desk.in_use import rows_in_use

ACTOR = "import_catalog"


class Command(BaseCommand):
    help = (
        "Shows what a catalogue file (JSON or TOML) would add and change. Writes it with --apply: rows at once, "
        "prices into the draft. Deletes nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", help="in the form of catalog/data/accelerators.json and offer.toml")
        parser.add_argument("--apply", action="store_true", help="write; without it nothing is written")

    def handle(self, *args: Any, **options: Any) -> None:
        path = Path(options["file"])
        try:
            with path.open("rb") as file:
                content = file.read(MAX_BYTES + 1)
            found = preview_import(content=content, in_use=rows_in_use)
            self._show(found.plan)
            if found.plan.is_empty:
                self.stdout.write(_("The file changes nothing."))
                return
            if not options["apply"]:
                self.stdout.write(_("Nothing was written; --apply writes it."))
                return
            apply_import(
                content=content, digest=found.digest, actor=ACTOR, in_use=rows_in_use, name=path.name
            )
        except OSError as error:
            raise CommandError(f"{path}: {error.strerror or error}") from error
        except FileRefused as refused:
            lines = [f"{path}: {error}" for error in refused.errors]
            if refused.count > len(lines):
                lines.append(f"{path}: +{refused.count - len(lines)}")
            raise CommandError("\n".join([*lines, _("Nothing was written.")])) from refused
        except Refusal as refusal:
            raise CommandError(f"{refusal.code}: {refusal.text}") from refusal
        self.stdout.write(_("Written."))
        if found.plan.figures:
            self.stdout.write(_("The prices wait in the draft until they are published: /admin/desk/prices/"))

    def _show(self, plan: ImportPlan) -> None:
        for row in row_words(plan):
            self.stdout.write(f"{'+' if row.added else '~'} {row.kind} {row.code}")
            for name, old, new in row.fields:
                self.stdout.write(f"    {name}: {new}" if row.added else f"    {name}: {old} -> {new}")
        for kind, code, old, new in figure_words(plan):
            facts = {"kind": kind, "code": code, "old": old, "new": new}
            self.stdout.write("~ " + _("%(kind)s %(code)s, price into the draft: %(old)s -> %(new)s") % facts)
        for text in staying_words(plan):
            self.stdout.write("= " + _("%(row)s: not in the file, stays") % {"row": text})
        self.stdout.write(_("Rows that stay as they were: %(number)s.") % {"number": plan.unchanged})
