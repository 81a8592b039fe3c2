"""Staff end a lease. What they write is for the audit alone: the buyer sees why a lease ended, not these words."""

from django.db import transaction

from core import audit
from fleet import locks
from fleet.models import Lease
from fleet.services.end import end_lease

# A code like those of the worker; free text here could be taken for one of them ("reversed").
REASON = "by_staff"


def end_by_staff(*, lease_id: int, actor: str, reason: str) -> Lease:
    """End it and record who and why. Locks the lease. Raises Conflict(already_done) for a second call."""
    with transaction.atomic():
        before = locks.lease_for_update(lease_id).status
        lease = end_lease(lease_id=lease_id, reason=REASON)
        audit.record(
            actor=actor,
            action="lease.end",
            subject=f"lease:{lease.pk}",
            reason=reason,
            before={"status": before},
            after={"status": lease.status},
        )
        return lease
