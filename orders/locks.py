"""Every lock of this app, by name. Order across apps: quote, order, then billing, then fleet (docs/locking.md)."""

from core.locks import mark
from orders.models import Order, Quote


def quote_for_update(public_id: str) -> Quote | None:
    """One quote with lot and image."""
    quote = (
        Quote.objects.select_for_update(of=("self",))
        .select_related("lot", "lot__accelerator", "image")
        .filter(public_id=public_id)
        .first()
    )
    return mark(quote) if quote is not None else None


def order_for_update(public_id: str) -> Order | None:
    """One order with its quote."""
    order = (
        Order.objects.select_for_update(of=("self",))
        .select_related("quote")
        .filter(public_id=public_id)
        .first()
    )
    return mark(order) if order is not None else None
