"""Locks of the catalogue; there is one, because prices are published by few people and rarely."""

from django.db import connection

from catalog.models import PriceDraft

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


def open_draft_for_update() -> PriceDraft | None:
    """The open draft, under the right to publish: saving, importing and publishing never overlap."""
    price_table_for_update()
    return PriceDraft.objects.select_for_update().filter(closed_at=None).first()


def draft_for_update(draft_id: int) -> PriceDraft | None:
    """One draft, open or closed, under the same right."""
    price_table_for_update()
    return PriceDraft.objects.select_for_update().filter(pk=draft_id).first()
