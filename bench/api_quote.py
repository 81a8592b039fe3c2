"""CPU of a quote by the API against the least that a signed quote can be, on one worker in one run.

    python -m bench.api_quote [--requests 100] [--turns 8] [--json]

One web worker serves POST /api/v1/quotes (with a partner's key, and without one) and a bare REST framework view that
validates the same body, inserts one row and signs the same bytes, in turns. Exit code 1 where a quote takes more than
twice the CPU of the bare view.
"""

import argparse
import sys

from bench.servers import run_inside

LIMIT = 2.0


def parser() -> argparse.ArgumentParser:
    arguments = argparse.ArgumentParser(
        prog="python -m bench.api_quote",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    arguments.add_argument("--requests", type=int, default=100, help="requests of each kind in a turn")
    arguments.add_argument("--turns", type=int, default=8)
    arguments.add_argument("--json", action="store_true", help="one JSON object instead of the lines")
    return arguments


def main() -> int:
    parser().parse_args()
    return run_inside(
        "bench.inside.api_quote",
        sys.argv[1:],
        durable=False,
        settings={
            "DJANGO_SETTINGS_MODULE": "bench.quote_settings",
            # The server stands behind a proxy, as deployed: it tells the caller's address and that TLS was spoken.
            "TRUSTED_PROXIES": "127.0.0.1/32",
            "API_REQUESTS_PER_MINUTE_KEY": 10**6,
            "API_REQUESTS_PER_MINUTE_ADDRESS": 10**6,
        },
    )


if __name__ == "__main__":
    sys.exit(main())
