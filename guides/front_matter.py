"""The head of a guide's file: TOML between two lines of +++, then Markdown."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

from guides.examples import Example

FENCE: Final = "+++"
_TRANSLATED: Final = frozenset({"title", "summary", "updated", "method"})


class GuideFileError(ValueError):
    """A guide's file that cannot be read; the text names what is wrong."""


@dataclass(frozen=True)
class Source:
    """A document that the text rests on."""

    title: str
    url: str


@dataclass(frozen=True)
class Head:
    """What a guide says about itself.

    `lots` are codes of lots whose prices stand beside the text. `planner` names the example that the button opens.
    `claims` are what the text says in words about an example (`full.lot.h100-sxm-80x1` = "no"), and `quoted` the
    numbers in it that are not ours; both are for the test that reads the texts.
    """

    title: str
    summary: str
    author: str
    updated: date
    method: str
    lots: tuple[str, ...]
    read_next: tuple[str, ...]
    planner: str
    examples: Mapping[str, Example]
    claims: Mapping[str, str]
    quoted: frozenset[str]
    sources: tuple[Source, ...]


def split(text: str) -> tuple[dict[str, Any], str]:
    """The table of the head and the body. Raises GuideFileError."""
    first, _, rest = text.partition("\n")
    head, fence, body = rest.partition(f"\n{FENCE}\n")
    if first.strip() != FENCE or not fence:
        raise GuideFileError(f"the file must begin with a head between two lines of {FENCE}")
    try:
        return tomllib.loads(head), body.strip()
    except tomllib.TOMLDecodeError as error:
        raise GuideFileError(f"the head is not TOML: {error}") from error


def translated(table: Mapping[str, Any]) -> dict[str, Any]:
    """What a translation says itself; the rest is the source's. Raises GuideFileError."""
    if set(table) != _TRANSLATED:
        raise GuideFileError(f"the head of a translation holds {', '.join(sorted(_TRANSLATED))}")
    return dict(table)


def head_from(table: Mapping[str, Any]) -> Head:
    """The head of a table that is complete. Raises GuideFileError."""
    try:
        return Head(
            title=_text(table, "title"),
            summary=_text(table, "summary"),
            author=_text(table, "author"),
            updated=_day(table["updated"]),
            method=_text(table, "method"),
            lots=tuple(table.get("lots", ())),
            read_next=tuple(table.get("read_next", ())),
            planner=table.get("planner", ""),
            examples={name: Example.of(name, given) for name, given in table.get("examples", {}).items()},
            claims=dict(table.get("claims", {})),
            quoted=frozenset(table.get("quoted", ())),
            sources=tuple(Source(row["title"], row["url"]) for row in table["sources"]),
        )
    except KeyError as error:
        raise GuideFileError(f"the head lacks {error}") from error


def _text(table: Mapping[str, Any], name: str) -> str:
    value = table[name]
    if not isinstance(value, str) or not value.strip():
        raise GuideFileError(f"{name} must be a text")
    return value.strip()


def _day(value: object) -> date:
    if type(value) is not date:
        raise GuideFileError("updated must be a date such as 2026-12-01")
    return value
