"""The fixed words of documents. Not the site's catalogues: a document must be whole on the day it is issued."""

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

WORDS_FILE = Path(__file__).parent / "words.toml"
FALLBACK = "en"


@cache
def all_words() -> dict[str, dict[str, Any]]:
    """Words by language: strings by key, and under `plural` forms by key."""
    return tomllib.loads(WORDS_FILE.read_text(encoding="utf-8"))


def word(language: str, key: str, **values: str) -> str:
    """A word or sentence; values are put in as they are. Raises KeyError for a key that is not there."""
    return str(_of(language)[key]).format(**values)


def counted(language: str, key: str, count: int, **values: str) -> str:
    """A word with its number, a whole one of at least 0."""
    forms: dict[str, str] = _of(language)["plural"][key]
    return forms[plural_form(language, count)].format(n=str(count), **values)


def plural_form(language: str, count: int) -> str:
    """one, few or other, by the rules of CLDR for whole numbers (Russian "many" is other here)."""
    if language == "ru":
        if count % 10 == 1 and count % 100 != 11:
            return "one"
        return "few" if count % 10 in (2, 3, 4) and count % 100 not in (12, 13, 14) else "other"
    if language == "fr":
        return "one" if count < 2 else "other"
    return "one" if count == 1 else "other"


def _of(language: str) -> dict[str, Any]:
    words = all_words()
    return words.get(language.split("-", maxsplit=1)[0], words[FALLBACK])
