"""Write down the times in which a lease did not have a card that it paid for. Billing credits them by these rows.

Every function here works on a lease that the caller has locked, in the caller's transaction.
"""

from collections.abc import Iterable
from datetime import datetime

from fleet.models import Lease, Outage


def open_outages(lease: Lease) -> dict[int, Outage]:
    """The outages that go on, by card."""
    return {row.card_id: row for row in lease.outages.filter(ended_at=None)}


def begin_outage(
    lease: Lease, *, card_id: int, cause: str, at: datetime, note: str = "", open_now: Iterable[int] = ()
) -> bool:
    """From now on this card is missing; False where that is on record already."""
    if card_id in open_now:
        return False
    Outage.objects.create(lease=lease, card_id=card_id, cause=cause, began_at=at, note=note[:200])
    return True


def end_outages(lease: Lease, *, at: datetime, card_ids: Iterable[int] | None = None) -> int:
    """The outages of these cards, or all, are over; how many. Never before they began."""
    rows = lease.outages.filter(ended_at=None)
    if card_ids is not None:
        rows = rows.filter(card_id__in=list(card_ids))
    ended = 0
    for row in rows:
        row.ended_at = max(at, row.began_at)
        row.save(update_fields=["ended_at"])
        ended += 1
    return ended


def record_late(lease: Lease, *, card_ids: Iterable[int], ready_at: datetime) -> None:
    """Access opened after ready-by: the minutes between are credited like downtime."""
    if ready_at <= lease.ready_by:
        return
    Outage.objects.bulk_create(
        Outage(
            lease=lease,
            card_id=card_id,
            cause=Outage.Cause.LATE,
            began_at=lease.ready_by,
            ended_at=ready_at,
        )
        for card_id in card_ids
    )
