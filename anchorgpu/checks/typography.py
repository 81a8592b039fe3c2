"""What an editor of each language would mark: signs, spaces and words that the glossary rejects."""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# Neither prose nor translated: placeholders, tags, addresses, times of day.
_LEFT_OUT = re.compile(r"%\([a-z_0-9]+\)[sd]|\{[a-z_0-9]+\}|<[^>]*>|https?://\S+|\d\d:\d\d(:\d\d)?")
_REJECTED = tomllib.loads((Path(__file__).parent / "rejected.toml").read_text(encoding="utf-8"))
# Only where it never changes with the form of the word.
_YO = (
    "еще",
    "ее",
    "объем",
    "объема",
    "объему",
    "платеж",
    "счет",
    "кошелек",
    "подтвержден",
    "закреплен",
    "учет",
    "расчет",
)


@dataclass(frozen=True)
class Rule:
    """`prose_only`: terminals, file names and mail subjects have ordinary spaces."""

    name: str
    pattern: re.Pattern[str]
    prose_only: bool = False


def _rule(name: str, pattern: str, *, prose_only: bool = False) -> Rule:
    return Rule(name, re.compile(pattern, re.IGNORECASE), prose_only)


def _rejected(language: str) -> Rule:
    ends = "|".join(re.escape(word).replace(r"\$", r"\b") for word in _REJECTED[language])
    return _rule("a word that the glossary rejects", rf"\b(?:{ends})")


_STRAIGHT = _rule("straight quotes", r'"')
RULES = {
    "de": (
        _STRAIGHT,
        _rule("a gender sign", r"\w[*:_]in(?:nen)?\b|(?-i:[a-zß]Innen\b)"),
        _rejected("de"),
    ),
    "fr": (
        _STRAIGHT,
        _rule("no U+202F before ; : ! ? »", r"[ \u00a0][;:!?»]|[^\W_][;:!?](?=\s|$)", prose_only=True),
        _rule("no U+202F after «", r"«[^\u202f]", prose_only=True),
        _rule("a straight apostrophe", r"\w'\w"),
        _rule("a gender sign", r"\w\((?:e|s|es|ne)\)|\w·\w"),
        _rejected("fr"),
    ),
    "ru": (
        _STRAIGHT,
        _rule("no U+00A0 before —", r" —", prose_only=True),
        _rule("a space within « »", r"«\s|\s»"),
        _rule("a gender sign", r"\w\((?:а|ла)\)"),
        _rule("е in place of ё", rf"\b(?:{'|'.join(_YO)})\b"),
        _rejected("ru"),
    ),
}


def problems(language: str, text: str, *, source: str, is_prose: bool) -> Iterator[str]:
    """Names of the rules that one translation breaks; what the English sentence has itself is no fault."""
    words = _LEFT_OUT.sub("%", text)
    for rule in RULES.get(language, ()):
        found = rule.pattern.search(words) if is_prose or not rule.prose_only else None
        if found and found.group(0) not in source:
            yield f"{rule.name}: “{words[max(0, found.start() - 12) : found.end() + 12]}”"
