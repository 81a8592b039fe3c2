"""An engine without machines: keeps its own record and refuses what a real engine refuses.

Its record is apart from ours and written in transactions of its own, as a controller elsewhere would do it.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Q

from core import clock
from fleet import locks
from fleet.gateway.identity import identity, local_address
from fleet.models import Card, SimulatedMachine
from fleet.providers import faults
from fleet.providers.base import (
    CardSpec,
    Health,
    LeaseSpec,
    Login,
    Observation,
    ObservedCard,
    ProviderRefused,
    UnknownLease,
    WipeReport,
)

# The clocks of a controller and of its callers differ; a start less than this ago counts as now.
START_TOLERANCE = timedelta(minutes=5)
State = SimulatedMachine.State


class SimulatedProvider:
    """Satisfies fleet.providers.base.Provider.

    The engine's act stands by itself whatever its caller's transaction does; `durable` makes a call from inside one
    an error.
    """

    def reserve(self, spec: LeaseSpec) -> Observation:
        if not spec.cards:
            raise ProviderRefused("A reservation needs cards.")
        with _faults("reserve", spec.lease_id, {card.node for card in spec.cards}):
            return _reserve(spec)

    def prepare(self, lease_id: int) -> None:
        with _faults("prepare", lease_id), transaction.atomic(durable=True):
            machine = _running(lease_id)
            if machine.state == State.RESERVED:
                _set(machine, state=State.PREPARED)

    def verify(self, lease_id: int) -> tuple[ObservedCard, ...]:
        with _faults("verify", lease_id), transaction.atomic(durable=True):
            machine = _running(lease_id)
            if machine.state == State.RESERVED:
                raise ProviderRefused("The machine is not prepared.")
        specs = [CardSpec(c["node"], c["index"], c["serial"], c["model"]) for c in machine.cards]
        return _seen("verify", machine, _inventory(tuple(specs)))

    def open_access(self, lease_id: int, members: tuple[str, ...]) -> None:
        with _faults("open_access", lease_id), transaction.atomic(durable=True):
            machine = _running(lease_id)
            if machine.state == State.RESERVED:
                raise ProviderRefused("The machine is not prepared.")
            _set(machine, state=State.OPEN, members=sorted(members))

    def members(self, lease_id: int, members: tuple[str, ...]) -> None:
        with _faults("members", lease_id), transaction.atomic(durable=True):
            _set(_running(lease_id), members=sorted(members))

    def admit_test(self, lease_id: int, key_line: str) -> None:
        """The gateway reads the keys themselves."""

    def login(self, lease_id: int, username: str) -> Login:
        known = identity()
        return Login(
            host=known.host,
            port=known.port,
            user=username,
            host_key=known.host_key,
            fingerprint=known.fingerprint,
            inside=local_address(),
        )

    def extend(self, lease_id: int, ends_at: datetime) -> None:
        with _faults("extend", lease_id), transaction.atomic(durable=True):
            locks.lock_simulated_engine()
            machine = _running(lease_id)
            _check_period(None, ends_at)
            places = {_place(card) for card in machine.cards}
            _check_overlap(lease_id, places, machine.starts_at, ends_at)
            _set(machine, ends_at=ends_at)

    def end(self, lease_id: int) -> None:
        with _faults("end", lease_id), transaction.atomic(durable=True):
            machine = _known(lease_id)
            if machine.state not in {State.ENDED, State.WIPED}:
                _set(machine, state=State.ENDED, members=[])

    def wipe(self, lease_id: int) -> WipeReport:
        with _faults("wipe", lease_id), transaction.atomic(durable=True):
            machine = _known(lease_id)
            if machine.state not in {State.ENDED, State.WIPED}:
                raise ProviderRefused("The machine still runs: it must be ended first.")
            if machine.state == State.ENDED:
                _set(machine, state=State.WIPED, wiped_at=clock.now())
            return WipeReport(cards=tuple(card["serial"] for card in machine.cards), method="simulated")

    def observe(self, lease_id: int) -> Observation | None:
        with _faults("observe", lease_id):
            machine = SimulatedMachine.objects.filter(lease_id=lease_id).first()
            return None if machine is None else _observation(machine)

    def living(self) -> tuple[int, ...]:
        with _faults("living"):
            return tuple(
                SimulatedMachine.objects.exclude(state=State.WIPED)
                .order_by("lease_id")
                .values_list("lease_id", flat=True)
            )

    def health(self, lease_ids: tuple[int, ...]) -> dict[int, Health]:
        with _faults("health"):
            machines = SimulatedMachine.objects.filter(lease_id__in=lease_ids).exclude(state=State.WIPED)
            return {
                machine.lease_id: Health(
                    record=_observation(machine), cards=_seen("health", machine, machine.cards)
                )
                for machine in machines
            }

    def nodes_away(self) -> tuple[str, ...]:
        return tuple(sorted(faults.nodes_away()))


@contextmanager
def _faults(verb: str, lease_id: int | None = None, nodes: Iterable[str] | None = None) -> Iterator[None]:
    """Round a verb: what is switched on strikes before it, or when it has taken effect.

    Outside the engine's own transaction, so that a use that was counted stays counted.
    """
    if nodes is None:
        nodes = _nodes_of(lease_id) if settings.DEMO and lease_id is not None else ()
    faults.strike(verb, lease_id=lease_id, nodes=nodes)
    yield
    faults.strike_after(verb, lease_id=lease_id, nodes=nodes)


def _nodes_of(lease_id: int) -> list[str]:
    machine = SimulatedMachine.objects.filter(lease_id=lease_id).first()
    return [] if machine is None else [str(name) for name in machine.node_names]


def _reserve(spec: LeaseSpec) -> Observation:
    with transaction.atomic(durable=True):
        locks.lock_simulated_engine()
        machine = locks.machine_for_update(spec.lease_id)
        if machine is not None and machine.state != State.WIPED:
            if {_place(card) for card in machine.cards} != {(c.node, c.index) for c in spec.cards}:
                raise ProviderRefused("This lease has a machine on other cards.")
            return _observation(machine)
        _check_period(spec.starts_at, spec.ends_at)
        granted = _inventory(spec.cards)
        _check_overlap(spec.lease_id, {(c.node, c.index) for c in spec.cards}, spec.starts_at, spec.ends_at)
        machine = machine or SimulatedMachine(lease_id=spec.lease_id)
        machine.cards = granted
        machine.node_names = sorted({card.node for card in spec.cards})
        machine.username = spec.username
        machine.image = spec.image
        machine.members = []
        machine.starts_at = spec.starts_at
        machine.ends_at = spec.ends_at
        machine.state = State.RESERVED
        machine.wiped_at = None
        machine.save()
        return _observation(machine)


def _seen(verb: str, machine: SimulatedMachine, cards: list[dict[str, object]]) -> tuple[ObservedCard, ...]:
    """What the machine sees of its cards: those of nodes that answer, with the faults that are on."""
    away = faults.nodes_away()
    here = tuple(_observed(card) for card in cards if card["node"] not in away)
    return faults.altered(verb, machine.lease_id, here)


def _known(lease_id: int) -> SimulatedMachine:
    machine = locks.machine_for_update(lease_id)
    if machine is None:
        raise UnknownLease("The engine knows no such lease.")
    return machine


def _running(lease_id: int) -> SimulatedMachine:
    machine = _known(lease_id)
    if machine.state in {State.ENDED, State.WIPED}:
        raise ProviderRefused("This lease is over at the engine.")
    return machine


def _set(machine: SimulatedMachine, **values: object) -> None:
    for name, value in values.items():
        setattr(machine, name, value)
    machine.save(update_fields=list(values))


def _place(card: dict[str, object]) -> tuple[object, object]:
    return card["node"], card["index"]


def _check_period(starts_at: datetime | None, ends_at: datetime) -> None:
    moment = clock.now()
    if starts_at is not None and starts_at < moment - START_TOLERANCE:
        raise ProviderRefused("The start lies in the past.")
    if ends_at <= (starts_at or moment):
        raise ProviderRefused("The end lies before the start or in the past.")


def _check_overlap(
    lease_id: int,
    places: set[tuple[str, int]] | set[tuple[object, object]],
    starts_at: datetime,
    ends_at: datetime,
) -> None:
    """Another machine in the same time, or one that still stands there although its time is over."""
    moment = clock.now()
    overlap = Q(starts_at__lt=ends_at, ends_at__gt=starts_at)
    if starts_at <= moment + START_TOLERANCE:
        overlap |= Q(starts_at__lte=moment)
    rivals = SimulatedMachine.objects.filter(overlap).exclude(state=State.WIPED).exclude(lease_id=lease_id)
    for rival in rivals:
        if places & {_place(card) for card in rival.cards}:
            raise ProviderRefused("The reservation overlaps with another one.")


def _inventory(cards: tuple[CardSpec, ...]) -> list[dict[str, object]]:
    """These places as the engine sees them, whatever the caller believes to be there."""
    places = Q()
    for card in cards:
        places |= Q(node__name=card.node, index=card.index)
    rows = list(
        Card.objects.filter(places).select_related("node__accelerator").order_by("node__name", "index")
    )
    if len(rows) != len(cards):
        raise ProviderRefused("The engine knows no such card.")
    return [
        {
            "node": row.node.name,
            "index": row.index,
            "serial": row.serial,
            "model": row.node.accelerator.slug,
            # Whether a card is sound is the engine's own word; ours follows it (fleet.services.watch_health).
            "healthy": True,
        }
        for row in rows
    ]


def _observed(card: dict[str, object]) -> ObservedCard:
    return ObservedCard(
        node=str(card["node"]),
        index=int(str(card["index"])),
        serial=str(card["serial"]),
        model=str(card["model"]),
        healthy=bool(card["healthy"]),
    )


def _observation(machine: SimulatedMachine) -> Observation:
    return Observation(
        state=machine.state,
        living=machine.state != State.WIPED,
        running=machine.state not in {State.ENDED, State.WIPED},
        cards=tuple(_observed(card) for card in machine.cards),
        members=tuple(machine.members),
        starts_at=machine.starts_at,
        ends_at=machine.ends_at,
    )
