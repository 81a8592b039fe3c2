"""Decision rows: what a person must settle, opened once and closed once."""

from typing import Any

from django.utils.translation import gettext_lazy as _

from core import audit, clock
from core.errors import Conflict
from core.locks import decision_for_update
from core.models import Decision


def open_decision(
    *,
    kind: str,
    subject: str,
    order_ref: str = "",
    facts: dict[str, Any] | None = None,
    due_at: Any = None,
) -> Decision:
    """Open a decision, or refresh the facts of the one that is open for (kind, subject). Safe to repeat."""
    decision, created = Decision.objects.get_or_create(
        kind=kind,
        subject=subject,
        closed_at=None,
        defaults={"order_ref": order_ref, "facts": facts or {}, "due_at": due_at, "opened_at": clock.now()},
    )
    if not created and facts and facts != decision.facts:
        Decision.objects.filter(pk=decision.pk, closed_at=None).update(facts=facts)
        decision.facts = facts
    return decision


def require_open(decision_id: int) -> Decision:
    """The decision, locked, for an answer that leaves it open. Raises Conflict(already_done) where it is closed."""
    decision = decision_for_update(decision_id)
    if decision.closed_at is not None:
        raise Conflict(code="already_done", message=_("This is already done."))
    return decision


def close_decision(*, decision_id: int, actor: str, reason: str, action: str = "note") -> Decision:
    """Close a decision with a note. Must run in a transaction; locks the row.

    Raises Conflict(already_done) for the second click.
    """
    decision = require_open(decision_id)
    decision.closed_at = clock.now()
    decision.closed_by = actor
    decision.action = action
    decision.reason = reason
    decision.save(update_fields=["closed_at", "closed_by", "action", "reason"])
    audit.record(
        actor=actor,
        action=f"decision.{action}",
        subject=f"decision:{decision.pk}",
        reason=reason,
        # What was known when it was decided; what the service changes by it stands in an entry of its own.
        before={"kind": decision.kind, "subject": decision.subject, "facts": decision.facts},
        after={"closed_by": actor, "action": action},
    )
    return decision


def close_open(*, kind: str, subject: str, reason: str) -> int:
    """Close an open decision because its cause is gone (the fact itself settled it)."""
    return Decision.objects.filter(kind=kind, subject=subject, closed_at=None).update(
        closed_at=clock.now(), closed_by="system", action="settled_itself", reason=reason
    )


def is_open(*, kind: str, subject: str) -> bool:
    """Whether such a decision waits for somebody."""
    return Decision.objects.filter(kind=kind, subject=subject, closed_at=None).exists()


def count_open(*, kind: str, order_ref: str) -> int:
    """How many decisions of a kind wait for one order."""
    return Decision.objects.filter(kind=kind, order_ref=order_ref, closed_at=None).count()
