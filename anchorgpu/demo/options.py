"""The options of bin/demo: checked with the standard library alone, before anything is installed."""

import argparse
from collections.abc import Sequence

HTTP_PORT, SSH_PORT = 8000, 2222


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Raises SystemExit: 0 after the help, 2 where an option is wrong."""
    parser = argparse.ArgumentParser(
        prog="bin/demo",
        description="Runs the whole shop on this machine, with simulated GPUs and test money.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--port", type=port_number, default=HTTP_PORT, help=f"of the web pages (default {HTTP_PORT})"
    )
    parser.add_argument(
        "--ssh-port", type=port_number, help=f"of the SSH gateway (default {SSH_PORT}, or another free one)"
    )
    parser.add_argument("--reset", action="store_true", help="forget all orders, keys and passwords first")
    return parser.parse_args(arguments)


def port_number(text: str) -> int:
    if not (text.isascii() and text.isdecimal()) or not 0 < int(text) < 65536:
        raise argparse.ArgumentTypeError("a port is a number from 1 to 65535")
    return int(text)


if __name__ == "__main__":
    parse(None)
