"""Give a parked outbox row to its handler once more: the answer to the decision "outbox_parked"."""

from django.db import transaction

from core import audit, clock, decisions, outbox
from core.locks import outbox_row_for_update
from core.models import Decision, OutboxRow


def try_again(*, decision: Decision, actor: str, reason: str) -> None:
    """Close the decision and make its row pending. Locks decision, then row. Raises Conflict(already_done)."""
    with transaction.atomic():
        decisions.close_decision(decision_id=decision.pk, actor=actor, reason=reason, action="try_again")
        row = outbox_row_for_update(int(decision.subject.removeprefix("outbox:")))
        if row.status != OutboxRow.Status.PARKED:
            return
        before = {"status": row.status, "attempts": row.attempts, "last_error": row.last_error}
        row.status = OutboxRow.Status.PENDING
        row.first_failed_at = None
        row.next_at = clock.system_now()
        row.save(update_fields=["status", "first_failed_at", "next_at"])
        audit.record(
            actor=actor,
            action="outbox.try_again",
            subject=decision.subject,
            reason=reason,
            before=before,
            after={"status": row.status},
        )
        transaction.on_commit(lambda: outbox.send(row))
