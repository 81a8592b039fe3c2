"""Revenue is earned day by day: book the whole days of each running term. Found by a query, safe to repeat."""

from django.db import transaction
from django.db.models import Max, Q

from billing import ledger
from billing.services.post import post
from billing.terms import earned_days
from core.sweeps import each
from orders.lifecycle import OrderStatus
from orders.models import Order


def earn_due() -> int:
    """Post each active order that has a whole day which is not booked; how many. Each in a transaction of its own."""
    return each(_running(), _earn)


def _earn(order: Order) -> bool:
    days = earned_days(order)
    if not days or days[-1][0] == order.last_day:  # type: ignore[attr-defined]
        return False
    with transaction.atomic():
        return post(order_id=order.public_id, kind="revenue") is not None


def _running() -> list[Order]:
    last = Max("ledger_entries__day", filter=Q(ledger_entries__account=ledger.EARNED))
    rows = Order.objects.filter(status=OrderStatus.ACTIVE).select_related("quote", "extends")
    return list(rows.annotate(last_day=last).order_by("pk"))
