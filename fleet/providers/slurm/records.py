"""The driver's own rows: which account a lease has, what was asked for, how far it has come.

Each function is a transaction of its own; what the cluster does stands whatever the caller's transaction does.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db import transaction

from core import clock
from fleet import locks
from fleet.models import Card, SlurmMachine
from fleet.providers.base import LeaseSpec, ProviderRefused, ProviderUnavailable
from fleet.providers.slurm.answers import Reservation

State = SlurmMachine.State
# The clocks of the controller and of its callers differ; a start less than this ago counts as now.
START_TOLERANCE = timedelta(minutes=5)


def find(lease_id: int) -> SlurmMachine | None:
    return SlurmMachine.objects.filter(lease_id=lease_id).first()


def unwiped() -> list[SlurmMachine]:
    return list(SlurmMachine.objects.exclude(state=State.WIPED).order_by("lease_id"))


def ask(spec: LeaseSpec, *, accounts: Iterable[str]) -> SlurmMachine:
    """The row of this lease, made with an account of the pool where there is none.

    Raises ProviderRefused where another lease is still on the nodes, or where the pool is empty.
    """
    with transaction.atomic(durable=True):
        locks.lock_slurm_pool()
        machine = locks.slurm_machine_for_update(spec.lease_id)
        if machine is not None and machine.state != State.WIPED:
            if _places(machine) != {(card.node, card.index) for card in spec.cards}:
                raise ProviderRefused("This lease has a reservation with other cards.")
            return machine
        _check_period(spec.starts_at, spec.ends_at)
        _check_free(spec)
        machine = machine or SlurmMachine(lease_id=spec.lease_id)
        machine.account = _free_account(accounts, preferred=machine.account)
        machine.cards = [
            {"node": card.node, "index": card.index, "serial": card.serial, "model": card.model}
            for card in spec.cards
        ]
        machine.image = spec.image
        machine.starts_at, machine.ends_at = spec.starts_at, spec.ends_at
        machine.state, machine.opened_at = State.ASKED, None
        machine.wipe_job, machine.wiped_at = None, None
        machine.save()
        return machine


def of_reservation(lease_id: int, reservation: Reservation) -> SlurmMachine:
    """What a row would say of a reservation of ours that has none, as after a restored backup. Not saved."""
    cards = Card.objects.filter(node__name__in=reservation.nodes).select_related("node__accelerator")
    return SlurmMachine(
        lease_id=lease_id,
        account=",".join(reservation.users),
        cards=[
            {"node": c.node.name, "index": c.index, "serial": c.serial, "model": c.node.accelerator.slug}
            for c in cards.order_by("node__name", "index")
        ],
        image="",
        starts_at=reservation.starts_at,
        ends_at=reservation.ends_at,
        state=State.OPEN,
        opened_at=reservation.starts_at,
    )


def adopt(machine: SlurmMachine, *, accounts: Iterable[str]) -> None:
    """Save such a row. Raises ProviderRefused where its account is not ours to end, or has another lease."""
    with transaction.atomic(durable=True):
        locks.lock_slurm_pool()
        taken = SlurmMachine.objects.exclude(state=State.WIPED).filter(account=machine.account)
        if machine.account not in accounts or taken.exists():
            raise ProviderRefused(
                f"The reservation of lease {machine.lease_id} is for {machine.account}: look at it."
            )
        machine.save()


def forget(lease_id: int) -> None:
    """What was asked for and refused leaves nothing: the account is free again."""
    with transaction.atomic(durable=True):
        machine = locks.slurm_machine_for_update(lease_id)
        if machine is not None and machine.state == State.ASKED:
            machine.delete()


def update(machine: SlurmMachine, **values: object) -> None:
    """Write these values."""
    for name, value in values.items():
        setattr(machine, name, value)
    with transaction.atomic(durable=True):
        machine.save(update_fields=list(values))


def check_end(ends_at: datetime) -> None:
    if ends_at <= clock.now():
        raise ProviderRefused("The end lies in the past.")


def _check_period(starts_at: datetime, ends_at: datetime) -> None:
    if starts_at < clock.now() - START_TOLERANCE:
        raise ProviderRefused("The start lies in the past.")
    if ends_at <= starts_at:
        raise ProviderRefused("The end lies before the start.")


def _check_free(spec: LeaseSpec) -> None:
    """Slurm forgets a reservation whose time is over; nodes that are not wiped stay ours all the same."""
    nodes = {card.node for card in spec.cards}
    begins_now = spec.starts_at <= clock.now() + START_TOLERANCE
    for rival in SlurmMachine.objects.exclude(state=State.WIPED).exclude(lease_id=spec.lease_id):
        in_time = rival.starts_at < spec.ends_at and rival.ends_at > spec.starts_at
        stands_there = begins_now and rival.starts_at <= clock.now()
        if nodes & set(rival.node_names) and (in_time or stands_there):
            raise ProviderRefused(f"The reservation overlaps with that of lease {rival.lease_id}.")


def _free_account(accounts: Iterable[str], *, preferred: str) -> str:
    """A lease that moves to other nodes keeps its account, if it can."""
    taken = set(SlurmMachine.objects.exclude(state=State.WIPED).values_list("account", flat=True))
    free = [account for account in accounts if account not in taken]
    if preferred in free:
        return preferred
    if free:
        return free[0]
    raise ProviderUnavailable("Every account of the pool (SLURM_ACCOUNTS) has a lease.")


def _places(machine: SlurmMachine) -> set[tuple[object, object]]:
    return {(card["node"], card["index"]) for card in machine.cards}
