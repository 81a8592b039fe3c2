"""The HTML part of a mail, made from its text when it is sent: the words exist once."""

import re
from dataclasses import dataclass
from itertools import groupby

from django.conf import settings
from django.template.loader import render_to_string
from django.utils import translation

# What mail programs know as the end of a letter; below it stand the notes that every mail carries.
SIGNATURE = "-- "


@dataclass(frozen=True)
class Line:
    """A line of text, or the address of a page of ours. Nothing else becomes a link."""

    text: str
    is_link: bool


@dataclass(frozen=True)
class Block:
    """One paragraph, or the items of one list."""

    is_list: bool
    lines: tuple[Line, ...]


def html_of(*, subject: str, text: str, language: str) -> str:
    """A whole document: no pictures, no tables, nothing from elsewhere; readable where styles are thrown away."""
    with translation.override(language):
        return render_to_string(
            "mail/mail.html", {"language": language, "subject": subject, **parts_of(text)}
        )


def parts_of(text: str) -> dict[str, list[Block]]:
    """`blocks` of the mail itself and `notes` below its signature."""
    words, _line, notes = text.partition(f"\n{SIGNATURE}\n")
    return {"blocks": blocks_of(words), "notes": blocks_of(notes)}


def blocks_of(text: str) -> list[Block]:
    """Paragraphs stand between empty lines; lines that begin with a hyphen are a list."""
    return [
        Block(is_list, tuple(_line(line.removeprefix("- ")) for line in lines))
        for paragraph in re.split(r"\n\s*\n", text)
        for is_list, lines in groupby(filter(None, map(str.strip, paragraph.splitlines())), _is_item)
    ]


def _is_item(line: str) -> bool:
    return line.startswith("- ")


def _line(text: str) -> Line:
    return Line(text, is_link=text.startswith(f"{settings.SITE_URL}/") and " " not in text)
