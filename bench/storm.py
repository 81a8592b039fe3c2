"""Far more buyers than lots, all at once: afterwards no card is double and nobody was refused what was free.

    python -m bench.storm [--buyers 200] [--processes 8] [--threads 5] [--json]

The buyers want lots of 1, 2, 4 and 8 cards for 3, 7 and 30 days on a fleet that holds 40 of them; whoever hears
`busy` asks again. They go through the checkout service in worker processes of their own. Exit code 1 on a breach: a
card in two living reservations at one time, an order that is not whole, a refused request that could still be placed,
an answer other than `no_capacity`, `busy` and `too_many_holds`, a buyer who waits for ever.
"""

import argparse
import sys

from bench.servers import run_inside


def parser() -> argparse.ArgumentParser:
    arguments = argparse.ArgumentParser(
        prog="python -m bench.storm",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    arguments.add_argument("--buyers", type=int, default=200)
    arguments.add_argument("--processes", type=int, default=8)
    arguments.add_argument("--threads", type=int, default=5, help="buyers of one process at the same time")
    arguments.add_argument("--json", action="store_true", help="one JSON object instead of the line")
    return arguments


def main() -> int:
    parser().parse_args()
    # Each buyer has an owner and a network of his own; the bounds are not what is looked at here.
    bounds = dict.fromkeys(("HOLD_ORDERS_PER_OWNER", "HOLD_CARDS_PER_OWNER", "HOLD_ORDERS_PER_PREFIX"), 1000)
    return run_inside("bench.inside.storm", sys.argv[1:], durable=False, settings=bounds)


if __name__ == "__main__":
    sys.exit(main())
