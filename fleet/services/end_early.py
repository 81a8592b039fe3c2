"""The buyer ends a running lease before its term is over."""

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from core import audit, clock
from core.errors import Conflict, NotFound
from fleet import locks
from fleet.lifecycle import OPEN_STATES, OVER_STATES, PREPARATION_STATES, TEARDOWN_STATES, LeaseStatus
from fleet.models import Lease
from fleet.services.end import begin_end

REASON = "early_end"


def end_early(*, order_ref: str, actor: str) -> Lease:
    """Close access now; the disks are wiped next. What comes back is billing's sum. Locks the lease.

    Raises NotFound where the order has no lease; Conflict: not_ready before access has opened (that is a
    cancellation), lease_suspended while a payment is taken back, already_done for the second call, lease_over.
    """
    with transaction.atomic():
        lease = locks.lease_of_order_for_update(order_ref)
        if lease is None:
            raise NotFound(code="not_found", message=_("There is no lease for this order."))
        _check(lease)
        before = lease.status
        begin_end(lease, reason=REASON)
        if actor != "buyer":
            audit.record(
                actor=actor,
                action="lease.end_early",
                subject=f"lease:{lease.pk}",
                before={"status": before},
                after={"status": lease.status},
            )
        return lease


def _check(lease: Lease) -> None:
    if lease.status in TEARDOWN_STATES | OVER_STATES:
        if lease.end_reason == REASON:
            raise Conflict(code="already_done", message=_("This lease has already ended."))
        raise _over()
    if lease.status in PREPARATION_STATES or lease.ends_at is None:
        raise Conflict(
            code="not_ready",
            message=_("Access has not opened yet. You can cancel the order instead and get all of it back."),
        )
    if lease.status == LeaseStatus.SUSPENDED:
        raise Conflict(
            code="lease_suspended",
            message=_(
                "Access is paused because a payment was taken back. The lease can be ended when it is open."
            ),
        )
    if lease.status not in OPEN_STATES or clock.now() >= lease.ends_at:
        raise _over()


def _over() -> Conflict:
    return Conflict(code="lease_over", message=_("This lease is over."))
