"""Orders whose money goes back, at each step of it."""

from datetime import timedelta

from django.db import transaction

from billing.models import Refund
from billing.services.refund_destination import confirm_destination
from billing.services.send_refund import mark_sent
from core import clock, outbox
from fleet import locks
from fleet.services.deadlines import apply_deadlines, fail
from orders.models import Order
from tests.order_states.before import cancel_now
from tests.order_states.term import late_delivery, paid, suspended
from tests.terms import lease_of

_ADDRESS = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"


def refund_needs_address() -> Order:
    """Failed: it could not be delivered."""
    row = late_delivery()
    with transaction.atomic():
        lease = locks.lease_of_order_for_update(row.public_id)
        assert lease is not None
        fail(lease, reason="not_ready")
    outbox.drain()
    row.refresh_from_db()
    assert row.status == "failed"
    return row


def refund_due() -> Order:
    row = refund_needs_address()
    confirm_destination(order_id=row.public_id, refund_id=refund_of(row).pk, destination=_ADDRESS)
    outbox.drain()
    return row


def refund_sent() -> Order:
    row = refund_due()
    mark_sent(
        refund_id=refund_of(row).pk,
        actor="anna",
        reason="sent",
        transaction_hash=f"0x{refund_of(row).pk:064x}",
    )
    outbox.drain()
    return row


def refund_verified() -> Order:
    row = refund_sent()
    Refund.objects.filter(order=row).update(status="verified", verified_at=clock.now())
    return row


def refund_failed() -> Order:
    row = refund_sent()
    Refund.objects.filter(order=row).update(status="failed", failed_at=clock.now())
    return row


def cancelled_after_payment() -> Order:
    row = paid()
    cancel_now(row)
    return row


def reversed_for_good() -> Order:
    row = suspended()
    lease = lease_of(row)
    lease.suspended_at = clock.now() - timedelta(days=1, minutes=1)
    lease.save()
    apply_deadlines(lease_id=lease.pk)
    outbox.drain()
    return row


def refund_of(row: Order) -> Refund:
    return Refund.objects.filter(order=row).latest("pk")
