"""`python -m planner`: memory, time and cost of a run, without settings or a database."""

import argparse
import json
import sys
from pathlib import Path

from planner.advise import plan
from planner.document import as_document
from planner.errors import PlanError
from planner.lots import GivenLot, lot_from_mapping
from planner.options import add_options, mapping_from
from planner.report import report
from planner.request import request_from_mapping

MAX_LOTS_TEXT = 1_000_000


def main(arguments: list[str] | None = None) -> int:
    """Print the plan; exit status 2 and one sentence with the field for input that cannot be planned."""
    parser = argparse.ArgumentParser(
        prog="python -m planner", description="What a training run needs, and what it costs on given lots."
    )
    add_options(parser)
    parser.add_argument("--lots", type=Path, metavar="FILE", help="lots to judge, a JSON list")
    options = vars(parser.parse_args(arguments))
    try:
        lots = _lots(options["lots"]) if options["lots"] else []
        found = plan(request_from_mapping(mapping_from(options)), lots)
    except PlanError as error:
        parser.error(str(error))
    sys.stdout.write(json.dumps(as_document(found)) + "\n" if options["json"] else report(found))
    return 0


def _lots(path: Path) -> list[GivenLot]:
    try:
        with path.open(encoding="utf-8") as file:
            data = json.loads(file.read(MAX_LOTS_TEXT))
    except (OSError, ValueError, RecursionError) as error:
        raise PlanError(code="lots_unreadable", field="lots", message="This file is no JSON list.") from error
    if not isinstance(data, list):
        raise PlanError(code="lots_unreadable", field="lots", message="This file is no JSON list.")
    return [lot_from_mapping(item, field=f"lots.{number}") for number, item in enumerate(data)]


if __name__ == "__main__":
    sys.exit(main())
