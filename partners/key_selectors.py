"""Reads of a partner's keys for his page and for staff."""

from datetime import datetime

from django.db.models import Q, QuerySet

from partners.models import ApiKey, Partner


def keys_of(partner: Partner) -> QuerySet[ApiKey]:
    """All his keys, newest first, those that are over too."""
    return ApiKey.objects.filter(partner=partner).order_by("-pk")


def living_keys(partner: Partner, moment: datetime) -> QuerySet[ApiKey]:
    """Those that work at that moment."""
    return keys_of(partner).filter(Q(expires_at=None) | Q(expires_at__gt=moment), revoked_at=None)


def key_of(partner: Partner, key_id: int) -> ApiKey | None:
    """One of his, or None for "none" and "not yours" alike."""
    return keys_of(partner).filter(pk=key_id).first()
