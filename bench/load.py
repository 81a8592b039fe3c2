"""The production shape under load, in turns with bare Django views on the same server; writes bench/RESULTS.md.

    python -m bench.load [--turns 8] [--requests 60] [--buyers 1000] [--seconds 40] [--json]

Starts what `bin/serve` starts (web with its default of two processes, worker, beat, gateway) with a PostgreSQL that
flushes every commit, Valkey and a chain of its own that makes a block every two seconds. Measures the catalogue, an
accelerator's page, a quote over the API and the placement of an order against bare views that do the least that such
a thing can be (a page of the same bytes, a signed row, a locked row), and the look for news of an order's page: by one
buyer alone, and by many at once, each in the rhythm that his page asks for. Exit code 1 where the 95th percentile of
many is ten times the median of one, or where a request fails. (What a checkout costs by itself measures
`bench.checkout_rate`: here worker, beat and gateway do on the same cores what each order begins.)
"""

import argparse
import sys

from bench.servers import SHAPE, run_inside

POLL_LIMIT = 10.0


def parser() -> argparse.ArgumentParser:
    arguments = argparse.ArgumentParser(prog="python -m bench.load", description=__doc__)
    arguments.formatter_class = argparse.RawDescriptionHelpFormatter
    arguments.add_argument("--turns", type=int, default=8, help="turns of each view and its bare twin")
    arguments.add_argument("--requests", type=int, default=60, help="requests of each in a turn")
    arguments.add_argument("--buyers", type=int, default=1000, help="order pages that look for news at once")
    arguments.add_argument("--seconds", type=int, default=40, help="how long they do")
    arguments.add_argument(
        "--json", action="store_true", help="one JSON object; bench/RESULTS.md stays as it is"
    )
    return arguments


def main() -> int:
    parser().parse_args()
    return run_inside(
        "bench.inside.load",
        sys.argv[1:],
        durable=True,
        settings=SHAPE,
    )


if __name__ == "__main__":
    sys.exit(main())
