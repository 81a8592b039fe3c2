"""Public identifiers: a prefix that says what it is and at least 128 random bits."""

import secrets

# No 0 O 1 I L U: read aloud and copied by hand without doubt. 26 of 30 signs are 127.6 bits, 27 are 132.
_ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
_LENGTH = 27


def new_id(prefix: str) -> str:
    """Such as qt_7G2M…"""
    return f"{prefix}_{''.join(secrets.choice(_ALPHABET) for _ in range(_LENGTH))}"


def quote_id() -> str:
    return new_id("qt")


def order_id() -> str:
    return new_id("ord")


def page_token() -> str:
    """The address of an order page: 256 random bits."""
    return secrets.token_urlsafe(32)
