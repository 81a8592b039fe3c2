"""Send a mail once more that was given up: the answer to the decision "mail_failed"."""

from django.db import transaction

from core import audit, clock, decisions, outbox
from core.locks import mail_for_update
from core.models import Decision, OutgoingMail


def send_mail_again(*, decision: Decision, actor: str, reason: str) -> None:
    """Close the decision and queue its mail anew. Locks decision, then mail. Raises Conflict(already_done)."""
    with transaction.atomic():
        decisions.close_decision(decision_id=decision.pk, actor=actor, reason=reason, action="send_mail")
        mail = mail_for_update(int(decision.subject.removeprefix("mail:")))
        if mail is None or mail.status != OutgoingMail.Status.FAILED:
            return
        before = {"status": mail.status, "attempts": mail.attempts, "last_error": mail.last_error}
        mail.status = OutgoingMail.Status.QUEUED
        mail.attempts = 0
        mail.next_at = clock.system_now()
        mail.save(update_fields=["status", "attempts", "next_at"])
        audit.record(
            actor=actor,
            action="mail.send_again",
            subject=f"mail:{mail.pk}",
            reason=reason,
            before=before,
            after={"status": mail.status, "attempts": 0},
        )
        transaction.on_commit(lambda: outbox.hint("core.send_mail", mail.pk))
