"""A paid hold becomes a lease."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from core import clock, outbox
from fleet import locks
from fleet.keys import PublicKey
from fleet.lifecycle import LEASE, ReservationStatus, advance_reservations
from fleet.models import AccessKey, Lease
from fleet.periods import ready_by


@dataclass(frozen=True)
class LeaseRequest:
    """What the lease is for. `ref` is the order; keys are those of the buyer, already checked."""

    ref: str
    image: str
    image_facts: dict[str, Any]
    keys: Sequence[PublicKey]
    settled_at: datetime


def commit(request: LeaseRequest) -> Lease | None:
    """Turn the hold of an order into a lease; None if its cards were let go meanwhile.

    Locks the hold and its reservations in the caller's transaction. Repeating returns the same lease.
    """
    hold = locks.hold_for_update(request.ref)
    if hold is None:
        return None
    if hold.committed_at is not None:
        return Lease.objects.get(hold=hold)
    if hold.released_at is not None:
        return None
    moment = clock.now()
    advance_reservations(locks.reservations_for_update(hold), ReservationStatus.COMMITTED)
    hold.committed_at = moment
    hold.save(update_fields=["committed_at"])
    lease = Lease.objects.create(
        hold=hold,
        order_ref=request.ref,
        username=f"l{1000 + hold.pk}",
        image=request.image,
        image_facts=request.image_facts,
        ready_by=ready_by(settled_at=request.settled_at, starts_at=hold.starts_at),
        reserved_at=moment,
        next_at=clock.system_now(),
    )
    AccessKey.objects.bulk_create(
        AccessKey(
            lease=lease,
            algorithm=key.algorithm,
            data=key.data,
            comment=key.comment,
            fingerprint=key.fingerprint,
            added_at=moment,
        )
        for key in request.keys
    )
    LEASE.begin(lease, order_ref=request.ref)
    transaction.on_commit(lambda: outbox.hint("fleet.work_lease", lease.pk))
    return lease
