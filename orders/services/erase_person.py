"""Erase a buyer from his orders. What was sold, when and for how much stays: the books are made of it."""

from core import clock
from core.append_only import MARKER
from core.person import Person
from orders import ids
from orders.models import Order, OrderSearch


def erase(person: Person) -> dict[str, int]:
    """Must run in the transaction of the erasure, which has locked the orders. May be repeated."""
    orders = Order.objects.filter(pk__in=person.order_ids, erased_at=None)
    for row in orders:
        row.contact_name, row.contact_email = MARKER, ""
        row.contact_company = MARKER if row.contact_company else ""
        row.ssh_keys = []
        # Links that were mailed open nothing any more.
        row.token = ids.page_token()
        row.erased_at = clock.now()
        if row.notify == Order.Notify.BUYER:
            row.mail_to = ""
        if row.owner.startswith("web:"):
            row.owner = MARKER
        row.save()
    searches, _by_kind = OrderSearch.objects.filter(address__iexact=person.address).delete()
    return {"orders": len(orders), "order_searches": searches}
