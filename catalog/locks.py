"""Locks of the catalogue; there is one, because prices are published by few people and rarely."""

from django.db import connection

# Any constant of our own; it only has to differ from other advisory locks in this database.
PRICE_TABLE_LOCK = 0x616E_6301


def price_table_for_update() -> None:
    """Hold the right to publish until the transaction ends.

    Advisory because there is no row to lock before the first table, and because the next number must not be
    taken twice. Waits for the other publisher: one takes well under a second.
    """
    if not connection.in_atomic_block:
        raise RuntimeError("A lock needs a transaction.")
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [PRICE_TABLE_LOCK])
