"""Every provider that the conformance suite runs over, with the means to break what it drives.

A further engine joins with one entry: a factory, and a bench whose switches do at its machines what the names say.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from fleet.models import SimulatedFault
from fleet.providers.base import Provider
from fleet.providers.simulated import SimulatedProvider
from fleet.services.faults import FaultRequest, switch_off, switch_on
from tests.fleet.doubles import FaultyProvider

Undo = Callable[[], None]


class Bench(Protocol):
    """Break something at the machines; what is returned mends it."""

    def card_unhealthy(self, serial: str) -> Undo: ...

    def card_missing(self, serial: str) -> Undo: ...

    def node_away(self, name: str) -> Undo: ...

    def answer_lost(self, verb: str) -> Undo:
        """The next call of the verb takes effect, and the caller does not hear of it."""


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

    def _on(self, request: FaultRequest) -> Undo:
        fault = switch_on(request, actor="test")
        return lambda: _off(fault.pk)


def _off(fault_id: int) -> None:
    switch_off(fault_id=fault_id, actor="test")


@dataclass(frozen=True)
class Driven:
    """A provider under test and its bench."""

    make: Callable[[], Provider]
    bench: Bench


PROVIDERS: dict[str, Driven] = {
    "simulated": Driven(SimulatedProvider, SimulatedBench()),
    # The double of the other tests is held to the same behaviour as what it stands for.
    "double": Driven(FaultyProvider, SimulatedBench()),
}
