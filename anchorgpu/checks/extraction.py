"""Every sentence that code and templates ask for, read as Django's makemessages reads them, but from a copy."""

import shutil
import subprocess  # runs xgettext
import tempfile
from collections.abc import Iterator
from pathlib import Path

import polib
from django.template import TemplateSyntaxError
from django.utils.translation import template

# Text for developers and tests, or of others.
_LEFT_OUT = {"tests", "bench", "node_modules", "var", "migrations", "static", "locale", "docs"}
_KEYWORDS = (
    "gettext_noop",
    "gettext_lazy",
    "ngettext_lazy:1,2",
    "pgettext:1c,2",
    "npgettext:1c,2,3",
    "pgettext_lazy:1c,2",
    "npgettext_lazy:1c,2,3",
)
# Context, sentence, plural: what a catalogue finds an entry by.
Key = tuple[str, str, str]


def key_of(entry: polib.POEntry) -> Key:
    return (entry.msgctxt or "", entry.msgid, entry.msgid_plural or "")


def keys_of_code(root: Path) -> set[Key]:
    """Raises RuntimeError where gettext's programs are missing or cannot read a file."""
    program = shutil.which("xgettext")
    if program is None:
        raise RuntimeError("xgettext is missing: apt-get install gettext")
    with tempfile.TemporaryDirectory(prefix="anchorgpu-sentences-") as folder:
        copies = [str(file) for file in _copies(root, Path(folder))]
        keywords = [f"--keyword={keyword}" for keyword in _KEYWORDS]
        command = [program, "--language=Python", "--from-code=UTF-8", "--output=-", *keywords, *copies]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # fixed program
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip())
        return {key_of(entry) for entry in polib.pofile(done.stdout)}


def escaped(keys: set[Key]) -> list[str]:
    """Python knows \\u00a0 in a text, xgettext does not: what it reads is never asked for."""
    return sorted(sentence for _context, sentence, _plural in keys if "\\u" in sentence)


def _copies(root: Path, folder: Path) -> Iterator[Path]:
    """Python files as they are, templates as the Python that makemessages makes of them."""
    for number, file in enumerate(_sources(root)):
        if file.suffix == ".py":
            yield file
            continue
        target = folder / f"{number}.py"
        try:
            target.write_text(template.templatize(file.read_text(encoding="utf-8"), origin=str(file)))
        except TemplateSyntaxError as error:
            raise RuntimeError(f"{file}: {error}") from error
        yield target


def _sources(root: Path) -> Iterator[Path]:
    for file in sorted(root.rglob("*")):
        parts = file.relative_to(root).parts
        if any(part.startswith(".") or part in _LEFT_OUT for part in parts):
            continue
        if file.suffix in {".py", ".html", ".txt"} and file.is_file():
            yield file
