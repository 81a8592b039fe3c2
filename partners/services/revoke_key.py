"""Take an API key out of use, at once and for good."""

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from core import audit, clock
from core.errors import Conflict
from partners import locks
from partners.models import ApiKey


def revoke_key(*, key_id: int, actor: str, reason: str) -> ApiKey:
    """Locks the key. Raises Conflict(already_done) for a second click."""
    with transaction.atomic():
        key = locks.key_for_update(key_id)
        if key.revoked_at is not None:
            raise Conflict(code="already_done", message=_("This is already done."))
        key.revoked_at = clock.now()
        key.save(update_fields=["revoked_at"])
        audit.record(
            actor=actor,
            action="api_key.revoke",
            subject=f"api_key:{key.pk}",
            reason=reason,
            before={"revoked": False},
            after={"revoked": True},
        )
        return key
