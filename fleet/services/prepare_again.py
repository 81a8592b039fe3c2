"""Staff: try the step of a lease that keeps failing at once, without its pause."""

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from core import audit, clock, outbox
from core.errors import Conflict
from fleet import locks
from fleet.lifecycle import PREPARATION_STATES
from fleet.models import Lease


def prepare_again(*, lease_id: int, actor: str, reason: str = "") -> Lease:
    """Forget the failures of the running step and let the worker go on now. Locks the lease.

    Raises Conflict: not_preparing after access has opened or the lease has ended, already_done where nothing failed
    since the last click.
    """
    with transaction.atomic():
        lease = locks.lease_for_update(lease_id)
        if lease.status not in PREPARATION_STATES:
            raise Conflict(code="not_preparing", message=_("This lease is not being prepared."))
        if lease.attempts == 0 and lease.next_at <= clock.system_now():
            raise Conflict(code="already_done", message=_("This is already done."))
        go_on_at_once(lease, action="lease.prepare_again", actor=actor, reason=reason)
        return lease


def go_on_at_once(lease: Lease, *, action: str, actor: str, reason: str) -> None:
    """Forget what failed on a locked lease: the worker takes its next step now. One audit entry of this name."""
    before = {"attempts": lease.attempts, "last_error": lease.last_error}
    lease.attempts = 0
    lease.next_at = clock.system_now()
    lease.save(update_fields=["attempts", "next_at"])
    audit.record(
        actor=actor,
        action=action,
        subject=f"lease:{lease.pk}",
        reason=reason,
        before=before,
        after={"attempts": 0},
    )
    transaction.on_commit(lambda: outbox.hint("fleet.work_lease", lease.pk))
