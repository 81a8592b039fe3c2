"""What an order's payment has told: events and open decisions."""

from core.models import Decision, Event
from orders.models import Order


def told(order: Order, prefix: str = "payment.") -> list[str]:
    rows = Event.objects.filter(order_ref=order.public_id, name__startswith=prefix)
    return list(rows.values_list("name", flat=True))


def kinds(order: Order) -> list[str]:
    return sorted(
        Decision.objects.filter(order_ref=order.public_id, closed_at=None).values_list("kind", flat=True)
    )
