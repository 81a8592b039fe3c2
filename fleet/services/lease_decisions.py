"""Staff's answers to decisions about a lease that does not come, or does not go: each calls the service of its button.

Each locks what that service locks, then the decision, and raises Conflict(already_done) for the second click.
"""

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from core import decisions
from core.errors import Conflict
from core.models import Decision
from fleet import locks
from fleet.lifecycle import TEARDOWN_STATES, LeaseStatus
from fleet.services.prepare_again import go_on_at_once, prepare_again
from fleet.services.take_other_cards import take_other_cards

# The delivery stays late whatever is tried: that question is answered by access, by a refund or by a person.
STAYS_OPEN = frozenset({"lease_late"})


def prepare_by_decision(*, decision: Decision, actor: str, reason: str) -> None:
    """The step that failed is tried at once. Raises what prepare_again raises."""
    with transaction.atomic():
        prepare_again(lease_id=_lease_id(decision), actor=actor, reason=reason)
        decisions.close_decision(decision_id=decision.pk, actor=actor, reason=reason, action="prepare_again")


def other_cards_by_decision(*, decision: Decision, actor: str, reason: str) -> None:
    """The lease is prepared on other cards. Raises what take_other_cards raises."""
    with transaction.atomic():
        take_other_cards(lease_id=_lease_id(decision), actor=actor, reason=reason)
        if decision.kind in STAYS_OPEN:
            decisions.require_open(decision.pk)
        else:
            decisions.close_decision(
                decision_id=decision.pk, actor=actor, reason=reason, action="take_other_cards"
            )


def tear_down_by_decision(*, decision: Decision, actor: str, reason: str) -> None:
    """End and wipe are tried at once; where they fail again, it is asked again. Locks the lease, the decision.

    Raises Conflict(already_done) also where nothing is left to take down.
    """
    with transaction.atomic():
        lease = locks.lease_for_update(_lease_id(decision))
        waits = lease.status in TEARDOWN_STATES or (
            lease.status == LeaseStatus.FAILED and lease.wiped_at is None
        )
        if not waits:
            raise Conflict(code="already_done", message=_("This is already done."))
        decisions.close_decision(decision_id=decision.pk, actor=actor, reason=reason, action="tear_down")
        go_on_at_once(lease, action="lease.tear_down", actor=actor, reason=reason)


def _lease_id(decision: Decision) -> int:
    return int(decision.subject.removeprefix("lease:"))
