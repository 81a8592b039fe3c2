"""Pause a lease whose money was taken back by its chain, and let it go on when it returns (DESIGN, States)."""

from django.db import transaction

from core import clock, outbox
from fleet import locks
from fleet.lifecycle import LEASE, OVER_STATES, TEARDOWN_STATES, LeaseStatus
from fleet.periods import ready_by_delta


def suspend(*, order_ref: str) -> bool:
    """Close access, keep the cards; the term runs on. True if this call did it; safe to repeat.

    Locks the lease. After REVERSED_GRACE_SECONDS without resume the lease ends with reason "reversed".
    """
    with transaction.atomic():
        lease = locks.lease_of_order_for_update(order_ref)
        if lease is None or lease.status in {LeaseStatus.SUSPENDED, *TEARDOWN_STATES, *OVER_STATES}:
            return False
        LEASE.advance(lease, LeaseStatus.SUSPENDED, order_ref=order_ref)
        return True


def resume(*, order_ref: str) -> bool:
    """Ready again where access had opened, else prepared anew. True if this call did it; safe to repeat.

    Locks the lease. The promise of delivery starts again where nothing was delivered yet: the pause was not ours.
    """
    with transaction.atomic():
        lease = locks.lease_of_order_for_update(order_ref)
        if lease is None or lease.status != LeaseStatus.SUSPENDED:
            return False
        if lease.ready_at is not None:
            # The moment of the first opening is a fact and stays.
            LEASE.advance(lease, LeaseStatus.READY, order_ref=order_ref, at=lease.ready_at)
        else:
            lease.test_report = {}
            lease.attempts = 0
            lease.last_error = ""
            lease.next_at = clock.system_now()
            lease.ready_by = max(lease.ready_by, clock.now() + ready_by_delta())
            lease.late_at = None
            LEASE.advance(
                lease,
                LeaseStatus.RESERVED,
                order_ref=order_ref,
                # The moment of payment is a fact and stays.
                at=lease.reserved_at,
                also=["test_report", "attempts", "last_error", "next_at", "ready_by", "late_at"],
            )
        transaction.on_commit(lambda: outbox.hint("fleet.work_lease", lease.pk))
        return True
