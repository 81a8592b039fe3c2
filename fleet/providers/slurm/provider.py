"""Leases on a Slurm cluster: a reservation of whole nodes, a holder job in it, keys on the login host.

The verbs only; docs/slurm.md says what they rest on. The controller is asked before anything is believed, and every
verb may be repeated: what is there already is found by its name.
"""

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

import asyncssh
import structlog

from core import clock
from fleet.models import SlurmMachine
from fleet.periods import turnaround
from fleet.providers.base import (
    Health,
    LeaseSpec,
    Login,
    NodeAway,
    Observation,
    ObservedCard,
    ProviderError,
    ProviderRefused,
    ProviderUnavailable,
    UnknownLease,
    WipeReport,
)
from fleet.providers.slurm import config, holding, keys, looks, records, wiping
from fleet.providers.slurm.answers import Reservation
from fleet.providers.slurm.driver import controller_of
from fleet.providers.slurm.tools import Tools

log = structlog.get_logger(__name__)
State = SlurmMachine.State
KeyLines = Callable[[int, Iterable[str]], list[str]]

# Slurm lives in real time: with a clock that was moved further than this, nothing is reserved.
CLOCK_TOLERANCE = timedelta(minutes=1)


class SlurmProvider:
    """Satisfies fleet.providers.base.Provider."""

    def __init__(self, *, tools: Tools | None = None, key_lines: KeyLines = keys.lines_of) -> None:
        self._key_lines = key_lines
        self.config = config.from_settings()
        self.controller = controller_of(self.config, tools)
        self._keys = keys.KeyFiles(self.config.keys_dir)

    # The next four are what the buyer's way needs; what ends it stands below.

    def reserve(self, spec: LeaseSpec) -> Observation:
        if not spec.cards:
            raise ProviderRefused("A reservation needs cards.")
        if abs(clock.now() - clock.system_now()) > CLOCK_TOLERANCE:
            raise ProviderRefused("The shop's clock was moved, and Slurm's cannot be.")
        looks.check_whole_nodes(self.controller, spec)
        machine = records.ask(spec, accounts=self.config.accounts)
        if machine.state == State.ENDED:
            return self._observation(machine, self._reservation(machine))
        found = self._reservation(machine) or self._create(machine)
        if list(found.nodes) != machine.node_names or found.users != (machine.account,):
            raise ProviderRefused(
                f"{found.name} has {', '.join(found.nodes)} for {', '.join(found.users)} instead of "
                f"{', '.join(machine.node_names)} for {machine.account}."
            )
        if machine.state == State.ASKED:
            records.update(machine, state=State.RESERVED)
        return self._observation(machine, found)

    def prepare(self, lease_id: int) -> None:
        machine, reservation = self._running(lease_id)
        self._check_nodes(machine)
        holding.ensure(self.controller, machine, reservation)
        if machine.state == State.RESERVED:
            records.update(machine, state=State.PREPARED)

    def verify(self, lease_id: int) -> tuple[ObservedCard, ...]:
        machine, reservation = self._prepared(lease_id)
        self._check_nodes(machine)
        holders = holding.ensure(self.controller, machine, reservation)
        return looks.verified_cards(self.controller, holders)

    def open_access(self, lease_id: int, members: tuple[str, ...]) -> None:
        machine, _reservation = self._prepared(lease_id)
        self._write_members(machine, members)
        records.update(machine, state=State.OPEN, opened_at=machine.opened_at or clock.now())

    def members(self, lease_id: int, members: tuple[str, ...]) -> None:
        machine, _reservation = self._running(lease_id)
        self._write_members(machine, members)

    def admit_test(self, lease_id: int, key_line: str) -> None:
        machine, _reservation = self._prepared(lease_id)
        self._keys.write(
            machine.account,
            self._keys.lines(machine.account),
            expires_at=_last_login(machine.ends_at),
            test_line=" ".join(key_line.split()[:2]),
        )

    def login(self, lease_id: int, username: str) -> Login:
        machine = records.find(lease_id)
        key = asyncssh.import_public_key(self.config.login_host_key)
        return Login(
            host=self.config.login_host,
            port=self.config.login_port,
            user=username if machine is None else machine.account,
            host_key=self.config.login_host_key,
            fingerprint=key.get_fingerprint("sha256"),
            inside=(self.config.login_host, self.config.login_port),
        )

    def extend(self, lease_id: int, ends_at: datetime) -> None:
        machine, reservation = self._running(lease_id)
        records.check_end(ends_at)
        self.controller.move_end(reservation.name, ends_at)
        records.update(machine, ends_at=ends_at)
        for job in holding.holders(self.controller.jobs_named(reservation.name), reservation, machine):
            try:
                self.controller.move_limit(job.job_id, ends_at)
            except ProviderRefused as error:
                # The reservation has moved all the same; a holder that ends too early is replaced by `health`.
                log.warning("slurm_holder_limit", lease=lease_id, job=job.job_id, reason=error.reason)
        if machine.state == State.OPEN:
            lines = self._keys.lines(machine.account)
            self._keys.write(machine.account, lines, expires_at=_last_login(ends_at))

    def end(self, lease_id: int) -> None:
        machine, reservation = self._known(lease_id)
        if machine.state == State.WIPED and reservation is not None:
            # Made by a call that came through when the lease was over: nobody was ever let in.
            self.controller.delete(reservation.name)
        if machine.state in {State.ENDED, State.WIPED}:
            return
        if machine.state == State.ASKED and reservation is None:
            records.forget(lease_id)
            raise UnknownLease("The cluster was asked for this lease and has made nothing.")
        self._keys.remove(machine.account)
        if reservation is not None:
            wiping.close(self.controller, machine, reservation)
        self.controller.cancel_all_of(machine.account)
        records.update(machine, state=State.ENDED)

    def wipe(self, lease_id: int) -> WipeReport:
        machine, reservation = self._known(lease_id)
        if machine.state not in {State.ENDED, State.WIPED}:
            raise ProviderRefused("The lease still runs: it must be ended first.")
        if machine.state == State.ENDED and machine.opened_at is None:
            # No node need answer for this: what was never opened must not hold up a lease that moves on.
            wiping.give_back(self.controller, machine, reservation)
        elif machine.state == State.ENDED:
            self._check_nodes(machine)
            wiping.wipe(self.controller, machine, reservation)
        if machine.state == State.ENDED:
            records.update(machine, state=State.WIPED, wiped_at=clock.now(), wipe_job=None)
        command = self.config.wipe_command.split()[0].rpartition("/")[2]
        method = "never_opened" if machine.opened_at is None else command
        return WipeReport(cards=tuple(str(card["serial"]) for card in machine.cards), method=method)

    def observe(self, lease_id: int) -> Observation | None:
        try:
            return self._observation(*self._seen(lease_id))
        except UnknownLease:
            return None

    def living(self) -> tuple[int, ...]:
        ours = {self.config.lease_of(name) for name in self.controller.reservations()}
        known = {machine.lease_id for machine in records.unwiped()}
        return tuple(sorted(known | {lease_id for lease_id in ours if lease_id is not None}))

    def health(self, lease_ids: tuple[int, ...]) -> dict[int, Health]:
        """Four questions for all leases; a holder that is gone although its nodes answer is put back."""
        if not lease_ids:
            return {}
        reservations, nodes = self.controller.reservations(), self.controller.nodes()
        jobs = self.controller.jobs_named(*(self.config.name_of(lease_id) for lease_id in lease_ids))
        known = {machine.lease_id: machine for machine in records.unwiped()}
        found: dict[int, Health] = {}
        for lease_id in lease_ids:
            machine = known.get(lease_id)
            reservation = reservations.get(self.config.name_of(lease_id))
            if machine is None and reservation is not None:
                machine = records.of_reservation(lease_id, reservation)
            if machine is None:
                continue
            record = self._observation(machine, reservation)
            cards = looks.cards_by_nodes(self.config, machine, nodes)
            found[lease_id] = Health(record=record, cards=cards)
            if machine.state == State.OPEN and lease_id in known and reservation is not None:
                holding.mend(self.controller, machine, reservation, nodes=nodes, jobs=jobs)
        return found

    def nodes_away(self) -> tuple[str, ...]:
        return tuple(sorted(name for name, node in self.controller.nodes().items() if node.is_away))

    def _name(self, machine: SlurmMachine) -> str:
        return self.config.name_of(machine.lease_id)

    def _reservation(self, machine: SlurmMachine) -> Reservation | None:
        return self.controller.reservation(self._name(machine))

    def _seen(self, lease_id: int) -> tuple[SlurmMachine, Reservation | None]:
        machine = records.find(lease_id)
        reservation = self.controller.reservation(self.config.name_of(lease_id))
        if machine is not None:
            return machine, reservation
        if reservation is None:
            raise UnknownLease("The cluster knows no such lease.")
        return records.of_reservation(lease_id, reservation), reservation

    def _known(self, lease_id: int) -> tuple[SlurmMachine, Reservation | None]:
        machine, reservation = self._seen(lease_id)
        if machine._state.adding:
            records.adopt(machine, accounts=self.config.accounts)
        return machine, reservation

    def _running(self, lease_id: int) -> tuple[SlurmMachine, Reservation]:
        machine, reservation = self._known(lease_id)
        if machine.state in {State.ENDED, State.WIPED}:
            raise ProviderRefused("This lease is over at the cluster.")
        if reservation is None:
            raise ProviderRefused("The cluster has no reservation for this lease.")
        return machine, reservation

    def _prepared(self, lease_id: int) -> tuple[SlurmMachine, Reservation]:
        machine, reservation = self._running(lease_id)
        if machine.state in {State.ASKED, State.RESERVED}:
            raise ProviderRefused("The lease is not prepared.")
        return machine, reservation

    def _check_nodes(self, machine: SlurmMachine) -> None:
        for name, node in self.controller.nodes(machine.node_names).items():
            if node.is_away:
                raise NodeAway(f"The node {name} does not answer Slurm. {node.reason}".strip())

    def _create(self, machine: SlurmMachine) -> Reservation:
        """Make the reservation and read back what was granted; a refusal leaves nothing of ours behind."""
        name = self._name(machine)
        starts_at = machine.starts_at if machine.starts_at > clock.now() else None
        try:
            self.controller.create(
                name,
                nodes=machine.node_names,
                user=machine.account,
                starts_at=starts_at,
                ends_at=machine.ends_at,
            )
        except ProviderRefused:
            # An earlier call without an answer may have been carried out at last.
            found = self.controller.reservation(name)
            if found is not None:
                return found
            records.forget(machine.lease_id)
            raise
        granted = self.controller.reservation(name)
        if granted is None:
            raise ProviderUnavailable(f"{name} was made and cannot be found.")
        if list(granted.nodes) != machine.node_names:
            self.controller.delete(name)
            records.forget(machine.lease_id)
            raise ProviderRefused(
                f"Slurm granted {', '.join(granted.nodes)} and deviates from what was asked."
            )
        return granted

    def _write_members(self, machine: SlurmMachine, members: tuple[str, ...]) -> None:
        self._check_nodes(machine)
        lines = self._key_lines(machine.lease_id, members)
        self._keys.write(machine.account, lines, expires_at=_last_login(machine.ends_at))

    def _observation(self, machine: SlurmMachine, reservation: Reservation | None) -> Observation:
        is_running = machine.state not in {State.ENDED, State.WIPED} and reservation is not None
        try:
            members = self._keys.fingerprints(machine.account) if is_running else ()
        except (ValueError, ProviderError) as error:
            raise ProviderUnavailable(f"The keys of {machine.account} cannot be read: {error}") from error
        return looks.observation(machine, reservation, running=is_running, members=members)


def _last_login(ends_at: datetime) -> datetime:
    """The reservation ends after the wipe; nobody logs in during that time."""
    return ends_at - turnaround()
