"""The text of an API key: its mode in front, so that a test key is never taken for a live one."""

import hashlib
import re
import secrets

from django.conf import settings

_MARKS = {True: "agk_test_", False: "agk_live_"}
# 32 random bytes in URL-safe base64.
_PATTERN = re.compile(r"(agk_test_|agk_live_)[A-Za-z0-9_-]{43}")
# The mark and six characters: enough to tell keys apart in a list, useless for guessing the rest.
SHOWN_LENGTH = 15


def mode_mark() -> str:
    """What keys of this installation begin with."""
    return _MARKS[settings.PROVIDER == "simulated"]


def new_key_text() -> str:
    """A new secret of 256 random bits."""
    return mode_mark() + secrets.token_urlsafe(32)


def is_key_text(text: str) -> bool:
    """Whether a text could be a key at all. Keeps NUL and megabytes away from the database."""
    return _PATTERN.fullmatch(text) is not None


def digest(text: str) -> str:
    """What is stored instead of the text."""
    return hashlib.sha256(text.encode("ascii")).hexdigest()
