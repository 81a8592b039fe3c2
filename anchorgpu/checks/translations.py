"""Catalogues are whole and right: each sentence of the code, all forms, placeholders, and the signs of the language."""

import re
import shutil
import subprocess  # runs msgfmt
import sys
from collections.abc import Iterator
from pathlib import Path

import polib

from anchorgpu.checks import typography
from anchorgpu.checks.extraction import Key, escaped, key_of, keys_of_code

ROOT = Path(__file__).resolve().parent.parent.parent
_PLACEHOLDER = re.compile(r"%\([a-z_0-9]+\)[sd]|\{[a-z_0-9]+\}|%[sd]")
# Fractions, Django's fourth form of Russian, are never counted: their unit is a sign.
PLURAL_FORMS = {
    "de": "nplurals=2; plural=(n != 1);",
    "fr": "nplurals=2; plural=(n > 1);",
    "ru": "nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : "
    "n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2);",
}
# Whose sentences are seen in a terminal or are subjects of mails: ordinary spaces.
_PLAIN = ("fleet/gateway/", "orders/services/", "billing/services/notify", "billing/services/refund_mail")


def problems(catalogue: Path, keys: set[Key] | None = None) -> list[str]:
    """What is wrong with one catalogue, one line each; `keys`: what the code asks for, where that is to be compared."""
    try:
        entries = polib.pofile(str(catalogue))
    except (OSError, UnicodeDecodeError) as error:
        return [f"{catalogue}: {error}"]
    language = catalogue.parent.parent.name
    rule = entries.metadata.get("Plural-Forms", "")
    found = (
        [] if rule == PLURAL_FORMS.get(language, rule) else [f"{catalogue}: the rule of plurals is not ours"]
    )
    forms = int("".join(re.findall(r"nplurals=(\d)", rule)) or 1)
    found += [
        f"{catalogue}: “{entry.msgid[:60]}” {problem}"
        for entry in entries
        for problem in _of_entry(entry, language, forms)
    ]
    if keys is not None:
        there = {key_of(entry) for entry in entries if not entry.obsolete}
        found += [f"{catalogue}: “{key[1][:60]}” is missing" for key in sorted(keys - there)]
        found += [f"{catalogue}: “{key[1][:60]}” is used nowhere" for key in sorted(there - keys)]
    return found + _msgfmt(catalogue)


def _of_entry(entry: polib.POEntry, language: str, forms: int) -> Iterator[str]:
    if entry.obsolete:
        yield "is obsolete"
        return
    if entry.fuzzy:
        yield "is fuzzy"
    texts = list(entry.msgstr_plural.values()) if entry.msgid_plural else [entry.msgstr]
    if not all(texts) or len(texts) != (forms if entry.msgid_plural else 1):
        yield "is not translated in all forms"
    for text in texts:
        yield from _of_text(entry, text, language)


def _of_text(entry: polib.POEntry, text: str, language: str) -> Iterator[str]:
    source = entry.msgid + (entry.msgid_plural or "")
    if not _placeholders(text) <= _placeholders(source):
        yield "has a placeholder that the English sentence has not"
    if text and not entry.msgid_plural and _placeholders(text) != _placeholders(entry.msgid):
        yield "lacks a placeholder"
    yield from typography.problems(language, text, source=source, is_prose=_is_prose(entry))


def _is_prose(entry: polib.POEntry) -> bool:
    """Seen on a page at least once, or in the body of a mail."""
    return not entry.occurrences or not all(file.startswith(_PLAIN) for file, _line in entry.occurrences)


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
    catalogues = [ROOT / "locale" / language / "LC_MESSAGES" / "django.po" for language in PLURAL_FORMS]
    try:
        keys = keys_of_code(ROOT)
    except RuntimeError as error:
        print(error)
        return 1
    found = [f"“{sentence}”: write the sign itself, not its escape" for sentence in escaped(keys)]
    found += [problem for catalogue in catalogues for problem in problems(catalogue, keys)]
    for problem in found:
        print(problem)
    print(f"{len(keys)} sentences in {len(catalogues)} catalogues, {len(found)} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
