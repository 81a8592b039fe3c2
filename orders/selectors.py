"""Reads of quotes and orders."""

from django.db.models import Q, QuerySet
from django.db.models.functions import Lower

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


def addresses_of_buyers() -> list[str]:
    """Every address that an order has, folded, each once: those that `orders_of_buyer` finds something for."""
    contacts = Order.objects.exclude(contact_email="").values_list(Lower("contact_email"))
    mailed = Order.objects.filter(notify=Order.Notify.BUYER).exclude(mail_to="").values_list(Lower("mail_to"))
    return sorted(address for (address,) in contacts.union(mailed))


def orders_of_buyer(address: str) -> QuerySet[Order]:
    """Orders for one person, by his folded address. Where mails go to a partner, that address is not the buyer's."""
    return Order.objects.alias(mailed=Lower("mail_to"), contact=Lower("contact_email")).filter(
        Q(contact=address) | Q(mailed=address, notify=Order.Notify.BUYER)
    )
