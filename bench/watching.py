"""What watching a chain costs: calls per block by how many orders are open, and how fast missed blocks are read.

    python -m bench.watching [--open 100000] [--blocks 10000] [--json]

A chain of its own. Counts the JSON-RPC calls of a round for one new block with 10 and with many open token orders,
and with open orders in the native coin; then the worker catches up on the blocks, in turns with web3's own get_logs
over the same ranges. Exits 1 where the calls for tokens differ or the catch-up takes over twice as long.
"""

import argparse
import sys

from bench.servers import run_inside

FEW = 10
LIMIT = 2.0


def parser() -> argparse.ArgumentParser:
    """The arguments, for both processes."""
    found = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    found.add_argument("--open", type=int, default=100_000, help="open token orders in the second count")
    found.add_argument("--native", type=int, default=1_000, help="open orders in the native coin")
    found.add_argument("--blocks", type=int, default=10_000, help="blocks to catch up on")
    found.add_argument("--transfers", type=int, default=10_000, help="token transfers in them, of strangers")
    found.add_argument("--turns", type=int, default=5, help="catch-ups of each kind; the median counts")
    found.add_argument("--json", action="store_true", help="one JSON object in place of the sentences")
    return found


def main() -> int:
    parser().parse_args()
    return run_inside("bench.inside.watching", sys.argv[1:], durable=False)


if __name__ == "__main__":
    sys.exit(main())
