"""The guides that there are, read from texts/<slug>/<language>.md. A translation says only what differs."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from guides.figures import PLACEHOLDER
from guides.front_matter import Head, head_from, split, translated

TEXTS: Final = Path(__file__).resolve().parent / "texts"
SOURCE_LANGUAGE: Final = "en"
WORDS_PER_MINUTE: Final = 200

SLUGS: Final = (
    "choosing-an-accelerator",
    "memory-of-a-training-run",
    "two-b200-test-the-split",
    "renting-or-buying",
    "paying-in-crypto",
    "the-last-day",
)
"""In the order of the list: before the order, then after it."""

_NOT_READ = re.compile(r"\]\([^)]*\)|\{#[^}]*\}")
_WORD = re.compile(r"[^\W_]+(?:[’'.,-][^\W_]+)*")


@dataclass(frozen=True)
class Guide:
    """One guide in one language; `body` is Markdown with placeholders (guides.figures)."""

    slug: str
    language: str
    head: Head
    body: str
    words: int

    @property
    def reading_minutes(self) -> int:
        return max(1, round(self.words / WORDS_PER_MINUTE))


def guide_in(slug: str, language: str) -> Guide | None:
    """The guide in this language, else in English, or None where there is no such guide."""
    if slug not in SLUGS:
        return None
    wanted = TEXTS / slug / f"{language}.md"
    path = wanted if wanted.is_file() else TEXTS / slug / f"{SOURCE_LANGUAGE}.md"
    return _read(path, _changed(path))


def guides_in(language: str) -> Iterator[Guide]:
    """Every guide, in the order of the list."""
    for slug in SLUGS:
        found = guide_in(slug, language)
        if found is not None:
            yield found


def _changed(path: Path) -> tuple[int, int]:
    """When the file and its source last changed: a text that is edited shows at once."""
    source = path.with_name(f"{SOURCE_LANGUAGE}.md")
    return path.stat().st_mtime_ns, source.stat().st_mtime_ns


@lru_cache(maxsize=64)
def _read(path: Path, changed: tuple[int, int]) -> Guide:
    table, body = split(path.read_text(encoding="utf-8"))
    if path.stem != SOURCE_LANGUAGE:
        source, _ = split(path.with_name(f"{SOURCE_LANGUAGE}.md").read_text(encoding="utf-8"))
        table = source | translated(table)
    return Guide(path.parent.name, path.stem, head_from(table), body, _count_words(body))


def _count_words(body: str) -> int:
    """A placeholder reads as one word; addresses are not read."""
    return len(_WORD.findall(PLACEHOLDER.sub("1", _NOT_READ.sub("", body))))
