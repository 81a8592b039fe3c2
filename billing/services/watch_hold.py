"""While a full payment is seen and not settled, the cards stay (DESIGN rule 4)."""

from datetime import timedelta

from billing.lifecycle import PaymentStatus
from billing.models import PaymentView
from core import clock
from fleet.services.move_release import move_release
from orders.lifecycle import OrderStatus
from orders.models import Order

# Long enough for the slowest finality in use (20 to 30 minutes on an optimistic roll-up) and a worker's pause.
AHEAD = timedelta(hours=1)


def keep_while_seen(order: Order, view: PaymentView) -> None:
    """Move the release time ahead of now. Locks the hold and its cards; does nothing in any other state."""
    if view.status == PaymentStatus.SEEN and order.status == OrderStatus.AWAITING_PAYMENT:
        move_release(ref=order.public_id, until=clock.now() + AHEAD)
