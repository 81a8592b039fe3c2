"""Reads of quotes and orders."""

from core import clock
from orders.lifecycle import QuoteStatus
from orders.models import Order, Quote


def quote_by_id(public_id: str) -> Quote | None:
    """A quote with what its page shows, or None."""
    return (
        Quote.objects.select_related("lot", "lot__accelerator", "image").filter(public_id=public_id).first()
    )


def quote_status(quote: Quote) -> str:
    """The status by the clock: an open quote whose time is over reads as expired whatever the column says."""
    if quote.status == QuoteStatus.OPEN and quote.expires_at <= clock.now():
        return QuoteStatus.EXPIRED
    return quote.status


def order_by_token(token: str) -> Order | None:
    """An order by the secret of its page, or None: the same for "none" and "not yours"."""
    return (
        Order.objects.select_related("quote", "quote__lot", "quote__lot__accelerator", "quote__image")
        .filter(token=token)
        .first()
    )
