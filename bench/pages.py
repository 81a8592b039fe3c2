"""What the public pages cost: CPU against a bare Django page, weight of a first visit, memory of a web worker.

    python -m bench.pages [--requests 100] [--turns 8] [--json]

One web worker serves the catalogue and an accelerator's page and, in turns with each, a bare page: a template with the
same bytes as plain text, two queries, the same middleware. CPU is that of the worker (/proc/<pid>/stat), with gzip, as
browsers ask, and without. The weight is what a browser loads for its first page, without fonts. Exit code 1 above a
ratio of 1.5, 60 KB, one request that blocks the drawing, 90 MB, or where a page names another host.
"""

import argparse
import sys

from bench.servers import run_inside

CPU_LIMIT = 1.5
WEIGHT_LIMIT_BYTES = 60_000
BLOCKING_LIMIT = 1
MEMORY_LIMIT_MB = 90


def parser() -> argparse.ArgumentParser:
    arguments = argparse.ArgumentParser(prog="python -m bench.pages", description=__doc__)
    arguments.formatter_class = argparse.RawDescriptionHelpFormatter
    arguments.add_argument("--requests", type=int, default=100, help="requests of each page in a turn")
    arguments.add_argument("--turns", type=int, default=8)
    arguments.add_argument("--json", action="store_true", help="one JSON object instead of the lines")
    return arguments


def main() -> int:
    parser().parse_args()
    return run_inside(
        "bench.inside.pages",
        sys.argv[1:],
        durable=False,
        settings={
            "DJANGO_SETTINGS_MODULE": "bench.page_settings",
            # The server stands behind a proxy, as deployed: it tells that TLS was spoken.
            "TRUSTED_PROXIES": "127.0.0.1/32",
        },
    )


if __name__ == "__main__":
    sys.exit(main())
