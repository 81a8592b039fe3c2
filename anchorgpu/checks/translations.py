"""Catalogues parse, compile, hold no fuzzy entry, and keep every placeholder of the English sentence."""

import re
import shutil
import subprocess  # runs msgfmt
import sys
from pathlib import Path

import polib

ROOT = Path(__file__).resolve().parent.parent.parent
_PLACEHOLDER = re.compile(r"%\([a-z_0-9]+\)[sd]|\{[a-z_0-9]+\}|%[sd]")


def problems(catalogue: Path) -> list[str]:
    """What is wrong with one catalogue, one line each."""
    try:
        entries = polib.pofile(str(catalogue))
    except (OSError, UnicodeDecodeError) as error:
        return [f"{catalogue}: {error}"]
    found = []
    for entry in entries:
        if entry.obsolete:
            continue
        where = f"{catalogue}: “{entry.msgid[:60]}”"
        if entry.fuzzy:
            found.append(f"{where} is fuzzy")
        for text in [entry.msgstr, *entry.msgstr_plural.values()]:
            if text and not _placeholders(text) <= _placeholders(entry.msgid + (entry.msgid_plural or "")):
                found.append(f"{where} has a placeholder that the English sentence has not")
            if text and not entry.msgid_plural and _placeholders(text) != _placeholders(entry.msgid):
                found.append(f"{where} lacks a placeholder")
    return found + _msgfmt(catalogue)


def _placeholders(text: str) -> set[str]:
    return set(_PLACEHOLDER.findall(text))


def _msgfmt(catalogue: Path) -> list[str]:
    """gettext's own checks, where it is installed (bin/test installs it)."""
    program = shutil.which("msgfmt")
    if program is None:
        return []
    command = [program, "--check", "--output-file=/dev/null", str(catalogue)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # fixed program
    return [] if done.returncode == 0 else [line for line in done.stderr.splitlines() if line.strip()]


def main() -> int:
    catalogues = sorted((ROOT / "locale").glob("*/LC_MESSAGES/*.po"))
    found = [problem for catalogue in catalogues for problem in problems(catalogue)]
    for problem in found:
        print(problem)
    print(f"{len(catalogues)} catalogues")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
