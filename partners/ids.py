"""Ids that partners see: a prefix that tells the kind, and random text."""

import secrets


def endpoint_id() -> str:
    """Of a webhook endpoint."""
    return f"wh_{secrets.token_hex(12)}"


def delivery_id() -> str:
    """Of one delivery."""
    return f"whd_{secrets.token_hex(12)}"


def event_id(pk: int) -> str:
    """Of an event of the log: its place in it, so that later ids sort after earlier ones."""
    return f"evt_{pk:012d}"
