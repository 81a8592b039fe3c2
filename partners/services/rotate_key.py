"""A new API key in place of an old one; both work for a while, so that no program stands still."""

from datetime import timedelta

from django.db import transaction
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from core import audit, clock
from core.errors import Conflict, Invalid
from partners import locks
from partners.models import ApiKey
from partners.services.make_key import make_key

DEFAULT_OVERLAP_HOURS = 24
MAX_OVERLAP_HOURS = 7 * 24


def rotate_key(
    *, key_id: int, actor: str, overlap_hours: int = DEFAULT_OVERLAP_HOURS, reason: str = ""
) -> tuple[ApiKey, str]:
    """The new key, with scopes, note and span of the old one, and its text. Locks the key, then the partner.

    The old key expires after `overlap_hours`, or earlier where it would anyway. Raises Invalid(overlap_out_of_range),
    Conflict(key_over, already_rotated) and what make_key raises.
    """
    if not 1 <= overlap_hours <= MAX_OVERLAP_HOURS:
        raise Invalid(
            code="overlap_out_of_range",
            message=ngettext_lazy(
                "Choose between 1 and %(hours)s hour.", "Choose between 1 and %(hours)s hours.", "hours"
            ),
            field="overlap_hours",
            params={"hours": MAX_OVERLAP_HOURS},
        )
    moment = clock.now()
    with transaction.atomic():
        old = locks.key_for_update(key_id)
        if old.revoked_at is not None or old.is_expired(moment):
            raise Conflict(code="key_over", message=_("This key works no longer. Make a new one."))
        if ApiKey.objects.filter(replaces=old).exists():
            raise Conflict(
                code="already_rotated", message=_("This key has been rotated. Rotate the newer one.")
            )
        span = None if old.expires_at is None else old.expires_at - old.created_at
        new, text = make_key(
            partner_id=old.partner_id,
            actor=actor,
            scopes=old.scopes,
            expires_at=None if span is None else moment + span,
            note=old.note,
            replaces=old,
            reason=reason,
        )
        ends = moment + timedelta(hours=overlap_hours)
        before = old.expires_at
        old.expires_at = ends if before is None else min(ends, before)
        old.save(update_fields=["expires_at"])
        audit.record(
            actor=actor,
            action="api_key.rotate",
            subject=f"api_key:{old.pk}",
            reason=reason,
            before={"expires_at": None if before is None else before.isoformat()},
            after={"new": new.pk, "expires_at": old.expires_at.isoformat()},
        )
        return new, text
