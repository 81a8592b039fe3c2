"""Lists of the API for a partner with 100,000 orders against one with 1,000, in one run.

    python -m bench.api_lists [--orders 1000] [--factor 100] [--runs 100] [--json]

Two shops on one PostgreSQL. Each list (orders: the first page and one in the middle; events: the same; events of one
order) is asked for in one and in the other in turns, so that what else runs on the machine meets both alike. Exit code
1 where the median of the large shop is more than 1.3 times that of the small one in any list.
"""

import argparse
import sys

from bench.servers import run_inside

LIMIT = 1.3


def parser() -> argparse.ArgumentParser:
    arguments = argparse.ArgumentParser(
        prog="python -m bench.api_lists",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    arguments.add_argument("--orders", type=int, default=1_000, help="of the small shop")
    arguments.add_argument("--factor", type=int, default=100, help="how many times more the other has")
    arguments.add_argument("--runs", type=int, default=100, help="requests of each list in each shop")
    arguments.add_argument("--json", action="store_true", help="one JSON object instead of the lines")
    return arguments


def main() -> int:
    parser().parse_args()
    return run_inside(
        "bench.inside.api_lists",
        sys.argv[1:],
        durable=False,
        settings={"API_REQUESTS_PER_MINUTE_KEY": 10**6, "ALLOWED_HOSTS": "gpu.example,testserver"},
    )


if __name__ == "__main__":
    sys.exit(main())
