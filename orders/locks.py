"""Every lock of this app, by name. Order across apps: quote, order, then billing, then fleet (docs/locking.md)."""

from django.db import connection

from catalog.models import Accelerator, Image, Lot
from core.locks import mark
from core.rows import Columns
from orders.models import Order, Quote

_QUOTE, _LOT = Columns(Quote, "q"), Columns(Lot, "l")
_ACCELERATOR, _IMAGE = Columns(Accelerator, "a"), Columns(Image, "i")
# As SQL: it runs in every checkout, and the ORM takes longer to write it than the database to answer.
_QUOTE_FOR_UPDATE = f"""
    SELECT {_QUOTE.sql}, {_LOT.sql}, {_ACCELERATOR.sql}, {_IMAGE.sql} FROM orders_quote q
    JOIN catalog_lot l ON l.id = q.lot_id JOIN catalog_accelerator a ON a.id = l.accelerator_id
    JOIN catalog_image i ON i.id = q.image_id
    WHERE q.public_id = %s FOR UPDATE OF q
"""  # noqa: S608  # nosec B608 # our own names; values are parameters


def quote_for_update(public_id: str) -> Quote | None:
    """One quote with lot, accelerator and image."""
    with connection.cursor() as cursor:
        cursor.execute(_QUOTE_FOR_UPDATE, [public_id])
        values = cursor.fetchone()
    if values is None:
        return None
    quote, rest = _QUOTE.take(values)
    lot, rest = _LOT.take(rest)
    lot.accelerator, rest = _ACCELERATOR.take(rest)
    quote.lot, (quote.image, _rest) = lot, _IMAGE.take(rest)
    return mark(quote)


def order_for_update(public_id: str) -> Order | None:
    """One order with its quote."""
    order = (
        Order.objects.select_for_update(of=("self",))
        .select_related("quote")
        .filter(public_id=public_id)
        .first()
    )
    return mark(order) if order is not None else None
