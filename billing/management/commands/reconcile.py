"""Compare books, chains, card payments and rows; the differences, and an exit code that says whether there are any."""

import json
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand

from billing import reconciled
from billing.services.reconcile import BETWEEN_LOOKS_SECONDS, LOOKS, reconcile


class Command(BaseCommand):
    help = "Compares the ledger with chain balances, card payments and rows. Exits with 1 where they differ."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="the last line is one JSON object")
        parser.add_argument("--totals", action="store_true", help="print the balance of every account")
        parser.add_argument(
            "--looks",
            type=int,
            default=LOOKS,
            help="a difference counts where each of so many looks shows it",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        found = reconcile(looks=max(1, options["looks"]), pause=BETWEEN_LOOKS_SECONDS)
        if options["totals"]:
            for account, asset, units in reconciled.totals():
                self.stdout.write(f"{account:24} {asset:20} {units:>30}")
        for difference in found:
            self.stdout.write(str(difference))
        for line in reconciled.restore_points():
            self.stdout.write(line)
        counts = reconciled.counts()
        if options["json"]:
            self.stdout.write(json.dumps({"differences": [asdict(row) for row in found], **counts}))
        else:
            self.stdout.write(
                f"{len(found)} differences; {counts['orders']} orders and {counts['transactions']} transactions "
                "in the books."
            )
        if found:
            raise SystemExit(1)
