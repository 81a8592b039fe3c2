"""Compiles the translations in locale/: `python -m anchorgpu.catalogues`. bin/install runs it before anything starts.

A compiled file carries the digest of its source, so that a stale one is known whatever the times of the files say.
"""

import gettext
import hashlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import polib

LOCALE = Path(__file__).resolve().parent.parent / "locale"
DIGEST = "X-Source-Digest"


def compile_all(folder: Path = LOCALE) -> int:
    """Compile what is missing or stale; how many were compiled. Two processes at once do no harm."""
    stale = list(stale_sources(folder))
    for source in stale:
        catalogue = polib.pofile(str(source))
        catalogue.metadata[DIGEST] = _digest(source)
        half = source.with_suffix(f".{os.getpid()}.mo")
        catalogue.save_as_mofile(str(half))
        half.replace(source.with_suffix(".mo"))
    return len(stale)


def stale_sources(folder: Path = LOCALE) -> Iterator[Path]:
    """Catalogues whose compiled file is missing or was made from another text."""
    for source in sorted(folder.glob("*/LC_MESSAGES/*.po")):
        if _compiled_from(source.with_suffix(".mo")) != _digest(source):
            yield source


def _digest(source: Path) -> str:
    return hashlib.sha256(source.read_bytes()).hexdigest()


def _compiled_from(compiled: Path) -> str:
    try:
        with compiled.open("rb") as file:
            return gettext.GNUTranslations(file).info().get(DIGEST.lower(), "")
    except (OSError, ValueError, UnicodeDecodeError):
        return ""


def main() -> int:
    compile_all()
    return 0


if __name__ == "__main__":
    sys.exit(main())
