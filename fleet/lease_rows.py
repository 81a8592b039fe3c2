"""A lease with all that its page shows of it, read in one query: keys, cards, times without them, room after it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Exists, F, OuterRef, QuerySet
from django.db.models.functions import JSONObject, Lower, Upper
from django.utils.dateparse import parse_datetime

from core import clock
from core.joined import read_rows, rows_of
from fleet import extensions
from fleet.lifecycle import ReservationStatus
from fleet.models import AccessKey, Card, Lease, MaintenanceWindow, Outage, Reservation
from fleet.selectors import with_last_login


@dataclass(frozen=True)
class LeaseRows:
    """`keys` carry `last_login_at`, `cards` their node and its `accelerator`, outages their card. `is_joining`: a paid
    extension waits to be joined. `room_until`: as extensions.room_until."""

    lease: Lease
    keys: list[AccessKey]
    cards: list[Card]
    outages: list[Outage]
    is_joining: bool
    room_until: datetime | None


def lease_rows(order_ref: str) -> LeaseRows | None:
    """By its order; None: there is none. One query, no lock: whoever books asks again under locks."""
    joining = extensions.paid_extensions().filter(extends=OuterRef("pk"))
    found = (
        Lease.objects.select_related("hold")
        .filter(order_ref=order_ref)
        .annotate(
            joined_keys=rows_of(_keys(), also=["last_login_at"]),
            joined_cards=rows_of(_cards(), also=["node", "accelerator"]),
            joined_outages=rows_of(_outages(), also=["card"]),
            joined_periods=_periods(),
            joined_windows=_windows(),
            is_joining=Exists(joining),
        )
        .first()
    )
    if found is None:
        return None
    cards = read_rows(Card, found.joined_cards)
    return LeaseRows(
        lease=found,
        keys=read_rows(AccessKey, found.joined_keys),
        cards=cards,
        outages=read_rows(Outage, found.joined_outages),
        is_joining=found.is_joining,
        room_until=_room_until(found, cards, found.joined_periods, found.joined_windows),
    )


def _keys() -> QuerySet[AccessKey, Any]:
    keys = AccessKey.objects.filter(lease=OuterRef("pk"), purpose=AccessKey.Purpose.BUYER, removed_at=None)
    return with_last_login(keys).order_by("pk")


def _cards() -> QuerySet[Card, Any]:
    return (
        Card.objects.filter(
            reservations__hold=OuterRef("hold_id"),
            reservations__status__in=extensions.LIVING,
            reservations__left_at=None,
        )
        .annotate(accelerator=F("node__accelerator__name"))
        .order_by("node__name", "index")
    )


def _outages() -> QuerySet[Outage, Any]:
    return Outage.objects.filter(lease=OuterRef("pk")).order_by("began_at", "pk")


def _periods() -> ArraySubquery:
    """What the cards of the lease are taken for, by the lease itself and by others."""
    own = Reservation.objects.filter(
        hold=OuterRef(OuterRef("hold_id")), left_at=None, status__in=extensions.LIVING
    )
    rows = Reservation.objects.filter(card__in=own.values("card"), status__in=extensions.LIVING)
    return ArraySubquery(
        rows.values(
            joined_row=JSONObject(
                hold="hold_id",
                status="status",
                left="left_at",
                release_at="hold__release_at",
                lower=Lower("period"),
                upper=Upper("period"),
            )
        )
    )


def _windows() -> ArraySubquery:
    own = Reservation.objects.filter(
        hold=OuterRef(OuterRef("hold_id")), left_at=None, status__in=extensions.LIVING
    )
    rows = MaintenanceWindow.objects.filter(node__in=own.values("card__node"), cancelled_at=None)
    return ArraySubquery(rows.values(joined_row=JSONObject(lower=Lower("period"), upper=Upper("period"))))


def _room_until(
    lease: Lease, cards: Sequence[Card], periods: list[dict[str, Any]], windows: list[dict[str, Any]]
) -> datetime | None:
    """The rule of extensions.room_until on rows; a test holds the two together."""
    own = [_instant(row["upper"]) for row in periods if row["hold"] == lease.hold_id and row["left"] is None]
    if not own:
        return None
    upper = min(own)
    if not all(card.in_service and card.node.in_service for card in cards):
        return upper
    moment = clock.now()
    others = [
        row
        for row in periods
        if row["hold"] != lease.hold_id
        and (row["status"] != ReservationStatus.HELD or _instant(row["release_at"]) > moment)
    ]
    begins = [_instant(row["lower"]) for row in [*others, *windows] if _instant(row["upper"]) > upper]
    return max(upper, min(begins)) if begins else None


def _instant(text: str) -> datetime:
    moment = parse_datetime(text)
    if moment is None:
        raise ValueError(f"{text!r} is no instant.")
    return moment
