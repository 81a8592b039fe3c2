"""A delivery is late: the buyer, or staff for him, takes the full refund instead of waiting on (policy table)."""

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from core import audit, decisions, outbox
from core.errors import Conflict, NotFound
from core.models import Decision
from fleet import locks
from fleet.lifecycle import OVER_STATES, PREPARATION_STATES
from fleet.models import Lease
from fleet.services.deadlines import fail

REASON = "given_up"


def give_up_late(*, order_ref: str, actor: str, reason: str = "") -> Lease:
    """Fail a lease that is late and not ready; the order and the refund follow from its event. Locks the lease.

    Raises NotFound where the order has no lease; Conflict: not_late before ready-by has passed, already_started once
    access has opened, already_done for the second call, lease_over. Against the worker that opens access the first
    of the two wins, the other finds a state that it does not know any more.
    """
    with transaction.atomic():
        lease = _give_up(order_ref=order_ref, actor=actor, reason=reason)
        decisions.close_open(
            kind="lease_late", subject=f"lease:{lease.pk}", reason="The full refund was chosen."
        )
        return lease


def refund_now(*, decision: Decision, actor: str, reason: str) -> None:
    """Staff's answer to the decision `lease_late`: gives up and closes it. Locks the lease, then the decision.

    Raises Conflict(already_done) for the second click and what give_up_late raises.
    """
    with transaction.atomic():
        _give_up(order_ref=decision.order_ref, actor=actor, reason=reason)
        decisions.close_decision(decision_id=decision.pk, actor=actor, reason=reason, action="refund_now")


def _give_up(*, order_ref: str, actor: str, reason: str) -> Lease:
    lease = locks.lease_of_order_for_update(order_ref)
    if lease is None:
        raise NotFound(code="not_found", message=_("There is no lease for this order."))
    _check(lease)
    before = lease.status
    fail(lease, reason=REASON)
    if actor != "buyer":
        audit.record(
            actor=actor,
            action="lease.give_up_late",
            subject=f"lease:{lease.pk}",
            reason=reason,
            before={"status": before},
            after={"status": lease.status},
        )
    transaction.on_commit(lambda: outbox.hint("fleet.work_lease", lease.pk))
    return lease


def _check(lease: Lease) -> None:
    if lease.status in OVER_STATES and lease.end_reason == REASON:
        raise Conflict(code="already_done", message=_("This is already done."))
    if lease.ready_at is not None:
        raise Conflict(
            code="already_started",
            message=_("Access has opened meanwhile and the term runs. You can end it early instead."),
        )
    if lease.status not in PREPARATION_STATES:
        raise Conflict(code="lease_over", message=_("This order is no longer being delivered."))
    if lease.late_at is None:
        raise Conflict(
            code="not_late",
            message=_("This delivery is not late. You can cancel the order instead and get all of it back."),
        )
