"""A login with a throw-away key, exactly as the buyer will do it, as the last part of the acceptance test."""

from django.db import transaction

from core import clock
from fleet.gateway.waiting import acceptance_version
from fleet.keys import parse_keys
from fleet.models import AccessKey, Lease
from fleet.providers import get_provider
from fleet.providers.login import check_login, throwaway_key


def try_login(lease: Lease, *, card_count: int) -> dict[str, str]:
    """Put a new key in place, log in, take it away again. Raises LoginFailed.

    A key that a killed worker left behind is taken away first; it opened nothing but a lease under test.
    """
    key, line = throwaway_key()
    public = parse_keys(line)[0]
    with transaction.atomic():
        remove_test_keys(lease.pk)
        AccessKey.objects.create(
            lease=lease,
            purpose=AccessKey.Purpose.TEST,
            algorithm=public.algorithm,
            data=public.data,
            comment="acceptance test",
            fingerprint=public.fingerprint,
            added_at=clock.now(),
        )
    provider = get_provider()
    login = provider.login(lease.pk, lease.username)
    host, port = login.inside
    try:
        provider.admit_test(lease.pk, line)
        check_login(
            host=host,
            port=port,
            username=login.user,
            key=key,
            host_key_line=login.host_key,
            # A flood of other connections must not hold up a delivery.
            client_version=acceptance_version(),
            card_count=card_count,
        )
    finally:
        remove_test_keys(lease.pk)
        provider.admit_test(lease.pk, "")
    return {"user": login.user, "host_key": login.fingerprint, "at": clock.now().isoformat()}


def remove_test_keys(lease_id: int) -> None:
    """No test key of this lease counts any longer."""
    AccessKey.objects.filter(lease_id=lease_id, purpose=AccessKey.Purpose.TEST, removed_at=None).update(
        removed_at=clock.now()
    )
