"""The files that are made from the API: its document and the typed Python client.

    python -m anchorgpu.checks.api_files             what is out of date or broken; exit code 1 where there is any
    python -m anchorgpu.checks.api_files --write     make docs/openapi.json and clients/python anew
    python -m anchorgpu.checks.api_files --release   the same, and what partners build on from now on
                                                     (docs/openapi.released.json)

Nothing is written while the API breaks what was released (anchorgpu.checks.api_breaks): a call that must go gets a
successor under /api/v2/ first. --release is a part of a release and of nothing else.
"""

import argparse
import filecmp
import json
import os
import shutil
import subprocess  # the generator of the client is a program
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import django
from django.utils.module_loading import import_string

from anchorgpu.checks.api_breaks import breaks
from tests.environment import production_settings

ROOT = Path(__file__).resolve().parent.parent.parent
DOCUMENT, RELEASED = ROOT / "docs/openapi.json", ROOT / "docs/openapi.released.json"
CLIENT, GENERATOR = ROOT / "clients/python", ROOT / "clients/generator"
_LEFT_OUT = frozenset({"__pycache__"})


def as_text(document: dict[str, Any]) -> str:
    """The document as its file has it."""
    return json.dumps(document, indent=1, ensure_ascii=False, sort_keys=False) + "\n"


def generate_client(document: Path, folder: Path) -> None:
    """The client of a document; an existing one is replaced. Raises CalledProcessError where the generator warns."""
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run(
        [
            *(sys.executable, "-m", "openapi_python_client", "generate", "--fail-on-warning"),
            *("--path", str(document), "--output-path", str(folder), "--meta", "poetry"),
            *("--config", str(GENERATOR / "config.yaml")),
            *("--custom-template-path", str(GENERATOR / "templates")),
        ],
        check=True,
        stdout=subprocess.DEVNULL,
        # The generator tidies up with ruff, by that name.
        env=dict(os.environ) | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"},
    )


def differing(left: Path, right: Path) -> list[str]:
    """Files that only one folder has, or that differ."""

    def names(root: Path) -> set[str]:
        return {
            str(file.relative_to(root))
            for file in root.rglob("*")
            if file.is_file() and not _LEFT_OUT & set(file.parts)
        }

    ours, theirs = names(left), names(right)
    _same, differ, failed = filecmp.cmpfiles(left, right, sorted(ours & theirs), shallow=False)
    return sorted([*(ours ^ theirs), *differ, *failed])


def faults(text: str) -> Iterator[str]:
    """Why the files are not those of this document, one line each."""
    yield from broken(text)
    if not DOCUMENT.is_file() or DOCUMENT.read_text(encoding="utf-8") != text:
        yield f"{DOCUMENT.relative_to(ROOT)} is not the document of the code."
        return
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder) / "python"
        generate_client(DOCUMENT, fresh)
        yield from (
            f"{CLIENT.relative_to(ROOT)}/{name} is not as generated." for name in differing(CLIENT, fresh)
        )


def broken(text: str) -> list[str]:
    """What partners would miss."""
    return breaks(json.loads(RELEASED.read_text(encoding="utf-8")), json.loads(text))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m anchorgpu.checks.api_files",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--release", action="store_true")
    asked = parser.parse_args(arguments)
    text = as_text(_document())
    if not (asked.write or asked.release):
        found = list(faults(text))
        sys.stdout.write("".join(f"{fault}\n" for fault in found))
        return 1 if found else 0
    if RELEASED.is_file() and (lost := broken(text)):
        sys.stdout.write("Nothing is written; this would break programs of partners:\n")
        sys.stdout.write("".join(f"  {line}\n" for line in lost))
        return 1
    DOCUMENT.write_text(text, encoding="utf-8")
    if asked.release or not RELEASED.is_file():
        RELEASED.write_text(text, encoding="utf-8")
    generate_client(DOCUMENT, CLIENT)
    return 0


def _document() -> dict[str, Any]:
    """Made by the code with the settings of a true installation; nothing is asked of a database."""
    with tempfile.TemporaryDirectory(prefix="anchorgpu-api-") as folder:
        os.environ.update(production_settings(Path(folder)))
        os.environ["DJANGO_SETTINGS_MODULE"] = "anchorgpu.settings"
        django.setup()
        # The settings have to be there first.
        return dict(import_string("partners.api.schema.document")())


if __name__ == "__main__":
    sys.exit(main())
