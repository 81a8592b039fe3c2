"""The buyer is back from the processor's page: hint to a worker that it is worth a look. Writes nothing."""

from django.core.cache import cache

from billing.models import CardSession
from core import outbox
from orders.models import Order

# A page that is loaded over and over asks the processor no more often than this.
INTERVAL_SECONDS = 3
Status = CardSession.Status


def look_at_card(order: Order) -> None:
    """Hints only; the events of the processor and the sweep find the same. Safe to repeat."""
    rows = CardSession.objects.filter(payment__order=order, status__in=[Status.OPEN, Status.COMPLETE])
    for pk in rows.values_list("pk", flat=True):
        if cache.add(f"card-look:{pk}", 1, timeout=INTERVAL_SECONDS):
            outbox.hint("billing.read_card_session", pk)
