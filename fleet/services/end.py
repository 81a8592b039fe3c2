"""End a lease: at its term, early, or in the middle of its preparation."""

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from core import audit, clock, outbox
from core.errors import Conflict
from fleet import locks
from fleet.lifecycle import LEASE, OVER_STATES, TEARDOWN_STATES, LeaseStatus
from fleet.models import Lease
from fleet.services.extend import release_extensions
from fleet.services.outages import end_outages

SYSTEM = "system"


def end_lease(*, lease_id: int, reason: str, actor: str = SYSTEM) -> Lease:
    """Close access now and have the machine taken down.

    Locks the lease. The cards come back when the provider has confirmed end and wipe, not before; a step that is
    under way finds the state changed and undoes what it made. Raises Conflict(already_done) for a second call.
    """
    with transaction.atomic():
        lease = locks.lease_for_update(lease_id)
        if lease.status in TEARDOWN_STATES | OVER_STATES:
            raise Conflict(code="already_done", message=_("This lease has already ended."))
        before = lease.status
        begin_end(lease, reason=reason)
        if actor != SYSTEM:
            audit.record(
                actor=actor,
                action="lease.end",
                subject=f"lease:{lease.pk}",
                reason=reason,
                before={"status": before},
                after={"status": lease.status},
            )
        return lease


def begin_end(lease: Lease, *, reason: str) -> None:
    """The same for a lease that the caller has locked and knows to be under way.

    Extensions that are not part of the term yet are let go: their holds are locked after the lease.
    """
    release_extensions(lease)
    moment = clock.now()
    # A sweep that comes late finds an end that is past: nothing is owed for the time after it.
    end_outages(lease, at=moment if lease.ends_at is None else min(moment, lease.ends_at))
    lease.end_reason = reason[:40]
    lease.moving_at = None
    lease.next_at = clock.system_now()
    lease.attempts = 0
    lease.last_error = ""
    LEASE.advance(
        lease,
        LeaseStatus.ENDING,
        order_ref=lease.order_ref,
        payload={"reason": lease.end_reason},
        also=["end_reason", "moving_at", "next_at", "attempts", "last_error"],
    )
    transaction.on_commit(lambda: outbox.hint("fleet.work_lease", lease.pk))
