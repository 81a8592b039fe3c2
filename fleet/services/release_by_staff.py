"""Staff let go of the cards of an order that nobody will pay."""

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from core import audit
from core.errors import Conflict
from fleet.services.release import release


def release_by_staff(*, ref: str, actor: str, reason: str) -> None:
    """Release a hold. Locks it and its reservations. Raises Conflict(already_done) if paid or let go."""
    with transaction.atomic():
        if not release(ref=ref):
            raise Conflict(code="already_done", message=_("This is already done."))
        audit.record(
            actor=actor,
            action="hold.release",
            subject=f"hold:{ref}",
            reason=reason,
            before={"released": False},
            after={"released": True},
        )
