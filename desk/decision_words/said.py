"""How one kind of decision is said: its tone and icon, a badge, a heading with the facts, a paragraph."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from desk.about import About

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

Sentence = Callable[[About], str]


@dataclass(frozen=True, kw_only=True)
class Words:
    """`heading` tells the thing in one sentence with its figures; `text` what is known and what happens by itself."""

    tone: str
    icon: str
    badge: "str | _StrPromise"
    heading: Sentence
    text: Sentence


def sentences(*parts: str) -> str:
    """Whole sentences, the empty ones left out."""
    return " ".join(part for part in parts if part)


def quoted(text: str, *, limit: int = 300) -> str:
    """The words of a machine or a person, cut to what a row can hold."""
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else flat[: limit - 1].rstrip() + "…"
