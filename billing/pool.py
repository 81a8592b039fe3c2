"""The pool of deposit addresses: derived ahead, checked on each network, given out once (DESIGN rule 10)."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import lru_cache

from django.conf import settings
from django.db import transaction
from django.db.models import Max
from django.utils.translation import gettext_lazy as _

from billing import gap, locks
from billing.addresses import Xpub
from billing.models import AcceptedXpub, AddressCheck, DepositAddress
from core import clock, decisions, outbox
from core.errors import Unavailable

# A sweep fills the pool every few seconds; a busy hour asks for it a little sooner, not with each order.
HINT_EVERY = 10


@lru_cache(maxsize=2)
def _xpub(text: str) -> Xpub:
    return Xpub(text)


def xpub() -> Xpub:
    """The configured account xpub: watch-only, this server can spend nothing."""
    return _xpub(settings.DEPOSIT_XPUB)


def take(*, network: str) -> tuple[DepositAddress, int]:
    """Give the next clean address to an order, in the caller's transaction, with the block at which it was found clean.
    Never waits for another checkout.

    Raises Unavailable(payment_unavailable) where the pool has none: then nothing is held.
    """
    since = clock.system_now() - timedelta(seconds=settings.ADDRESS_CHECK_MAX_AGE_SECONDS)
    found = locks.next_clean_address(
        network=network, fingerprint=xpub().fingerprint, checked_since=since, issued_at=clock.now()
    )
    if found is None:
        raise Unavailable(
            code="payment_unavailable",
            message=_("No deposit address is ready at this moment. Nothing is held; please try again."),
            field="pay_with",
        )
    address, block_number = found
    if address.index % HINT_EVERY == 0:
        transaction.on_commit(lambda: outbox.hint("billing.fill_pool"))
    return address, block_number


def is_accepted() -> bool:
    """Whether addresses may be derived from the configured xpub. One that nothing stands against is accepted by
    being used; with open addresses of another it needs the operator's word (manage.py accept_xpub)."""
    fingerprint = xpub().fingerprint
    if AcceptedXpub.objects.filter(fingerprint=fingerprint).exists():
        return True
    foreign_open = DepositAddress.objects.exclude(xpub_fingerprint=fingerprint).filter(
        status=DepositAddress.Status.ISSUED
    )
    if foreign_open.exists():
        return False
    accept()
    return True


def accept() -> str:
    """Record the configured xpub as accepted and return its fingerprint. Safe to repeat."""
    fingerprint = xpub().fingerprint
    AcceptedXpub.objects.get_or_create(fingerprint=fingerprint, defaults={"accepted_at": clock.now()})
    return fingerprint


def derive_missing() -> int:
    """Derive addresses until ADDRESS_POOL_SIZE are pooled; how many are new. Pure arithmetic and one insert;
    two workers at once clash on the unique index and one of them does nothing. None while a gap is searched."""
    key = xpub()
    if not is_accepted() or not gap.is_searched(key.fingerprint):
        return 0
    own = DepositAddress.objects.filter(xpub_fingerprint=key.fingerprint)
    missing = settings.ADDRESS_POOL_SIZE - own.filter(status=DepositAddress.Status.POOLED).count()
    if missing <= 0:
        return 0
    last = own.aggregate(last=Max("index"))["last"]
    first = 0 if last is None else last + 1
    moment = clock.now()
    rows = DepositAddress.objects.bulk_create(
        [
            DepositAddress(
                xpub_fingerprint=key.fingerprint,
                index=index,
                address=key.derive(index),
                derived_at=moment,
            )
            for index in range(first, first + missing)
        ],
        ignore_conflicts=True,
    )
    return len(rows)


def due_for_check(*, network: str, limit: int = 200) -> list[DepositAddress]:
    """Pooled addresses whose look on `network` is missing or older than half of its validity."""
    fresh = clock.system_now() - timedelta(seconds=settings.ADDRESS_CHECK_MAX_AGE_SECONDS / 2)
    checked = AddressCheck.objects.filter(network=network, checked_at__gte=fresh).values("address_id")
    return list(
        DepositAddress.objects.filter(
            xpub_fingerprint=xpub().fingerprint, status=DepositAddress.Status.POOLED
        )
        .exclude(pk__in=checked)
        .order_by("index")[:limit]
    )


def record_checks(
    *,
    network: str,
    block_number: int,
    dirty: Mapping[str, Mapping[str, object]],
    addresses: Sequence[DepositAddress],
) -> None:
    """Store what a worker read. An address with a history is skipped for good, with a decision (C17)."""
    moment = clock.system_now()
    with transaction.atomic():
        AddressCheck.objects.bulk_create(
            [
                AddressCheck(
                    address=row,
                    network=network,
                    is_clean=row.address not in dirty,
                    facts=dict(dirty.get(row.address, {})),
                    block_number=block_number,
                    checked_at=moment,
                )
                for row in addresses
            ],
            update_conflicts=True,
            unique_fields=["address", "network"],
            update_fields=["is_clean", "facts", "block_number", "checked_at"],
        )
        for row in addresses:
            if row.address in dirty:
                _skip(row, network=network, facts=dirty[row.address])


def _skip(row: DepositAddress, *, network: str, facts: Mapping[str, object]) -> None:
    skipped = DepositAddress.objects.filter(pk=row.pk, status=DepositAddress.Status.POOLED).update(
        status=DepositAddress.Status.SKIPPED
    )
    if skipped:
        decisions.open_decision(
            kind="address_with_history",
            subject=f"address:{row.pk}",
            facts={"address": row.address, "index": row.index, "network": network, **facts},
        )


def ready_count(*, network: str) -> int:
    """Addresses that a checkout on `network` could take now."""
    since = clock.system_now() - timedelta(seconds=settings.ADDRESS_CHECK_MAX_AGE_SECONDS)
    return (
        DepositAddress.objects.filter(
            xpub_fingerprint=xpub().fingerprint,
            status=DepositAddress.Status.POOLED,
            checks__network=network,
            checks__is_clean=True,
            checks__checked_at__gte=since,
        )
        .exclude(checks__is_clean=False)
        .count()
    )
