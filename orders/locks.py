"""Every lock of this app, by name. Order across apps: quote, order, then billing, then fleet (docs/locking.md)."""

from django.db import connection

from catalog.models import Accelerator, Image, Lot
from core.locks import lock_word, mark
from core.rows import Columns
from fleet.contention import Patience, busy_on_lock_timeout
from orders.models import Order, Quote
from orders.selectors import orders_of_buyer

_QUOTE, _LOT = Columns(Quote, "q"), Columns(Lot, "l")
# The sources of a specification are long and no part of an order.
_ACCELERATOR = Columns(Accelerator, "a", without=("cores", "conflict", "sources", "card_hour_amount"))
_IMAGE = Columns(Image, "i")
# As SQL: it runs in every checkout, and the ORM takes longer to write it than the database to answer.
_QUOTE_FOR_UPDATE = f"""
    SELECT {_QUOTE.sql}, {_LOT.sql}, {_ACCELERATOR.sql}, {_IMAGE.sql} FROM orders_quote q
    JOIN catalog_lot l ON l.id = q.lot_id JOIN catalog_accelerator a ON a.id = l.accelerator_id
    JOIN catalog_image i ON i.id = q.image_id
    WHERE q.public_id = %s FOR UPDATE OF q
"""  # noqa: S608  # nosec B608 # our own names; values are parameters


def quote_for_update(public_id: str, *, patience: Patience | None = None) -> Quote | None:
    """One quote with lot, accelerator and image. With `patience` Conflict(busy) where it takes longer."""
    sql = _QUOTE_FOR_UPDATE
    if patience is not None:
        sql = f"{patience.begin()}{sql}; {patience.end()}"
    with busy_on_lock_timeout(), connection.cursor() as cursor:
        cursor.execute(sql, [public_id])
        if patience is not None:
            cursor.nextset()
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


def orders_of_buyer_for_update(address: str) -> list[Order]:
    """All orders of one buyer, by his folded address, in key order: for his erasure."""
    rows = orders_of_buyer(address).order_by("pk").select_for_update(of=("self",))
    return [mark(row) for row in rows]


def lock_search_prefix(prefix: str) -> None:
    """Serialise the counting of searches from one network until the transaction ends (advisory)."""
    lock_word(f"orders.search.prefix:{prefix}")


def lock_search_address(address: str) -> None:
    """Serialise the answers to one address: of two at once, one mail goes out (advisory)."""
    lock_word(f"orders.search.address:{address}")
