"""Texts within a card processor's limits, shortened by whole characters."""

import unicodedata

# Half of the processor's 250 for a product's name: even where it counts UTF-16 units nothing is too long.
NAME_LENGTH = 120
_JOINER = "\u200d"
_SKIN_TONES = range(0x1F3FB, 0x1F400)
_FLAG_LETTERS = range(0x1F1E6, 0x1F200)


def shorten(text: str, max_length: int) -> str:
    """The text, or its beginning with "…" at the end: at most `max_length` characters, none of them cut in two."""
    if len(text) <= max_length:
        return text
    end = max_length - 1
    while end > 0 and _continues(text, end):
        end -= 1
    return text[:end].rstrip() + "…"


def _continues(text: str, position: int) -> bool:
    """Whether the sign at `position` belongs to what stands before it: an accent, a joined emoji, half a flag."""
    sign, before = text[position], text[position - 1]
    if sign == _JOINER or before == _JOINER or unicodedata.combining(sign):
        return True
    if unicodedata.category(sign) in ("Mn", "Me", "Mc") or ord(sign) in _SKIN_TONES:
        return True
    if ord(sign) not in _FLAG_LETTERS:
        return False
    letters = 0
    while letters < position and ord(text[position - 1 - letters]) in _FLAG_LETTERS:
        letters += 1
    return letters % 2 == 1
