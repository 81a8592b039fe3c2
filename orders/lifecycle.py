"""States of quotes and orders and the steps between them (docs/lifecycle.md)."""

from django.db import models

from core.lifecycle import Lifecycle, table


class QuoteStatus(models.TextChoices):
    OPEN = "open"
    ACCEPTED = "accepted"
    EXPIRED = "expired"


class OrderStatus(models.TextChoices):
    AWAITING_PAYMENT = "awaiting_payment"
    PAID = "paid"
    PROVISIONING = "provisioning"
    ACTIVE = "active"
    ENDED = "ended"
    EXPIRED = "expired"
    CANCELLED = "cancelled"
    FAILED = "failed"


QUOTE = Lifecycle(
    kind="quote",
    allowed=table(
        open=[QuoteStatus.ACCEPTED, QuoteStatus.EXPIRED],
        accepted=[],
        expired=[],
    ),
)

ORDER = Lifecycle(
    kind="order",
    allowed=table(
        awaiting_payment=[OrderStatus.PAID, OrderStatus.EXPIRED, OrderStatus.CANCELLED],
        # Straight to active: an extension has joined its lease.
        paid=[
            OrderStatus.PROVISIONING,
            OrderStatus.ACTIVE,
            OrderStatus.CANCELLED,
            OrderStatus.ENDED,
            OrderStatus.FAILED,
        ],
        provisioning=[OrderStatus.ACTIVE, OrderStatus.CANCELLED, OrderStatus.ENDED, OrderStatus.FAILED],
        active=[OrderStatus.ENDED, OrderStatus.FAILED],
        # Against the flow: late money was accepted, or another lot was taken.
        expired=[OrderStatus.PAID],
        ended=[],
        cancelled=[],
        failed=[],
    ),
)

# The buyer may still cancel: the term has not started.
BEFORE_START = frozenset({OrderStatus.AWAITING_PAYMENT, OrderStatus.PAID, OrderStatus.PROVISIONING})
OVER = frozenset({OrderStatus.ENDED, OrderStatus.EXPIRED, OrderStatus.CANCELLED, OrderStatus.FAILED})
