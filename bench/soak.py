"""Memory of the production shape under fifteen minutes of mixed traffic.

    python -m bench.soak [--minutes 15] [--json]

Starts what `bin/serve` starts, with a chain of its own. Visitors read pages in four languages, partners ask for
quotes, pages look for news; every few seconds an order is placed and paid by a true transfer, its cards are prepared
and tested by a login at the gateway, and after a minute and a half its buyer ends it. The memory of each process (its
share of what it has in common with others, PSS) in the last minute is compared with that of a third of the way (minute
5 of 15). Exit code 1 where one has grown by more than five in a hundred, or where a request or an order fails.
"""

import argparse
import sys

from bench.servers import SHAPE, run_inside

GROWTH_LIMIT = 1.05


def parser() -> argparse.ArgumentParser:
    arguments = argparse.ArgumentParser(prog="python -m bench.soak", description=__doc__)
    arguments.formatter_class = argparse.RawDescriptionHelpFormatter
    arguments.add_argument("--minutes", type=float, default=15.0)
    arguments.add_argument("--json", action="store_true", help="one JSON object instead of the lines")
    return arguments


def main() -> int:
    parser().parse_args()
    return run_inside(
        "bench.inside.soak",
        sys.argv[1:],
        durable=False,
        settings=SHAPE,
    )


if __name__ == "__main__":
    sys.exit(main())
