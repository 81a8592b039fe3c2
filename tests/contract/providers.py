"""Every provider that the conformance suite runs over, with the means to break what it drives.

A further engine joins with one entry: a factory, and a bench whose switches do at its machines what the names say.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from core import clock
from fleet.models import Card, SimulatedFault
from fleet.providers.base import CardSpec, Provider
from fleet.providers.simulated import SimulatedProvider
from fleet.services.faults import FaultRequest, switch_off, switch_on
from tests.factories.fleet import make_lot, new_key
from tests.fleet.doubles import FaultyProvider

Undo = Callable[[], None]
# What an engine sets apart at the least: one card, or a whole node with all of its cards.
Unit = tuple[CardSpec, ...]

# Three keys by their fingerprints, in order, and their lines: an engine with login hosts needs true ones.
KEYS = dict(sorted((key.fingerprint, f"{key.algorithm} {key.data}") for key in (new_key()[1] for _ in "abc")))


class Bench(Protocol):
    """Break something at the machines; what is returned mends it."""

    def card_unhealthy(self, serial: str) -> Undo: ...

    def card_missing(self, serial: str) -> Undo: ...

    def node_away(self, name: str) -> Undo: ...

    def answer_lost(self, verb: str) -> Undo:
        """The next call of the verb takes effect, and the caller does not hear of it."""

    def pass_its_time(self, lease_id: int) -> None:
        """The period of an open lease is over, and nobody has ended it."""


class SimulatedBench:
    """The switches of the simulated engine."""

    def card_unhealthy(self, serial: str) -> Undo:
        return self._on(FaultRequest(kind=SimulatedFault.Kind.CARD_UNHEALTHY, card_serial=serial))

    def card_missing(self, serial: str) -> Undo:
        return self._on(FaultRequest(kind=SimulatedFault.Kind.CARD_MISSING, card_serial=serial))

    def node_away(self, name: str) -> Undo:
        return self._on(FaultRequest(kind=SimulatedFault.Kind.NODE_AWAY, node_name=name))

    def answer_lost(self, verb: str) -> Undo:
        return self._on(FaultRequest(kind=SimulatedFault.Kind.TIME_OUT_AFTER, verb=verb, uses=1))

    def pass_its_time(self, lease_id: int) -> None:
        clock.skip(timedelta(hours=100))

    def _on(self, request: FaultRequest) -> Undo:
        fault = switch_on(request, actor="test")
        return lambda: _off(fault.pk)


def _off(fault_id: int) -> None:
    switch_off(fault_id=fault_id, actor="test")


def four_cards() -> list[Unit]:
    """A node of four cards, of which each may be had by itself."""
    make_lot(cards=2, nodes=(4,))
    return [(card,) for card in specs()]


def specs() -> list[CardSpec]:
    """Every card of the fleet, by node and index."""
    rows = Card.objects.select_related("node__accelerator").order_by("node__name", "index")
    return [CardSpec(c.node.name, c.index, c.serial, c.node.accelerator.slug) for c in rows]


@dataclass(frozen=True)
class Driven:
    """A provider under test, its bench, and what puts four units of its machines into the fleet."""

    make: Callable[[], Provider]
    bench: Bench
    stock: Callable[[], list[Unit]] = four_cards


PROVIDERS: dict[str, Driven] = {
    "simulated": Driven(SimulatedProvider, SimulatedBench()),
    # The double of the other tests is held to the same behaviour as what it stands for.
    "double": Driven(FaultyProvider, SimulatedBench()),
}
