"""A bank-card payment whose time is up and that no session can pay any more: no chain tells of it, the clock does."""

from django.db import transaction
from django.db.models import Exists, OuterRef

from billing.lifecycle import PaymentStatus
from billing.models import CardSession, PaymentRequest
from billing.services.recompute import recompute
from core import clock
from core.sweeps import each


def expire_card_payments(limit: int = 200) -> int:
    """Recompute each in a transaction of its own; how many. Locks the order, then the view. Safe to repeat."""
    unpaid = CardSession.objects.filter(
        payment=OuterRef("pk"), status__in=[CardSession.Status.WANTED, CardSession.Status.OPEN]
    )
    due = (
        PaymentRequest.objects.filter(
            address=None, view__status=PaymentStatus.AWAITING, expires_at__lte=clock.now()
        )
        .exclude(Exists(unpaid))
        .order_by("expires_at")
        .values_list("order__public_id", flat=True)[:limit]
    )
    return each(list(due), _expire)


def _expire(order_id: str) -> bool:
    with transaction.atomic():
        return recompute(order_id=order_id) is not None
