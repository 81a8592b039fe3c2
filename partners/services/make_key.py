"""Make an API key. Its text leaves this function and is stored nowhere."""

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from core import audit, clock
from core.errors import Conflict, Invalid
from core.text import clean_line
from partners import key_text, locks
from partners.key_selectors import living_keys
from partners.models import ApiKey
from partners.scopes import Scope

# A program needs one, a rotation two.
MAX_LIVING = 50


def make_key(
    *,
    partner_id: int,
    actor: str,
    scopes: Sequence[str] = tuple(Scope.values),
    expires_at: datetime | None = None,
    note: str = "",
    reason: str = "",
    replaces: ApiKey | None = None,
) -> tuple[ApiKey, str]:
    """The row and the text, which nobody can read again. Locks the partner.

    Raises Invalid(unknown_scope, expiry_in_past), Conflict(partner_inactive, too_many_keys). Each call makes another
    key. `replaces` is the key that this one is rotated from.
    """
    unknown = sorted(set(scopes) - set(Scope.values))
    if unknown or not scopes:
        raise Invalid(code="unknown_scope", message=_("Choose scopes that there are."), field="scopes")
    moment = clock.now()
    if expires_at is not None and expires_at <= moment:
        raise Invalid(code="expiry_in_past", message=_("This time lies in the past."), field="expires_at")
    with transaction.atomic():
        partner = locks.partner_for_update(partner_id)
        if not partner.active:
            raise Conflict(code="partner_inactive", message=_("This partner is switched off."))
        if living_keys(partner, moment).count() >= MAX_LIVING:
            raise Conflict(
                code="too_many_keys",
                message=ngettext_lazy(
                    "There is already %(limit)s key. Revoke one first.",
                    "There are already %(limit)s keys. Revoke one first.",
                    "limit",
                ),
                params={"limit": MAX_LIVING},
            )
        text = key_text.new_key_text()
        key = ApiKey.objects.create(
            partner=partner,
            note=clean_line(note, field="note", max_length=120),
            prefix=text[: key_text.SHOWN_LENGTH],
            hash=key_text.digest(text),
            scopes=[scope for scope in Scope.values if scope in scopes],
            made_by=actor[:150],
            replaces=replaces,
            created_at=moment,
            expires_at=expires_at,
        )
        audit.record(
            actor=actor,
            action="api_key.make",
            subject=f"api_key:{key.pk}",
            reason=reason,
            after={"scopes": key.scopes},
        )
        return key, text
