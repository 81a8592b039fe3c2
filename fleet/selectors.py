"""Reads of the fleet. Nothing here locks; the sale never trusts a count read here."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.backends.postgresql.psycopg_any import DateTimeTZRange
from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.db.models.fields.json import KeyTextTransform

from catalog.models import Lot
from core import clock
from core.models import Event
from fleet.export import ExportPlan, export_plan
from fleet.free_cards import free_by_node
from fleet.lifecycle import OPEN_STATES, LeaseStatus, ReservationStatus
from fleet.models import AccessKey, Card, Lease, MaintenanceWindow, Outage, Reservation
from fleet.providers import get_provider


def busy_card_ids(*, card_ids: Iterable[int], period: DateTimeTZRange) -> set[int]:
    """Cards with a living reservation that overlaps the period. Overdue holds count until they are let go.

    A committed reservation whose time is over and that is not released belongs to a lease whose wipe is not confirmed
    yet: its card is not on sale, however long that takes.
    """
    living = Q(status__in=[ReservationStatus.HELD, ReservationStatus.COMMITTED], period__overlap=period)
    not_wiped = Q(status=ReservationStatus.COMMITTED, period__endswith__lte=clock.now())
    return set(
        Reservation.objects.filter(living | not_wiped, card_id__in=list(card_ids)).values_list(
            "card_id", flat=True
        )
    )


def nodes_under_maintenance(*, period: DateTimeTZRange) -> set[int]:
    """Nodes with a maintenance window in this period. Windows are made under the locks of the node's cards."""
    return set(
        MaintenanceWindow.objects.filter(cancelled_at=None, period__overlap=period).values_list(
            "node_id", flat=True
        )
    )


@dataclass(frozen=True)
class FreeLots:
    """How many lots were free for a period, and when that was read."""

    lots: int
    as_of: datetime


def free_lots(*, lot: Lot, period: DateTimeTZRange, driver_minimum: str = "") -> FreeLots:
    """Lots of `lot` that fit on one node each for the whole period: what a booking finds at its first look, which lets
    overdue holds go. One query, no lock."""
    moment = clock.now()
    by_node = free_by_node(
        accelerator_id=lot.accelerator_id,
        period=period,
        driver_minimum=driver_minimum,
        moment=moment,
        overdue_are_free=True,
    )
    return FreeLots(lots=sum(count // lot.cards for count in by_node.values()), as_of=moment)


def lease_of_order(order_ref: str) -> Lease | None:
    """The lease of an order, or None."""
    return Lease.objects.select_related("hold").filter(order_ref=order_ref).first()


def leases_of_orders(order_refs: Iterable[str]) -> dict[str, Lease]:
    """Leases by their order, each with hold and lot. One query."""
    rows = Lease.objects.select_related("hold__lot").filter(order_ref__in=order_refs)
    return {lease.order_ref: lease for lease in rows}


def export_plan_of(lease: Lease) -> ExportPlan:
    """When the export of a lease must begin, and what that rests on; the published uplink is that of one lot."""
    return export_plan(lease, uplink_gbit_s=lease.hold.lot.uplink_gbit_s)


def last_safe_export_at(lease: Lease) -> datetime | None:
    """end - (declared bytes / declared rate, or half of the published uplink) - verify margin; None: not known."""
    return export_plan_of(lease).last_safe_at


def outages_of_order(order_ref: str) -> list[Outage]:
    """The times that are over, oldest first; `minutes` are the started ones. What is credited rests on these rows."""
    return list(
        Outage.objects.filter(lease__order_ref=order_ref, ended_at__isnull=False)
        .select_related("card")
        .order_by("began_at", "pk")
    )


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
class Member:
    """One key that opens a lease, whose it is and when it was used last."""

    key_id: int
    algorithm: str
    fingerprint: str
    name: str
    comment: str
    added_at: datetime
    last_login_at: datetime | None


def members_of(lease: Lease) -> list[Member]:
    """The buyer's keys that open this lease, oldest first; one query."""
    keys = AccessKey.objects.filter(lease=lease, purpose=AccessKey.Purpose.BUYER, removed_at=None)
    return members_of_rows(with_last_login(keys).order_by("pk"))


def with_last_login(keys: QuerySet[AccessKey, Any]) -> QuerySet[Any, Any]:
    """Each key with `last_login_at`, by the log of its lease's order."""
    logins = (
        Event.objects.filter(name="lease.login", order_ref=OuterRef("lease__order_ref"))
        .annotate(fingerprint=KeyTextTransform("fingerprint", "payload"))
        .filter(fingerprint=OuterRef("fingerprint"))
        .order_by("-pk")
    )
    return keys.annotate(last_login_at=Subquery(logins.values("at")[:1]))


def members_of_rows(keys: Iterable[Any]) -> list[Member]:
    """From keys with `last_login_at` that were read before; an instant may still be text."""
    return [
        Member(
            key_id=key.pk,
            algorithm=key.algorithm,
            fingerprint=key.fingerprint,
            name=key.member,
            comment=key.comment,
            added_at=key.added_at,
            last_login_at=Event._meta.get_field("at").to_python(key.last_login_at),
        )
        for key in keys
    ]


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


def is_open(lease: Lease, moment: datetime) -> bool:
    """Whether the buyer's keys open this lease: the one rule of the gateway and of every page that shows access.

    Not while it moves to other cards: the old machine is going and the new one is not tested.
    """
    return (
        lease.status in OPEN_STATES
        and lease.moving_at is None
        and lease.ends_at is not None
        and moment < lease.ends_at
    )


def is_under_test(lease: Lease) -> bool:
    """Whether the acceptance test may log in: before the first opening, and on the new machine of a move."""
    return lease.status == LeaseStatus.TESTING or (
        lease.status == LeaseStatus.DEGRADED and lease.moving_at is not None
    )


def access_of_order(order_ref: str) -> Access | None:
    """The login of an order while access is open, else None: before, after and during a suspension alike."""
    lease = lease_of_order(order_ref)
    if lease is None or not is_open(lease, clock.now()):
        return None
    keys = lease.keys.filter(purpose=AccessKey.Purpose.BUYER, removed_at=None).order_by("pk")
    return access_of_rows(
        lease,
        [
            AccessCard(
                node=card.node.name,
                index=card.index,
                serial=card.serial,
                accelerator=card.node.accelerator.name,
            )
            for card in cards_of_hold(lease.hold_id)
        ],
        keys.values_list("fingerprint", flat=True),
    )


def access_of_rows(lease: Lease, cards: Iterable[AccessCard], fingerprints: Iterable[str]) -> Access | None:
    """The same from rows that were read before. No query but that of a provider with accounts of its own."""
    if lease.ready_at is None or lease.ends_at is None or not is_open(lease, clock.now()):
        return None
    known = get_provider().login(lease.pk, lease.username)
    return Access(
        host=known.host,
        port=known.port,
        user=known.user,
        host_key_fingerprint=known.fingerprint,
        known_hosts_line=known.known_hosts_line,
        cards=tuple(cards),
        key_fingerprints=tuple(fingerprints),
        starts_at=lease.ready_at,
        ends_at=lease.ends_at,
    )
