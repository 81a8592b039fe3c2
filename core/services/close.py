"""Close a decision with a note: the action that every kind has."""

from django.db import transaction

from core import decisions
from core.models import Decision


def close_with_note(*, decision: Decision, actor: str, reason: str) -> None:
    """Close it; the reason says what was done. Locks the decision. Raises Conflict(already_done) the second time."""
    with transaction.atomic():
        decisions.close_decision(decision_id=decision.pk, actor=actor, reason=reason)
