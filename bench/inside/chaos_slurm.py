"""What bench.chaos needs of a Slurm cluster: its nodes in the fleet, faults at the driver, and what the engine has."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q

from catalog.models import Lot
from fleet.lifecycle import OVER_STATES, LeaseStatus
from fleet.models import Lease, SlurmMachine
from fleet.providers import faults
from fleet.providers.base import Health, LeaseSpec, ObservedCard, ProviderError
from fleet.providers.slurm import inventory, provider
from fleet.providers.slurm.provider import SlurmProvider
from fleet.services.import_slurm import NewNodes, apply
from fleet.services.work import ASK_AGAIN_AFTER


class StruckSlurm:
    """The driver with the faults that staff can switch on at the simulated engine, before and after each verb.

    The clock of a run is moved, Slurm's is not. All times that the driver gives to Slurm then lie ahead of it, so that
    a reservation is longer there than in the shop, and every end comes by the shop's own hand.
    """

    def __init__(self) -> None:
        provider.CLOCK_TOLERANCE = timedelta.max
        self._inner = SlurmProvider()

    def __getattr__(self, verb: str) -> Callable[..., Any]:
        call: Callable[..., Any] = getattr(self._inner, verb)

        def struck(*arguments: Any) -> Any:
            lease_id = _lease_of(arguments[0]) if arguments else None
            nodes = _nodes_of(lease_id)
            faults.strike(verb, lease_id=lease_id, nodes=nodes)
            answer = _altered(verb, lease_id, call(*arguments))
            faults.strike_after(verb, lease_id=lease_id, nodes=nodes)
            return answer

        return struck


def _lease_of(subject: object) -> int | None:
    if isinstance(subject, LeaseSpec):
        return subject.lease_id
    return subject if isinstance(subject, int) else None


def _nodes_of(lease_id: int | None) -> Iterable[str]:
    machine = None if lease_id is None else SlurmMachine.objects.filter(lease_id=lease_id).first()
    return machine.node_names if machine is not None else ()


def _altered(verb: str, lease_id: int | None, answer: Any) -> Any:
    """What is wrong with the cards that the answer shows."""
    if verb == "verify" and lease_id is not None:
        cards: tuple[ObservedCard, ...] = faults.altered(verb, lease_id, answer)
        return cards
    if verb == "health":
        seen: dict[int, Health] = answer
        return {pk: replace(entry, cards=faults.altered(verb, pk, entry.cards)) for pk, entry in seen.items()}
    return answer


def under_way(moment: datetime) -> bool:
    """A worker is in the middle of a step, or the cluster said "not yet" and is asked again in a moment.

    A simulated engine is done with a step before anybody looks; here days would go by between two looks at a job.
    """
    claimed = Q(claim_until__gt=moment)
    soon = Q(next_at__gt=moment, next_at__lte=moment + ASK_AGAIN_AFTER)
    return Lease.objects.exclude(status=LeaseStatus.CLOSED).filter(claimed | soon).exists()


def join_fleet(accelerator: str) -> None:
    """The cluster as `import_slurm --apply` takes it in; lots of parts of a node are withdrawn first."""
    listed = inventory.listed_nodes()
    sizes = {len(node.serials) for node in listed}
    Lot.objects.filter(accelerator__slug=accelerator).exclude(cards__in=sizes).update(on_sale=False)
    refused = apply(listed, new=NewNodes(site="bench", driver_version="580.95.05"))
    if refused:
        raise RuntimeError(f"A node was refused: {refused[0].why}")


def unlike_the_rows() -> Iterator[str]:
    """The controller itself against our rows: each reservation of ours is a lease's, each lease's is there."""
    driver = SlurmProvider()
    try:
        there = driver.controller.reservations()
    except ProviderError as error:
        yield f"the controller does not answer: {error.reason}"
        return
    machines = SlurmMachine.objects.exclude(state=SlurmMachine.State.WIPED)
    rows = {driver.config.name_of(machine.lease_id): machine for machine in machines}
    over = set(Lease.objects.filter(status__in=OVER_STATES).values_list("pk", flat=True))
    for name in sorted(there.keys() - rows.keys()):
        yield f"the controller has {name}, which is no machine of ours"
    for name, machine in rows.items():
        if name not in there:
            if machine.lease_id not in over and machine.state != SlurmMachine.State.ASKED:
                yield f"the controller does not have {name}, which is {machine.state}"
        elif list(there[name].nodes) != machine.node_names:
            yield f"{name} has {there[name].nodes} and not {machine.node_names}"
