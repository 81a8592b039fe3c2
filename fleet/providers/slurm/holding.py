"""The holder: a job of the lease's account on each of its nodes, by which the nodes let that account in.

It is found by its name, its owner and its reservation. A node that was away comes back without one, and gets one then.
"""

import time
from collections.abc import Iterable, Mapping

import structlog

from fleet.models import SlurmMachine
from fleet.providers.base import NodeAway, NotYet, ProviderError
from fleet.providers.slurm import looks
from fleet.providers.slurm.answers import Job, NodeState, Reservation
from fleet.providers.slurm.controller import Controller

log = structlog.get_logger(__name__)

# A job starts in a second where the scheduler is idle. Longer waits are the worker's: it has other leases to step.
START_SECONDS = 3.0
POLL_SECONDS = 0.25
_RUNNING = frozenset({"RUNNING"})
_WAITING = frozenset({"PENDING", "CONFIGURING"})


def holders(jobs: Iterable[Job], reservation: Reservation, machine: SlurmMachine) -> list[Job]:
    """Those of this lease that run, of jobs with the name of its reservation or of another lease's."""
    return _holders(jobs, reservation, machine, _RUNNING)


def ensure(controller: Controller, machine: SlurmMachine, reservation: Reservation) -> list[Job]:
    """Every node has a running holder. Raises NotYet where the scheduler takes its time, NodeAway where it will not."""
    jobs = controller.jobs_named(reservation.name)
    if not _holders(jobs, reservation, machine, _WAITING):
        held = _nodes(holders(jobs, reservation, machine))
        _put(controller, machine, reservation, set(machine.node_names) - held)
    deadline = time.monotonic() + START_SECONDS
    while True:
        running = holders(controller.jobs_named(reservation.name), reservation, machine)
        if _nodes(running) >= set(machine.node_names):
            return running
        if time.monotonic() > deadline:
            _refuse_drained(controller, machine)
            raise NotYet("The holder job has not started yet.")
        time.sleep(POLL_SECONDS)


def mend(
    controller: Controller,
    machine: SlurmMachine,
    reservation: Reservation,
    *,
    nodes: Mapping[str, NodeState],
    jobs: Iterable[Job],
) -> None:
    """Put back what a node lost that answers again. What fails is tried at the next look."""
    known = list(jobs)
    if _holders(known, reservation, machine, _WAITING):
        return
    here = {name for name in machine.node_names if name in nodes and not nodes[name].is_away}
    try:
        _put(controller, machine, reservation, here - _nodes(holders(known, reservation, machine)))
    except ProviderError as error:
        log.warning("slurm_holder_not_mended", lease=machine.lease_id, reason=error.reason)


def _refuse_drained(controller: Controller, machine: SlurmMachine) -> None:
    """Slurm reserves a drained node and starts nothing on it. Raises NodeAway: other nodes may do it."""
    drained = looks.drained_node(controller, machine)
    if drained is not None:
        raise NodeAway(f"The node {drained.name} is drained. {drained.reason}".strip())


def _put(
    controller: Controller, machine: SlurmMachine, reservation: Reservation, missing: Iterable[str]
) -> None:
    names = sorted(missing)
    if names:
        controller.hold_nodes(
            reservation.name, account=machine.account, nodes=names, ends_at=reservation.ends_at
        )


def _holders(
    jobs: Iterable[Job], reservation: Reservation, machine: SlurmMachine, states: frozenset[str]
) -> list[Job]:
    return [
        job
        for job in jobs
        if job.reservation == reservation.name and job.user == machine.account and job.state in states
    ]


def _nodes(jobs: Iterable[Job]) -> set[str]:
    return {name for job in jobs for name in job.nodes}
