"""The wipe: the operator's command on every node of an ended lease, as a job in what is left of its reservation."""

import time
from collections.abc import Callable
from datetime import timedelta

from core import clock
from fleet.models import SlurmMachine
from fleet.providers.base import NotYet, ProviderRefused, ProviderUnavailable
from fleet.providers.slurm import looks, records
from fleet.providers.slurm.answers import Reservation
from fleet.providers.slurm.controller import OVER, Controller

# A true wipe takes minutes: it has a limit of its own, and the worker asks again.
WAIT_SECONDS = 3.0
POLL_SECONDS = 0.25
# Slurm gives a job KillWait (30 s) between the two signals; the next attempt goes on from there.
CLOSE_SECONDS = 8.0


def wipe(controller: Controller, machine: SlurmMachine, reservation: Reservation | None) -> None:
    """Start the wipe if it does not run, and give the nodes back once it has succeeded.

    Raises NotYet while it runs, ProviderUnavailable where it failed: the next call begins anew.
    """
    name = controller.config.name_of(machine.lease_id)
    if reservation is None:
        # Its time was over: the nodes are set apart once more, for the wipe alone.
        controller.create(
            name,
            nodes=machine.node_names,
            user=controller.operator,
            starts_at=None,
            ends_at=clock.system_now() + timedelta(minutes=controller.config.wipe_minutes + 5),
        )
    try:
        _wait(lambda: _is_done(controller, machine, name), "The wipe is under way.")
    except NotYet:
        _refuse_drained(controller, machine, name)
        raise
    controller.delete(name)


def _refuse_drained(controller: Controller, machine: SlurmMachine, name: str) -> None:
    """A wipe that has not begun on a drained node never does: somebody must hear of it."""
    waits = any(job.state == "PENDING" for job in controller.jobs_named(_wipe_name(name)))
    drained = looks.drained_node(controller, machine) if waits else None
    if drained is not None:
        raise ProviderUnavailable(f"The node {drained.name} is drained, and Slurm starts no wipe on it.")


def _wipe_name(name: str) -> str:
    return f"{name}_wipe"


def close(controller: Controller, machine: SlurmMachine, reservation: Reservation) -> None:
    """Nothing new starts in it. First the door, then whoever is inside: else a new job could slip in between.

    Slurm 26.05 leaves the door as it is while somebody is inside: there both, until it is shut. Raises
    ProviderUnavailable where the jobs do not end.
    """
    deadline = time.monotonic() + CLOSE_SECONDS
    while True:
        try:
            controller.hand_over(reservation.name, controller.operator)
            return
        except ProviderRefused as error:
            if "reservation is in use" not in error.reason:
                raise
        controller.cancel_all_of(machine.account)
        if time.monotonic() > deadline:
            raise ProviderUnavailable("The jobs of the lease have not ended yet.")
        time.sleep(POLL_SECONDS)


def give_back(controller: Controller, machine: SlurmMachine, reservation: Reservation | None) -> None:
    """Without a wipe: what nobody was let into. Raises NotYet while its holder is going."""
    _wait(lambda: not controller.jobs_of(machine.account), "The holder job is going.")
    if reservation is not None:
        controller.delete(reservation.name)


def _wait(is_done: Callable[[], bool], meanwhile: str) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while not is_done():
        if time.monotonic() > deadline:
            raise NotYet(meanwhile)
        time.sleep(POLL_SECONDS)


def _is_done(controller: Controller, machine: SlurmMachine, name: str) -> bool:
    if controller.jobs_of(machine.account):
        return False
    wipe_name = _wipe_name(name)
    running = [job for job in controller.jobs_named(wipe_name) if job.user == controller.operator]
    if running:
        if machine.wipe_job != running[0].job_id:
            records.update(machine, wipe_job=running[0].job_id)
        return False
    state = None if machine.wipe_job is None else controller.job_state(machine.wipe_job)
    if state is None:
        # None yet, or so long ago that the controller has forgotten how it ended: wiping twice harms nobody.
        number = controller.start_wipe(
            wipe_name, reservation=name, account=machine.account, nodes=machine.node_names
        )
        records.update(machine, wipe_job=number)
        return False
    if state[0] not in OVER:
        return False
    if state == ("COMPLETED", "0:0"):
        return True
    records.update(machine, wipe_job=None)
    raise ProviderUnavailable(f"The wipe did not succeed: {state[0]}, exit code {state[1]}.")
