"""Machines at the provider that no lease knows: staff are asked, and what they order is done by the next comparison."""

from datetime import timedelta

import structlog
from django.db import transaction

from core import audit, clock, decisions
from core.models import Decision
from fleet.providers.base import Provider, ProviderError
from fleet.services.teardown import take_down

log = structlog.get_logger(__name__)

KIND, TAKE_DOWN = "orphan_machine", "take_down"
# Staff who noted that a machine may stay are not asked about it at every comparison.
ASK_AGAIN_AFTER = timedelta(days=1)


def take_down_by_decision(*, decision: Decision, actor: str, reason: str) -> None:
    """Staff's order: the machine goes. The web process talks to no machine, so the closed decision is the order that
    the next comparison carries out. Locks the decision. Raises Conflict(already_done)."""
    with transaction.atomic():
        decisions.close_decision(decision_id=decision.pk, actor=actor, reason=reason, action=TAKE_DOWN)
        audit.record(
            actor=actor,
            action="machine.take_down",
            subject=decision.subject,
            reason=reason,
            before={"machine": "runs"},
            after={"machine": "to be taken down"},
        )


def judge(provider: Provider, lease_id: int) -> None:
    """One machine that no lease knows: taken down where staff said so, else they are asked. Safe to repeat."""
    subject = f"machine:{lease_id}"
    last = Decision.objects.filter(kind=KIND, subject=subject).order_by("-id").first()
    facts: dict[str, object] = {"lease": lease_id}
    if last is not None and last.closed_at is not None:
        if last.action == TAKE_DOWN:
            try:
                take_down(provider, lease_id)
                log.warning("orphan_taken_down", lease=lease_id, by=last.closed_by)
                return
            except ProviderError as error:
                facts["last_error"] = error.reason
        elif last.closed_by != "system" and clock.now() - last.closed_at < ASK_AGAIN_AFTER:
            return
    decisions.open_decision(kind=KIND, subject=subject, facts=facts)


def close_gone(living: tuple[int, ...]) -> None:
    """A reported machine that the engine no longer has is no question any more."""
    present = {f"machine:{lease_id}" for lease_id in living}
    for decision in Decision.objects.filter(kind=KIND, closed_at=None):
        if decision.subject not in present:
            decisions.close_open(kind=KIND, subject=decision.subject, reason="The machine is gone.")
