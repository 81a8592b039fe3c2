"""Every lock of this app, by name. Order: owner, prefix, hold, lease, cards by key, reservations (docs/locking.md)."""

from collections.abc import Iterable
from datetime import datetime

from django.db import connection

from core.locks import lock_word, mark, number_of
from fleet.lifecycle import ReservationStatus
from fleet.models import (
    Card,
    EngineSilence,
    Hold,
    Lease,
    MaintenanceWindow,
    Node,
    Reservation,
    SimulatedFault,
    SimulatedMachine,
    SlurmMachine,
)


def owner_and_prefix(*, owner: str, prefix: str) -> str:
    """The words that serialise the counting of holds of one owner, then of one network prefix, until the transaction
    ends, to be sent in front of the statement that counts; an empty prefix is not locked."""
    keys = [f"fleet.owner:{owner}", *([f"fleet.prefix:{prefix}"] if prefix else [])]
    calls = ", ".join(f"pg_advisory_xact_lock({number_of(key)})" for key in keys)
    return f"SELECT {calls}; "


def lock_owner_and_prefix(*, owner: str, prefix: str, first: str = "") -> None:
    """The same alone. `first` is what is executed before it on the same way to the database, such as a limit of the
    wait: words of ours, never a value that came from outside."""
    with connection.cursor() as cursor:
        cursor.execute(first + owner_and_prefix(owner=owner, prefix=prefix))


def candidate_cards_for_update(*, accelerator_id: int) -> list[Card]:
    """All cards of one accelerator that may be sold, in key order. The weakest lock that excludes a rival."""
    return list(
        Card.objects.filter(
            node__accelerator_id=accelerator_id,
            node__in_service=True,
            node__healthy=True,
            in_service=True,
            healthy=True,
        )
        .select_related("node")
        .order_by("pk")
        .select_for_update(of=("self",), no_key=True)
    )


_CARDS_OF_NODES = """
    SELECT c.id FROM fleet_card c JOIN fleet_node n ON n.id = c.node_id
    WHERE c.node_id = ANY(%s) AND n.in_service AND n.healthy AND c.in_service AND c.healthy
    ORDER BY c.id FOR NO KEY UPDATE OF c"""


def cards_of_nodes_for_update(node_ids: Iterable[int], *, skip_locked: bool = False) -> list[int]:
    """The keys of all cards of these nodes that may be sold, in key order; the same lock as the candidates.

    `skip_locked`: without those that somebody else has locked, and without waiting.
    """
    with connection.cursor() as cursor:
        cursor.execute(f"{_CARDS_OF_NODES} SKIP LOCKED" if skip_locked else _CARDS_OF_NODES, [list(node_ids)])
        return [card_id for (card_id,) in cursor.fetchall()]


def cards_for_update(card_ids: Iterable[int]) -> list[Card]:
    """Named cards in key order."""
    return list(
        Card.objects.filter(pk__in=list(card_ids)).order_by("pk").select_for_update(of=("self",), no_key=True)
    )


def hold_for_update(ref: str) -> Hold | None:
    """One hold by its order, or None."""
    hold = Hold.objects.select_for_update(of=("self",)).filter(ref=ref).first()
    return mark(hold) if hold is not None else None


def overdue_holds_for_update(*, card_ids: Iterable[int], moment: datetime) -> list[Hold]:
    """Open holds on these cards whose release time has passed. SKIP LOCKED: whoever works on one keeps it."""
    ids = Reservation.objects.filter(
        card_id__in=list(card_ids), status=ReservationStatus.HELD, hold__release_at__lte=moment
    ).values("hold_id")
    return [
        mark(hold)
        for hold in Hold.objects.filter(
            pk__in=ids, committed_at=None, released_at=None, release_at__lte=moment
        )
        .order_by("pk")
        .select_for_update(of=("self",), skip_locked=True)
    ]


def reservations_for_update(hold: Hold) -> list[Reservation]:
    """The living reservations of one hold, in key order."""
    return [
        mark(row)
        for row in Reservation.objects.filter(hold=hold)
        .exclude(status=ReservationStatus.RELEASED)
        .order_by("pk")
        .select_for_update(of=("self",))
    ]


def lease_for_update(lease_id: int) -> Lease:
    """One lease with its hold."""
    return mark(Lease.objects.select_for_update(of=("self",)).select_related("hold").get(pk=lease_id))


def lease_of_order_for_update(order_ref: str) -> Lease | None:
    """The lease of an order, or None where it was never paid."""
    lease = (
        Lease.objects.select_for_update(of=("self",))
        .select_related("hold")
        .filter(order_ref=order_ref)
        .first()
    )
    return mark(lease) if lease is not None else None


def node_for_update(node_id: int) -> Node:
    """One node."""
    return Node.objects.select_for_update(of=("self",)).get(pk=node_id)


def window_for_update(window_id: int) -> MaintenanceWindow:
    """One maintenance window with its node."""
    return MaintenanceWindow.objects.select_for_update(of=("self",)).select_related("node").get(pk=window_id)


def engine_silence_for_update() -> EngineSilence | None:
    """The open record of a provider that does not answer, or None."""
    return EngineSilence.objects.select_for_update().filter(ended_at=None).first()


def fault_for_update(fault_id: int) -> SimulatedFault:
    """One fault of the simulated engine, when it is switched off."""
    return SimulatedFault.objects.select_for_update().get(pk=fault_id)


def lock_simulated_engine() -> None:
    """Serialise what the simulated engine grants, as one controller does; alone in the engine's transactions."""
    lock_word("fleet.simulated_engine")


def machine_for_update(lease_id: int) -> SimulatedMachine | None:
    """The simulated engine's record of one lease, or None. Only fleet.providers.simulated calls this."""
    return SimulatedMachine.objects.select_for_update(of=("self",)).filter(lease_id=lease_id).first()


def lock_slurm_pool() -> None:
    """Serialise who gets which account and which nodes of a Slurm cluster; alone in the driver's transactions."""
    lock_word("fleet.slurm_pool")


def slurm_machine_for_update(lease_id: int) -> SlurmMachine | None:
    """The Slurm driver's record of one lease, or None. Only fleet.providers.slurm calls this."""
    return SlurmMachine.objects.select_for_update(of=("self",)).filter(lease_id=lease_id).first()
