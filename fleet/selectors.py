"""Reads of the fleet. Nothing here locks; the sale never trusts a count read here."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db.backends.postgresql.psycopg_any import DateTimeTZRange
from django.db.models import Q

from catalog.models import Lot
from catalog.stack import driver_suffices
from core import clock
from fleet.gateway.identity import identity
from fleet.lifecycle import OPEN_STATES, ReservationStatus
from fleet.models import AccessKey, Card, Lease, Reservation


def busy_card_ids(
    *, card_ids: Iterable[int], period: DateTimeTZRange, ignored: Iterable[int] = ()
) -> set[int]:
    """Cards with a living reservation that overlaps the period. Overdue holds count until they are let go.

    A committed reservation whose time is over and that is not released belongs to a lease whose wipe is not confirmed
    yet: its card is not on sale, however long that takes.
    """
    living = Q(status__in=[ReservationStatus.HELD, ReservationStatus.COMMITTED], period__overlap=period)
    not_wiped = Q(status=ReservationStatus.COMMITTED, period__endswith__lte=clock.now())
    return set(
        Reservation.objects.filter(living | not_wiped, card_id__in=list(card_ids))
        .exclude(pk__in=list(ignored))
        .values_list("card_id", flat=True)
    )


@dataclass(frozen=True)
class FreeLots:
    """How many lots were free for a period, and when that was read."""

    lots: int
    as_of: datetime


def free_lots(*, lot: Lot, period: DateTimeTZRange, driver_minimum: str = "") -> FreeLots:
    """Lots of `lot` that fit on one node each for the whole period; three queries, no lock."""
    moment = clock.now()
    cards = [
        card
        for card in Card.objects.filter(
            node__accelerator_id=lot.accelerator_id, node__in_service=True, in_service=True, healthy=True
        ).select_related("node")
        if driver_suffices(card.node.driver_version, driver_minimum)
    ]
    ids = [card.pk for card in cards]
    # A sale would let these go first.
    overdue = Reservation.objects.filter(
        card_id__in=ids, status=ReservationStatus.HELD, hold__release_at__lte=moment
    ).values_list("pk", flat=True)
    busy = busy_card_ids(card_ids=ids, period=period, ignored=list(overdue))
    by_node: dict[int, int] = defaultdict(int)
    for card in cards:
        if card.pk not in busy:
            by_node[card.node_id] += 1
    return FreeLots(lots=sum(count // lot.cards for count in by_node.values()), as_of=moment)


def lease_of_order(order_ref: str) -> Lease | None:
    """The lease of an order, or None."""
    return Lease.objects.select_related("hold").filter(order_ref=order_ref).first()


def cards_of_hold(hold_id: int) -> list[Card]:
    """Cards that a hold or lease has, by node and index."""
    return list(
        Card.objects.filter(
            reservations__hold_id=hold_id,
            reservations__status__in=[ReservationStatus.HELD, ReservationStatus.COMMITTED],
            reservations__left_at=None,
        )
        .select_related("node", "node__accelerator")
        .order_by("node__name", "index")
    )


def current_reservations(hold_id: int) -> list[Reservation]:
    """The reservations of a lease that count: living, and not those of cards that it moved away from."""
    return list(
        Reservation.objects.filter(hold_id=hold_id, left_at=None)
        .exclude(status=ReservationStatus.RELEASED)
        .order_by("pk")
    )


def predecessors(lease: Lease) -> list[str]:
    """User names of leases that still have one of these cards: prepared is only when they are wiped."""
    rows = current_reservations(lease.hold_id)
    if not rows:
        return []
    begins = min(row.period.lower for row in rows)
    return list(
        Lease.objects.filter(
            hold__reservations__card_id__in=[row.card_id for row in rows],
            hold__reservations__status=ReservationStatus.COMMITTED,
            hold__reservations__period__startswith__lt=begins,
        )
        .exclude(pk=lease.pk)
        .distinct()
        .order_by("pk")
        .values_list("username", flat=True)
    )


@dataclass(frozen=True)
class AccessCard:
    """One card of an open lease as a page shows it."""

    node: str
    index: int
    serial: str
    accelerator: str


@dataclass(frozen=True)
class Access:
    """How the buyer logs in, with what the gateway can be told by, until when."""

    host: str
    port: int
    user: str
    host_key_fingerprint: str
    known_hosts_line: str
    cards: tuple[AccessCard, ...]
    key_fingerprints: tuple[str, ...]
    starts_at: datetime
    ends_at: datetime


def access_of_order(order_ref: str) -> Access | None:
    """The login of an order while access is open, else None: before, after and during a suspension alike."""
    lease = lease_of_order(order_ref)
    if lease is None or lease.status not in OPEN_STATES or lease.ready_at is None or lease.ends_at is None:
        return None
    if clock.now() >= lease.ends_at:
        return None
    known = identity()
    return Access(
        host=known.host,
        port=known.port,
        user=lease.username,
        host_key_fingerprint=known.fingerprint,
        known_hosts_line=known.known_hosts_line,
        cards=tuple(
            AccessCard(
                node=card.node.name,
                index=card.index,
                serial=card.serial,
                accelerator=card.node.accelerator.name,
            )
            for card in cards_of_hold(lease.hold_id)
        ),
        key_fingerprints=tuple(
            lease.keys.filter(purpose=AccessKey.Purpose.BUYER, removed_at=None)
            .order_by("pk")
            .values_list("fingerprint", flat=True)
        ),
        starts_at=lease.ready_at,
        ends_at=lease.ends_at,
    )
