"""Send what a restored backup held back: the answer to the decision "mails_held"."""

from django.db import transaction

from core import clock, decisions
from core.models import Decision, OutgoingMail
from core.services.after_restore import HELD


def send_held_mails(*, decision: Decision, actor: str, reason: str) -> None:
    """Close the decision and queue the held mails anew; each carries the identity it had, so that a mailbox can tell.

    Locks the decision. Raises Conflict(already_done) the second time.
    """
    with transaction.atomic():
        decisions.close_decision(decision_id=decision.pk, actor=actor, reason=reason, action="send_mails")
        OutgoingMail.objects.filter(status=OutgoingMail.Status.FAILED, last_error=HELD).update(
            status=OutgoingMail.Status.QUEUED, attempts=0, next_at=clock.system_now(), last_error=""
        )
