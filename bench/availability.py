"""The calendar of free lots: how long it takes with and without a long past.

    python -m bench.availability [--json]

2,000 cards, 300 leases ahead; the same look with no past and with 100,000 released reservations. Median of the runs,
taken in turns. Exits 1 where the past costs more than a ratio of 1.3 or a look needs more than three queries.
"""

import argparse
import sys

from bench.servers import run_inside


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cards", type=int, default=2000)
    parser.add_argument("--past", type=int, default=100_000, help="released reservations")
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--json", action="store_true", help="one JSON object in place of the sentence")
    parser.parse_args()
    return run_inside("bench.inside.availability", sys.argv[1:], durable=False)


if __name__ == "__main__":
    sys.exit(main())
