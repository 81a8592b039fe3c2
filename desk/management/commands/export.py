"""A table as CSV from the shell, the same file as on the desk's page."""

import sys
from argparse import ArgumentParser
from datetime import date
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from billing.exports import TABLES
from core.csv_safe import SEPARATORS
from core.errors import Refusal
from core.export import Period, last_month
from core.services.export_table import export_table

ACTOR = "export"


class Command(BaseCommand):
    help = "Writes orders, ledger, revenue, refunds or invoices as CSV; last month unless told otherwise."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("table", choices=sorted(TABLES))
        parser.add_argument("--from", dest="first", type=date.fromisoformat, help="first day, in UTC")
        parser.add_argument("--to", dest="last", type=date.fromisoformat, help="last day, included")
        parser.add_argument("--separator", choices=sorted(SEPARATORS), default="comma")
        parser.add_argument("--output", type=Path, help="file to write; without it standard output")

    def handle(self, *args: Any, **options: Any) -> None:
        month = last_month()
        period = Period(first=options["first"] or month.first, last=options["last"] or month.last)
        try:
            pieces = export_table(
                table=TABLES[options["table"]], period=period, separator=options["separator"], actor=ACTOR
            )
        except Refusal as refusal:
            raise CommandError(refusal.text) from refusal
        if options["output"] is None:
            for piece in pieces:
                sys.stdout.buffer.write(piece)
            sys.stdout.buffer.flush()
            return
        with options["output"].open("wb") as file:
            file.writelines(pieces)
