"""Public identifiers: a prefix that says what it is and at least 128 random bits."""

import secrets

# No 0 O 1 I L U: read aloud and copied by hand without doubt. 26 of 30 signs are 127.6 bits, 27 are 132.
_ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
_LENGTH = 27
_COUNT = len(_ALPHABET) ** _LENGTH


def new_id(prefix: str) -> str:
    """Such as qt_7G2M…"""
    number, signs = secrets.randbelow(_COUNT), []
    for _sign in range(_LENGTH):
        number, place = divmod(number, len(_ALPHABET))
        signs.append(_ALPHABET[place])
    return f"{prefix}_{''.join(signs)}"


def quote_id() -> str:
    return new_id("qt")


def order_id() -> str:
    return new_id("ord")


def page_token() -> str:
    """The address of an order page: 256 random bits."""
    return secrets.token_urlsafe(32)
