"""Compares the planner's memory model with published measurements: anybody's rows, the same columns."""

import csv
import json
from argparse import ArgumentParser
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from planner.measurements import Row
from planner.scoring import MarginScore, SplitScore, by_split, score_measurements, score_verdicts


class Command(BaseCommand):
    help = "Scores the memory model on measurements and verdicts in CSV files."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--measurements", required=True, type=Path, metavar="FILE.csv")
        parser.add_argument("--verdicts", type=Path, metavar="FILE.csv")
        parser.add_argument("--json", action="store_true", help="last line: one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        scored, problems = score_measurements(_rows(options["measurements"]))
        splits = by_split(scored)
        margins: dict[int, MarginScore] = {}
        if options["verdicts"] is not None:
            margins, unread = score_verdicts(_rows(options["verdicts"]))
            problems += unread
        for line in [*problems, *_splits(splits), *_margins(margins)]:
            self.stdout.write(line)
        if options["json"]:
            measurements = {name: asdict(score) for name, score in splits.items()}
            verdicts = {str(margin): asdict(score) for margin, score in margins.items()}
            self.stdout.write(json.dumps({"measurements": measurements, "verdicts": verdicts}))


def _rows(path: Path) -> list[Row]:
    """Cells beyond the header are dropped; a strange byte becomes a strange letter, not an end."""
    try:
        with path.open(encoding="utf-8", errors="replace", newline="") as file:
            return [{k: v for k, v in row.items() if k is not None} for row in csv.DictReader(file)]
    except (OSError, csv.Error) as error:
        raise CommandError(f"{path} cannot be read: {error}") from error


def _splits(splits: dict[str, SplitScore]) -> list[str]:
    lines = [f"{'split':<10}{'rows':>6}{'median':>9}{'p90':>9}{'under 5 %':>11}"]
    for name, score in splits.items():
        lines.append(f"{name:<10}{score.rows:>6}{score.median:>9.2%}{score.p90:>9.2%}{score.under_5:>11.1%}")
    return lines


def _margins(margins: dict[int, MarginScore]) -> list[str]:
    if not margins:
        return []
    lines = [f"{'margin':<10}{'rows':>6}{'right':>9}{'unsafe':>9}"]
    for margin, score in margins.items():
        lines.append(f"{margin:>3} %{'':<5}{score.rows:>6}{score.right:>9.1%}{score.unsafe:>9.1%}")
    return lines
