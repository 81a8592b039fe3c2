"""Pause a lease whose money was taken back by its chain, and let it go on when it returns (DESIGN, States)."""

from django.db import transaction

from core import clock, decisions, outbox
from fleet import locks
from fleet.lifecycle import LEASE, OVER_STATES, TEARDOWN_STATES, LeaseStatus
from fleet.periods import ready_by_delta
from fleet.services.deadlines import make_room
from fleet.services.outages import end_outages
from fleet.services.repair import take_up_move


def suspend(*, order_ref: str) -> bool:
    """Close access, keep the cards; the term runs on. True if this call did it; safe to repeat.

    Locks the lease. After REVERSED_GRACE_SECONDS without resume the lease ends with reason "reversed".
    """
    with transaction.atomic():
        lease = locks.lease_of_order_for_update(order_ref)
        if lease is None or lease.status in {LeaseStatus.SUSPENDED, *TEARDOWN_STATES, *OVER_STATES}:
            return False
        lease.wanted_version += 1
        LEASE.advance(lease, LeaseStatus.SUSPENDED, order_ref=order_ref, also=["wanted_version"])
        # While the money is gone nothing is owed for a card that is missing.
        end_outages(lease, at=clock.now())
        transaction.on_commit(lambda: outbox.hint("fleet.work_lease", lease.pk))
        return True


def resume(*, order_ref: str) -> bool:
    """Ready again where access had opened, else prepared anew. True if this call did it; safe to repeat.

    Locks the lease, and where nothing was delivered yet its cards by key and reservations: the promise of delivery
    starts again, the pause was not ours, and the time for it is kept as far as the calendar lets it.
    """
    with transaction.atomic():
        lease = locks.lease_of_order_for_update(order_ref)
        if lease is None or lease.status != LeaseStatus.SUSPENDED:
            return False
        lease.wanted_version += 1
        if lease.ready_at is not None:
            # The moment of the first opening is a fact and stays.
            LEASE.advance(
                lease, LeaseStatus.READY, order_ref=order_ref, at=lease.ready_at, also=["wanted_version"]
            )
            if lease.moving_at is not None:
                take_up_move(lease)
        else:
            lease.test_report = {}
            lease.attempts = 0
            lease.last_error = ""
            lease.next_at = clock.system_now()
            lease.ready_by = max(lease.ready_by, clock.now() + ready_by_delta())
            lease.late_at = None
            make_room(lease)
            # Asked anew, with the new times, should that promise be missed too.
            decisions.close_open(
                kind="lease_late", subject=f"lease:{lease.pk}", reason="A new time is promised."
            )
            LEASE.advance(
                lease,
                LeaseStatus.RESERVED,
                order_ref=order_ref,
                # The moment of payment is a fact and stays.
                at=lease.reserved_at,
                also=[
                    "test_report",
                    "attempts",
                    "last_error",
                    "next_at",
                    "ready_by",
                    "late_at",
                    "wanted_version",
                ],
            )
        transaction.on_commit(lambda: outbox.hint("fleet.work_lease", lease.pk))
        return True
