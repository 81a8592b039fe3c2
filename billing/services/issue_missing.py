"""Orders that were paid and have no documents yet: an event that was lost or a seller without an imprint."""

from datetime import timedelta

from django.db import transaction

from billing.services.issue_invoice import issue_for_paid
from core import clock
from core.sweeps import each
from orders.models import Order

# A paid order gets its documents within seconds. Older ones than this are history and no scan for ever.
WINDOW = timedelta(days=90)
BATCH = 50


def issue_missing() -> int:
    """Issue what is missing, each order in a transaction of its own; how many orders got documents."""
    waiting = Order.objects.filter(paid_at__gte=clock.now() - WINDOW, invoices__isnull=True)
    return each(list(waiting.order_by("paid_at").values_list("public_id", flat=True)[:BATCH]), _issue)


def _issue(order_id: str) -> bool:
    with transaction.atomic():
        return bool(issue_for_paid(order_id))
