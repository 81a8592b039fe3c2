"""Leases in their term, for tests of what happens to them there."""

from core.models import Decision
from fleet.models import Lease, SimulatedFault
from fleet.providers.faults import Kind
from fleet.selectors import cards_of_hold
from fleet.services.faults import FaultRequest, switch_off, switch_on
from fleet.services.sweep import advance_lease
from tests.factories.fleet import make_lease, make_lot
from tests.fleet.rows import reload


def open_lease(*, cards: int = 2, nodes: tuple[int, ...] = (2, 2), lots: int = 1) -> Lease:
    """A ready lease on a fleet of nodes with so many cards each."""
    lease = make_lease(make_lot(cards=cards, nodes=nodes), lots=lots)
    advance_lease(lease_id=lease.pk)
    found = reload(lease)
    assert found.status == "ready", found.last_error
    return found


def serials(lease: Lease) -> list[str]:
    return [card.serial for card in cards_of_hold(lease.hold_id)]


def nodes(lease: Lease) -> set[str]:
    return {card.node.name for card in cards_of_hold(lease.hold_id)}


def fault(kind: str, **values: object) -> SimulatedFault:
    return switch_on(FaultRequest(kind=kind, **values), actor="test")  # type: ignore[arg-type]


def mend(row: SimulatedFault) -> None:
    switch_off(fault_id=row.pk, actor="test")


def drop_card(lease: Lease, number: int = 0) -> SimulatedFault:
    """A card of this lease falls off the bus; it is missing wherever it is looked for."""
    return fault(Kind.CARD_MISSING, card_serial=serials(lease)[number])


def decisions(kind: str) -> list[Decision]:
    return list(Decision.objects.filter(kind=kind, closed_at=None))
