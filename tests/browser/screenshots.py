"""The command of bin/screenshots: what is wanted, then tests/browser/pictures.py with the shop of the tests."""

import argparse
import json
import os
import sys
from pathlib import Path

import pytest

LANGUAGES, WIDTHS, THEMES = ("en", "de", "fr", "ru"), (1280, 390), ("light", "dark")
# How the run below is told.
WANTED = "ANCHORGPU_SCREENSHOTS"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="bin/screenshots",
        description="Pictures of every page and state, as var/screenshots/LANGUAGE/NAME-WIDTH-THEME.png.",
    )
    parser.add_argument("--lang", action="append", choices=LANGUAGES, help="one language; may be repeated")
    parser.add_argument("--width", action="append", type=int, choices=WIDTHS, help="one width in pixels")
    parser.add_argument("--theme", action="append", choices=THEMES, help="light or dark alone")
    parser.add_argument(
        "--only", action="append", default=[], metavar="NAME", help="one page, such as order-active"
    )
    parser.add_argument(
        "--readme", action="store_true", help="only the pictures of the README, in docs/images"
    )
    options = vars(parser.parse_args(arguments))
    os.environ[WANTED] = json.dumps(options)
    pictures = Path(__file__).with_name("pictures.py")
    return int(pytest.main(["-q", "--no-header", "-p", "no:cacheprovider", str(pictures)]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
