"""Checkout on a shop that has grown: ten times the cards and ten times the past.

    python -m bench.growth [--cards 200] [--past 10000] [--factor 10] [--runs 200] [--json]

Two shops on one PostgreSQL, six of ten cards leased in each; the same order is placed in one and in the other in turns
(and cancelled again, which is not timed), so that what else runs on the machine meets both alike. Exit code 1 where the
median of the large one is more than 1.3 times that of the small one.
"""

import argparse
import sys

from bench.servers import run_inside

LIMIT = 1.3


def parser() -> argparse.ArgumentParser:
    arguments = argparse.ArgumentParser(
        prog="python -m bench.growth",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    arguments.add_argument("--cards", type=int, default=200, help="of the small shop")
    arguments.add_argument("--past", type=int, default=10_000, help="released reservations of the small shop")
    arguments.add_argument("--factor", type=int, default=10, help="how many times larger the other is")
    arguments.add_argument("--runs", type=int, default=200, help="checkouts in each")
    arguments.add_argument("--json", action="store_true", help="one JSON object instead of the line")
    return arguments


def main() -> int:
    parser().parse_args()
    return run_inside("bench.inside.growth", sys.argv[1:], durable=False)


if __name__ == "__main__":
    sys.exit(main())
