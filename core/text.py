"""The one validation path of text from people (DESIGN rule 14)."""

import re
import unicodedata

from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from core.errors import Invalid

# Control characters but tab and line feed; NUL among them, which PostgreSQL cannot hold.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
# Bidirectional marks and other invisible format characters that make one text look like another.
_INVISIBLE = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]")


def is_storable(value: str) -> bool:
    """False for NUL and lone surrogates: PostgreSQL and UTF-8 cannot hold them."""
    return "\x00" not in value and not any("\ud800" <= c <= "\udfff" for c in value)


def check_storable(value: str, *, field: str) -> None:
    """Refuse what the storage cannot hold. Raises Invalid."""
    if not is_storable(value):
        raise Invalid(
            code="invalid_text", message=_("This text holds a character that cannot be stored."), field=field
        )


def clean_block(value: str, *, field: str, max_length: int, required: bool = False) -> str:
    """Text of several lines: NFC, line ends as \\n, bounded in characters. Raises Invalid."""
    check_storable(value, field=field)
    text = unicodedata.normalize("NFC", value.replace("\r\n", "\n").replace("\r", "\n"))
    if _CONTROL.search(text):
        raise Invalid(code="invalid_text", message=_("This text holds a control character."), field=field)
    text = _INVISIBLE.sub("", text).strip()
    if required and not text:
        raise Invalid(code="required", message=_("This field is required."), field=field)
    if len(text) > max_length:
        raise Invalid(
            code="too_long",
            message=ngettext_lazy(
                "This text is longer than %(max_length)s character.",
                "This text is longer than %(max_length)s characters.",
                "max_length",
            ),
            field=field,
            params={"max_length": max_length},
        )
    return text


def clean_line(value: str, *, field: str, max_length: int, required: bool = False) -> str:
    """One line: every run of white space, line ends and U+2028 among it, becomes one blank. Raises Invalid."""
    check_storable(value, field=field)
    flat = " ".join(value.split())
    return clean_block(flat, field=field, max_length=max_length, required=required)


def flatten(value: str) -> str:
    """For a mail header: no line end survives, whatever the text came from."""
    return " ".join(value.split())
