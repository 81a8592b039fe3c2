"""One step of a lease at a time: claim, provider I/O outside any transaction, result under the lock (rule 9)."""

import uuid
from collections.abc import Callable
from datetime import timedelta

import structlog
from django.db import transaction

from core import claims, clock, decisions, log_context, outbox
from fleet import locks, selectors
from fleet.lifecycle import OPEN_STATES, OVER_STATES, TEARDOWN_STATES, LeaseStatus
from fleet.models import Lease
from fleet.providers.base import NodeAway, NotYet, ProviderError, ProviderRefused
from fleet.services import another_node, join_extension, move_steps, prepare, sync, teardown
from fleet.services.deadlines import apply_deadlines
from fleet.services.open_access import open_access
from fleet.services.pauses import pause_seconds

log = structlog.get_logger(__name__)

Apply = Callable[[Lease], None]
Step = Callable[[Lease], Apply]

# The longest step is the acceptance test: a login of at most 12 s. A worker that is killed blocks the lease for
# no longer than this.
CLAIM_SECONDS = 30
ASK_AGAIN_AFTER = timedelta(seconds=5)
PREPARATION_FAILURES = 3
TEARDOWN_FAILURES = 5


def work_lease(*, lease_id: int) -> bool:
    """Do the next step of one lease; True if it made progress.

    Safe to run twice, at once, and after a kill at any point: verbs are idempotent at the provider, a result is
    written only by the holder of the claim and only on the state that it started from. A success that comes too
    late for a lease that is over is undone at the provider.
    """
    with log_context.within(lease=lease_id, order=""):
        return _work(lease_id)


def _work(lease_id: int) -> bool:
    apply_deadlines(lease_id=lease_id)
    another_node.leave_taken_cards(lease_id=lease_id)
    ready = Lease.objects.filter(pk=lease_id, next_at__lte=clock.system_now())
    token = claims.claim(ready, seconds=CLAIM_SECONDS)
    if token is None:
        return False
    lease = Lease.objects.select_related("hold__lot__accelerator").get(pk=lease_id)
    step = next_step(lease)
    if step is None:
        claims.release(Lease.objects.filter(pk=lease_id), token=token)
        return False
    log_context.about(order=lease.order_ref)
    try:
        apply = step(lease)
        return _record_success(lease, token, apply)
    except NotYet as error:
        log.info("lease_step_goes_on", lease=lease_id, status=lease.status, reason=error.reason)
        _record_wait(lease, token)
    except ProviderError as error:
        log.warning("lease_step_failed", lease=lease_id, status=lease.status, reason=error.reason)
        # A refusal, or a node that does not answer, speaks of these cards; no answer at all of the engine.
        blamed = isinstance(error, ProviderRefused | NodeAway)
        _record_failure(lease, token, error.reason, cards_blamed=blamed)
    except Exception as error:
        log.exception("lease_step_broken", lease=lease_id, status=lease.status)
        _record_failure(lease, token, f"{type(error).__name__}: {error}")
    return False


def next_step(lease: Lease) -> Step | None:
    """What is due now, or None: nothing to do in this state, or its time has not come."""
    if lease.status == LeaseStatus.RESERVED:
        return _first_step(lease)
    if lease.status == LeaseStatus.TESTING:
        if not lease.test_report.get("passed"):
            return prepare.test
        return open_access if prepare.start_reached(lease, clock.now()) else None
    if lease.status == LeaseStatus.FAILED and lease.wiped_at is not None:
        return None
    if lease.status in {*OPEN_STATES, LeaseStatus.SUSPENDED}:
        return _step_in_term(lease)
    return _STEPS.get(lease.status)


_STEPS: dict[str, Step] = {
    LeaseStatus.PREPARING: prepare.prepare,
    LeaseStatus.ENDING: teardown.end_machine,
    LeaseStatus.WIPING: teardown.wipe_machine,
    LeaseStatus.FAILED: teardown.clear_failed,
}


def _step_in_term(lease: Lease) -> Step | None:
    if lease.moving_at is not None:
        # A suspended lease takes its move up again when it is resumed.
        return move_steps.next_step(lease) if lease.status == LeaseStatus.DEGRADED else None
    if lease.status in OPEN_STATES and join_extension.is_due(lease):
        return join_extension.join_extension
    return sync.sync_access if sync.is_due(lease) else None


def _first_step(lease: Lease) -> Step | None:
    if teardown.has_left_cards(lease):
        return teardown.leave_cards
    if not prepare.may_begin(lease, clock.now()) or selectors.predecessors(lease):
        return None
    return prepare.reserve


def _record_success(seen: Lease, token: uuid.UUID, apply: Apply) -> bool:
    with transaction.atomic():
        lease = locks.lease_for_update(seen.pk)
        holds_claim = lease.claim_token == token
        fresh = holds_claim and lease.status == seen.status
        if fresh:
            apply(lease)
        if holds_claim:
            _free(lease)
        over = lease.status in TEARDOWN_STATES | OVER_STATES
        transaction.on_commit(lambda: outbox.hint("fleet.work_lease", seen.pk))
    if over and not fresh:
        log.warning("lease_late_success_undone", lease=seen.pk, seen=seen.status, status=lease.status)
        teardown.take_down_late_success(seen.pk)
    return fresh


def _record_wait(seen: Lease, token: uuid.UUID) -> None:
    """The engine is at it: asked again soon, and no failure is counted. Its own limit ends it."""
    with transaction.atomic():
        lease = locks.lease_for_update(seen.pk)
        if lease.claim_token != token:
            return
        _free(lease)
        if lease.status == seen.status:
            Lease.objects.filter(pk=lease.pk).update(next_at=clock.system_now() + ASK_AGAIN_AFTER)


def _free(lease: Lease) -> None:
    """End the claim of a locked lease. Not by token: the result itself may have fenced off earlier workers."""
    Lease.objects.filter(pk=lease.pk).update(claim_token=None, claim_until=None)


def _record_failure(seen: Lease, token: uuid.UUID, reason: str, *, cards_blamed: bool = False) -> None:
    """A growing pause; once it is no longer a hiccup a decision, and another node where it is for these cards."""
    with transaction.atomic():
        lease = locks.lease_for_update(seen.pk)
        if lease.claim_token != token:
            return
        _free(lease)
        lease.claim_token = None
        if lease.status != seen.status:
            return
        lease.attempts += 1
        lease.last_error = reason[:2000]
        lease.next_at = clock.system_now() + timedelta(seconds=pause_seconds(lease.attempts))
        lease.save(update_fields=["attempts", "last_error", "next_at"])
        kind, limit = _alert(lease)
        if lease.attempts >= limit:
            decisions.open_decision(
                kind=kind,
                subject=f"lease:{lease.pk}",
                order_ref=lease.order_ref,
                facts={"state": lease.status, "attempts": lease.attempts, "last_error": lease.last_error},
            )
            if cards_blamed:
                another_node.try_another_node(lease)


def _alert(lease: Lease) -> tuple[str, int]:
    status = lease.status
    if status == LeaseStatus.ENDING:
        return "end_failing", TEARDOWN_FAILURES
    if status in {LeaseStatus.WIPING, LeaseStatus.FAILED}:
        return "wipe_failed", TEARDOWN_FAILURES
    if status in {*OPEN_STATES, LeaseStatus.SUSPENDED} and lease.moving_at is None:
        if status in OPEN_STATES and join_extension.is_due(lease):
            return join_extension.KIND, join_extension.JOIN_FAILURES
        return sync.KIND, PREPARATION_FAILURES
    return "lease_failing", PREPARATION_FAILURES
