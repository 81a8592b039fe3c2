"""Checkout over HTTP against the least that a sale can be, on one server in one run.

    python -m bench.checkout_rate [--orders 400] [--clients 4] [--workers 1] [--threads 8] [--json]

One web worker serves the shop's order form (a quote that is there, posted by a browser) and a bare REST framework view
(one free row locked with SKIP LOCKED and updated) in turns. PostgreSQL flushes every commit. Exit code 1 where the
checkout reaches less than a quarter of the bare view's rate.
"""

import argparse
import sys

from bench.servers import run_inside

LIMIT = 0.25


def parser() -> argparse.ArgumentParser:
    arguments = argparse.ArgumentParser(prog="python -m bench.checkout_rate", description=__doc__)
    arguments.formatter_class = argparse.RawDescriptionHelpFormatter
    arguments.add_argument("--orders", type=int, default=400, help="checkouts that are timed")
    arguments.add_argument("--clients", type=int, default=4, help="connections that send at the same time")
    arguments.add_argument("--workers", type=int, default=1, help="processes of the web server")
    arguments.add_argument("--threads", type=int, default=8, help="threads of each; 8 is what is deployed")
    arguments.add_argument("--json", action="store_true", help="one JSON object instead of the line")
    return arguments


def main() -> int:
    parser().parse_args()
    return run_inside(
        "bench.inside.checkout_rate",
        sys.argv[1:],
        durable=True,
        settings={
            "DJANGO_SETTINGS_MODULE": "bench.rate_settings",
            # The server stands behind a proxy, as deployed: it tells the buyer's address and that TLS was spoken.
            "TRUSTED_PROXIES": "127.0.0.1/32",
            "QUOTE_VALID_SECONDS": 24 * 3600,
        },
    )


if __name__ == "__main__":
    sys.exit(main())
