"""Reads of partners and their keys."""

from partners import key_text
from partners.models import ApiKey


def key_by_text(text: str) -> ApiKey | None:
    """The key with its partner, or None. 1 query. Expiry, revocation and mode are judged by the caller.

    The look-up is by hash: how long it takes says nothing about how much of a guess was right.
    """
    if not key_text.is_key_text(text):
        return None
    return ApiKey.objects.select_related("partner").filter(hash=key_text.digest(text)).first()
