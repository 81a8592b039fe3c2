"""The switch of the simulated engine: what each fault does, how often, and that only the demo has it."""

from collections.abc import Callable
from typing import Any

import pytest

from core.errors import Conflict, Forbidden, Invalid
from core.models import AuditEntry
from fleet.models import SimulatedFault, SimulatedMachine
from fleet.providers.base import NodeAway, ProviderRefused, ProviderUnavailable
from fleet.providers.faults import BEFALLS, LONGEST_DELAY_SECONDS, VERBS, Kind
from fleet.providers.simulated import SimulatedProvider
from fleet.services.faults import FaultRequest, switch_off, switch_on
from fleet.services.sweep import advance_lease
from tests.factories.fleet import make_lease, make_lot
from tests.fleet.open_leases import fault, mend, nodes, open_lease, serials
from tests.fleet.rows import reload
from tests.races import at_once, own_connections

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_login")]


def test_every_kind_says_what_it_can_befall() -> None:
    assert set(BEFALLS) == set(Kind.values)
    assert all(verbs <= set(VERBS) for verbs in BEFALLS.values())


def test_a_refusal_counts_its_uses() -> None:
    lease = open_lease()
    row = fault(Kind.REFUSE, verb="members", uses=2)
    for _time in range(2):
        with pytest.raises(ProviderRefused):
            SimulatedProvider().members(lease.pk, ())
    SimulatedProvider().members(lease.pk, ())
    row.refresh_from_db()
    assert row.uses_left == 0


def test_acts_then_times_out() -> None:
    lease = open_lease()
    fault(Kind.TIME_OUT_AFTER, verb="members", uses=1)
    with pytest.raises(ProviderUnavailable):
        SimulatedProvider().members(lease.pk, ("SHA256:x",))
    assert SimulatedMachine.objects.get(lease_id=lease.pk).members == ["SHA256:x"]


def test_a_delay_is_slept_before_the_verb(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr("fleet.providers.faults.time.sleep", slept.append)
    lease = open_lease()
    fault(Kind.DELAY, verb="members", seconds=3.5, uses=1)
    SimulatedProvider().members(lease.pk, ())
    SimulatedProvider().members(lease.pk, ())
    assert slept == [3.5]


def test_only_the_named_lease_card_and_node_are_struck() -> None:
    first, second = open_lease(nodes=(2,)), open_lease(nodes=(2,))
    engine = SimulatedProvider()
    named = fault(Kind.REFUSE, lease_id=first.pk)
    with pytest.raises(ProviderRefused):
        engine.members(first.pk, ())
    engine.members(second.pk, ())
    mend(named)
    fault(Kind.CARD_UNHEALTHY, card_serial=serials(first)[1])
    assert [card.healthy for card in engine.verify(first.pk)] == [True, False]
    assert all(card.healthy for card in engine.verify(second.pk))
    away = fault(Kind.NODE_AWAY, node_name=next(iter(nodes(second))))
    engine.members(first.pk, ())
    with pytest.raises(NodeAway):
        engine.members(second.pk, ())
    assert engine.nodes_away() == (away.node_name,)


def test_a_wipe_that_fails_keeps_the_cards_off_sale(wait: Callable[[float], None]) -> None:
    """S10: nobody is sold a unit whose wipe is not confirmed."""
    lease = open_lease(nodes=(2,))
    SimulatedProvider().end(lease.pk)
    fault(Kind.WIPE_FAILS, uses=1)
    with pytest.raises(ProviderUnavailable):
        SimulatedProvider().wipe(lease.pk)
    assert SimulatedProvider().living() == (lease.pk,)
    SimulatedProvider().wipe(lease.pk)
    assert SimulatedProvider().living() == ()


def test_wrong_model_is_found_by_the_acceptance_test() -> None:
    """S03 by the engine's own switch, as the demo shows it."""
    lot = make_lot(cards=2, nodes=(2, 2))
    lease = make_lease(lot)
    fault(Kind.WRONG_MODEL, node_name=next(iter(nodes(lease))))
    before = nodes(lease)
    advance_lease(lease_id=lease.pk)
    assert reload(lease).status == "ready"
    assert nodes(lease).isdisjoint(before)


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (FaultRequest(kind="meteor"), "unknown_fault"),
        (FaultRequest(kind=Kind.WIPE_FAILS, verb="reserve"), "fault_never_strikes"),
        (FaultRequest(kind=Kind.NODE_AWAY), "node_missing"),
        (FaultRequest(kind=Kind.NODE_AWAY, node_name="nowhere"), "unknown_node"),
        (FaultRequest(kind=Kind.CARD_MISSING, card_serial="none"), "unknown_card"),
        (FaultRequest(kind=Kind.REFUSE, lease_id=999), "unknown_lease"),
        (FaultRequest(kind=Kind.REFUSE, uses=0), "uses_out_of_range"),
        (FaultRequest(kind=Kind.DELAY), "seconds_out_of_range"),
        (FaultRequest(kind=Kind.DELAY, seconds=LONGEST_DELAY_SECONDS + 1), "seconds_out_of_range"),
    ],
)
def test_a_fault_that_can_never_strike_is_refused(request_: FaultRequest, code: str) -> None:
    with pytest.raises(Invalid) as refusal:
        switch_on(request_, actor="test")
    assert refusal.value.code == code
    assert not SimulatedFault.objects.exists()


def test_on_and_off_are_audited_and_off_is_off_once() -> None:
    lease = open_lease()
    row = switch_on(FaultRequest(kind=Kind.REFUSE), actor="ada", reason="to see it")
    switch_off(fault_id=row.pk, actor="ada")
    with pytest.raises(Conflict, match="already"):
        switch_off(fault_id=row.pk, actor="ada")
    assert list(
        AuditEntry.objects.filter(subject=f"fault:{row.pk}").order_by("pk").values_list("action", flat=True)
    ) == ["fault.on", "fault.off"]
    SimulatedProvider().members(lease.pk, ())


def test_outside_the_demo_no_fault_is_made_or_honoured(settings: Any) -> None:
    lease = open_lease()
    row = fault(Kind.REFUSE)
    away = fault(Kind.NODE_AWAY, node_name=next(iter(nodes(lease))))
    fault(Kind.CARD_MISSING)
    settings.DEMO = False
    engine = SimulatedProvider()
    engine.members(lease.pk, ())
    assert len(engine.verify(lease.pk)) == 2
    assert engine.nodes_away() == ()
    acts: list[Callable[[], object]] = [
        lambda: switch_on(FaultRequest(kind=Kind.REFUSE), actor="ada"),
        lambda: switch_off(fault_id=row.pk, actor="ada"),
        lambda: switch_off(fault_id=away.pk, actor="ada"),
    ]
    for act in acts:
        with pytest.raises(Forbidden) as refusal:
            act()
        assert refusal.value.code == "demo_only"


@pytest.mark.django_db(transaction=True)
def test_the_last_use_is_used_once() -> None:
    lease = open_lease()
    fault(Kind.REFUSE, verb="members", uses=3)

    def act(_number: int) -> bool:
        try:
            SimulatedProvider().members(lease.pk, ())
        except ProviderRefused:
            return True
        return False

    with own_connections():
        assert sum(at_once(8, act)) == 3
