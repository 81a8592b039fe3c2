"""Reads of extensions: which are open, how long the cards of a lease stay free, whether it may be extended.

An extension is a hold with `extends`, on the lease's own cards, from the upper bound of its reservations on. Its
`starts_at` is the old end. Held: not paid. Committed with living reservations: paid, not joined yet. Committed without
them: joined, the main reservations reach over its time. With `released_at`: let go, never part of the term.
"""

from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Min, Q, QuerySet
from django.db.models.functions import Lower
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from core import clock
from core.errors import Conflict
from fleet import selectors
from fleet.lifecycle import OPEN_STATES, OVER_STATES, PREPARATION_STATES, LeaseStatus, ReservationStatus
from fleet.models import Hold, Lease, MaintenanceWindow, Reservation
from fleet.periods import turnaround

LIVING = (ReservationStatus.HELD, ReservationStatus.COMMITTED)


def open_extensions(lease_id: int) -> QuerySet[Hold]:
    """Holds of this lease that still keep time off sale: not paid, or paid and not joined. Oldest first."""
    return (
        Hold.objects.filter(extends_id=lease_id, released_at=None, reservations__status__in=LIVING)
        .distinct()
        .order_by("pk")
    )


def paid_extensions() -> QuerySet[Hold]:
    """Paid and not joined, of any lease."""
    return Hold.objects.filter(
        extends__isnull=False,
        committed_at__isnull=False,
        released_at=None,
        reservations__status=ReservationStatus.COMMITTED,
    ).distinct()


def next_to_join(lease_id: int) -> Hold | None:
    """The paid extension that the worker has to join, or None."""
    return paid_extensions().filter(extends_id=lease_id).order_by("pk").first()


def joined_refs(lease_id: int) -> list[str]:
    """Orders whose extension is part of the term. The orders themselves hear of it by an event, a moment later."""
    return list(
        Hold.objects.filter(extends_id=lease_id, committed_at__isnull=False, released_at=None)
        .exclude(reservations__status__in=LIVING)
        .values_list("ref", flat=True)
    )


def latest_upper(lease: Lease) -> datetime:
    """Until when the cards are taken by this lease and its extensions: whoever moves it needs all of that time."""
    own: list[datetime] = [row.period.upper for row in selectors.current_reservations(lease.hold_id)]
    more: list[datetime] = [
        row.period.upper
        for row in Reservation.objects.filter(hold__in=open_extensions(lease.pk), status__in=LIVING)
    ]
    return max([*own, *more])


def end_after(ends_at: datetime, term_seconds: int) -> datetime:
    """The end of a term that goes on for so long: days of exactly 24 hours, whatever the clocks on walls do."""
    return ends_at + timedelta(seconds=term_seconds)


def new_upper(ends_at: datetime, term_seconds: int) -> datetime:
    """The upper bound of the reservations of that term."""
    return end_after(ends_at, term_seconds) + turnaround()


def room_until(lease: Lease, moment: datetime) -> datetime | None:
    """Until when the cards of a lease stay free after it; None: nothing follows. Three queries, no lock.

    What ends it: another reservation (a hold that is overdue does not count, a booking lets it go), a maintenance
    window, or a card or node that is out of service, which takes nothing new at all.
    """
    rows = list(
        Reservation.objects.filter(hold_id=lease.hold_id, left_at=None, status__in=LIVING).select_related(
            "card__node"
        )
    )
    upper: datetime = min(row.period.upper for row in rows)
    cards = [row.card for row in rows]
    if not all(card.in_service and card.node.in_service for card in cards):
        return upper
    follower = (
        Reservation.objects.filter(
            card_id__in=[card.pk for card in cards], status__in=LIVING, period__endswith__gt=upper
        )
        .exclude(hold_id=lease.hold_id)
        .exclude(Q(status=ReservationStatus.HELD) & Q(hold__release_at__lte=moment))
        .aggregate(first=Min(Lower("period")))["first"]
    )
    window = MaintenanceWindow.objects.filter(
        node_id__in={card.node_id for card in cards}, cancelled_at=None, period__endswith__gt=upper
    ).aggregate(first=Min(Lower("period")))["first"]
    found = [moment for moment in (follower, window) if moment is not None]
    return max(upper, min(found)) if found else None


def require_extendable(lease: Lease | None, moment: datetime, *, is_joining: bool | None = None) -> datetime:
    """The end of a lease that may be extended now. Raises Conflict: lease_over, not_extendable, too_late_to_extend.

    `is_joining`: whether a paid extension waits to be joined, where that was read before; else it is asked.
    """
    if lease is None or lease.status in PREPARATION_STATES:
        raise _not_extendable(_("Access has not opened yet. A lease can be extended once its term runs."))
    over = lease.status in {LeaseStatus.WIPING, *OVER_STATES}
    if lease.status == LeaseStatus.ENDING:
        raise _not_extendable(_("This lease is ending and cannot be extended any more."))
    if over or lease.ends_at is None or moment >= lease.ends_at:
        raise Conflict(code="lease_over", message=_("This lease is over."))
    if lease.status not in OPEN_STATES:
        raise _not_extendable(
            _("Access is paused because a payment was taken back. The lease can be extended when it is open.")
        )
    if lease.moving_at is not None:
        raise _not_extendable(_("This lease is moving to other cards. It can be extended when that is done."))
    if next_to_join(lease.pk) is not None if is_joining is None else is_joining:
        raise _not_extendable(
            _("Your last extension is being added to the term. Please try again in a minute.")
        )
    if moment > lease.ends_at - timedelta(seconds=settings.EXTEND_LEAD_SECONDS):
        raise Conflict(
            code="too_late_to_extend",
            message=ngettext_lazy(
                "A lease can be extended until %(minutes)s minute before its end.",
                "A lease can be extended until %(minutes)s minutes before its end.",
                "minutes",
            ),
            params={"minutes": settings.EXTEND_LEAD_SECONDS // 60},
        )
    return lease.ends_at


def may_still_join(lease: Lease) -> bool:
    """Whether a paid extension still has a term to go on from. A pause for reversed money may pass before the end."""
    return (
        lease.status in {*OPEN_STATES, LeaseStatus.SUSPENDED}
        and lease.ends_at is not None
        and clock.now() < lease.ends_at
    )


def _not_extendable(message: object) -> Conflict:
    return Conflict(code="not_extendable", message=message)  # type: ignore[arg-type]
