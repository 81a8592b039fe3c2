"""Every lock of this app, by name. Nothing else is locked together with these rows (docs/locking.md)."""

from core.locks import mark
from partners.models import ApiKey, Partner


def key_for_update(key_id: int) -> ApiKey:
    """One key."""
    return mark(ApiKey.objects.select_for_update(of=("self",)).get(pk=key_id))


def partner_for_update(partner_id: int) -> Partner:
    """One partner."""
    return mark(Partner.objects.select_for_update(of=("self",)).get(pk=partner_id))
