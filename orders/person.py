"""A buyer by his address: the orders of it, and what orders keep of him."""

from django.db.models import Q
from django.utils.translation import gettext as _

from core.append_only import MARKER
from core.person import Kept, Person
from orders import locks
from orders.contact import clean_email
from orders.lifecycle import OVER, OrderStatus
from orders.models import Order, OrderSearch
from orders.selectors import orders_of_buyer


def find(address: str, *, lock: bool = False) -> Person:
    """The person of an address, cleaned as orders clean it. Raises Invalid.

    `lock` takes the address, so that nobody is mailed his links meanwhile, then his orders in key order.
    """
    folded = clean_email(address, field="address").lower()
    if lock:
        locks.lock_search_address(folded)
    rows = locks.orders_of_buyer_for_update(folded) if lock else list(orders_of_buyer(folded).order_by("pk"))
    names = {text for row in rows for text in (row.contact_name, row.contact_company) if text != MARKER}
    return Person(
        address=folded,
        order_refs=tuple(row.public_id for row in rows),
        order_ids=tuple(row.pk for row in rows),
        names=tuple(sorted(names - {""})),
    )


def kept(person: Person) -> Kept:
    rows = Order.objects.filter(pk__in=person.order_ids).select_related("quote", "quote__lot", "quote__image")
    searches = OrderSearch.objects.filter(address__iexact=person.address).order_by("pk")
    return {
        "orders": [_order(row) for row in rows.order_by("pk")],
        "order_searches": list(searches.values("address", "prefix", "at")),
    }


def _order(row: Order) -> dict[str, object]:
    quote = row.quote
    return {
        "order": row.public_id,
        "status": row.status,
        "contact_name": row.contact_name,
        "contact_email": row.contact_email,
        "contact_company": row.contact_company,
        "contact_language": row.contact_language,
        "mails_go_to": row.notify,
        "ssh_keys": row.ssh_keys,
        "terms_version": row.terms_version,
        "terms_accepted_at": row.terms_accepted_at,
        "placed_at": row.placed_at,
        "paid_at": row.paid_at,
        "active_at": row.active_at,
        "ended_at": row.ended_at,
        "expired_at": row.expired_at,
        "cancelled_at": row.cancelled_at,
        "failed_at": row.failed_at,
        "quote": {
            "quote": quote.public_id,
            "lot": quote.lot.code,
            "lots": quote.lots,
            "days": quote.days,
            "image": quote.image.code,
            "options": quote.options,
            "starts_at": quote.starts_at,
            "bill_to": quote.bill_to,
            "subtotal": quote.subtotal,
            "tax": quote.tax,
            "total": quote.total,
            "currency": quote.currency,
            "created_at": quote.created_at,
        },
    }


def open_matters(person: Person) -> list[str]:
    # Of an order that came to nothing the money may be there, and a lot kept for the buyer's choice.
    waits = ~Q(status__in=OVER) | Q(status=OrderStatus.EXPIRED, offered_until__isnull=False)
    rows = Order.objects.filter(waits, pk__in=person.order_ids).order_by("pk")
    return [_("Order %(order)s is not over.") % {"order": row.public_id} for row in rows]
