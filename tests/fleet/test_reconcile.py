"""What the engine has on record is compared with what we believe, both ways: a difference is always told."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from core.models import Decision
from fleet.models import Lease, SimulatedMachine
from fleet.providers.base import ProviderUnavailable
from fleet.providers.simulated import SimulatedProvider
from fleet.services.suspend import resume, suspend
from fleet.services.sweep import advance_lease, due_leases, reconcile_machines, sweep_leases
from fleet.services.sync import KIND
from fleet.services.watch_health import watch_health
from tests.factories.fleet import make_lease, make_lot
from tests.fleet.doubles import FaultyProvider
from tests.fleet.open_leases import decisions, open_lease, serials
from tests.fleet.rows import events, reload

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_login")]
Wait = Callable[[float], None]


def members(lease: Lease) -> list[str]:
    found: list[str] = SimulatedMachine.objects.get(lease_id=lease.pk).members
    return found


def fingerprints(lease: Lease) -> list[str]:
    return sorted(lease.keys.filter(removed_at=None).values_list("fingerprint", flat=True))


def change(lease: Lease) -> None:
    """As every service does that changes who may log in."""
    Lease.objects.filter(pk=lease.pk).update(wanted_version=lease.wanted_version + 1)


def test_both_say_the_same_and_nothing_happens() -> None:
    lease = open_lease()
    watch_health()
    reconcile_machines()
    assert not Decision.objects.exists()
    assert reload(lease).wanted_version == lease.wanted_version


@pytest.mark.parametrize("how", ["gone", "wiped", "ended"])
def test_an_open_lease_without_a_machine_is_degraded_and_a_decision(how: str) -> None:
    lease = open_lease()
    if how == "gone":
        SimulatedMachine.objects.all().delete()
    else:
        SimulatedProvider().end(lease.pk)
        if how == "wiped":
            SimulatedProvider().wipe(lease.pk)
    watch_health()
    row = reload(lease)
    assert row.status == "degraded"
    assert [decision.order_ref for decision in decisions("machine_missing")] == [lease.order_ref]
    assert {o.cause for o in row.outages.all()} == {"node"}
    assert row.outages.count() == 2


def test_members_that_differ_are_told_again_and_reported(wait: Wait) -> None:
    lease = open_lease()
    SimulatedMachine.objects.update(members=["SHA256:stranger"])
    watch_health()
    (decision,) = decisions("machine_differs")
    assert decision.facts["differences"] == [
        {"problem": "members", "expected": fingerprints(lease), "found": ["SHA256:stranger"]}
    ]
    assert reload(lease).status == "ready", "the cards are all there"
    sweep_leases()
    assert members(lease) == fingerprints(lease)
    watch_health()
    assert not decisions("machine_differs")


def test_an_end_that_the_engine_has_too_early_is_told_again() -> None:
    lease = open_lease()
    assert lease.ends_at is not None
    SimulatedMachine.objects.update(ends_at=lease.ends_at - timedelta(hours=1))
    watch_health()
    assert [entry["problem"] for entry in decisions("machine_differs")[0].facts["differences"]] == ["end"]
    sweep_leases()
    assert SimulatedMachine.objects.get().ends_at >= lease.ends_at
    watch_health()
    assert not decisions("machine_differs")


def test_other_cards_on_record_are_a_decision_and_the_missing_ones_an_outage() -> None:
    lease = open_lease(nodes=(4,))
    machine = SimulatedMachine.objects.get()
    machine.cards[0]["index"] = 3
    machine.save()
    watch_health()
    assert [entry["problem"] for entry in decisions("machine_differs")[0].facts["differences"]] == ["cards"]
    assert reload(lease).status == "degraded"
    assert [o.card.serial for o in lease.outages.all()] == serials(lease)[:1]


def test_a_change_that_was_not_told_yet_is_no_difference() -> None:
    lease = open_lease()
    lease.keys.create(
        purpose="buyer", algorithm="x", data="x", fingerprint="SHA256:new", added_at=lease.reserved_at
    )
    change(lease)
    watch_health()
    assert not decisions("machine_differs")
    sweep_leases()
    assert "SHA256:new" in members(lease)
    row = reload(lease)
    assert row.applied_version == row.wanted_version == lease.wanted_version + 1


def test_orphans_are_decisions_and_never_ended() -> None:
    lease = make_lease(make_lot())
    advance_lease(lease_id=lease.pk)
    SimulatedMachine.objects.update(lease_id=lease.pk + 1000)
    reconcile_machines()
    watch_health()
    assert [decision.facts for decision in decisions("orphan_machine")] == [{"lease": lease.pk + 1000}]
    assert SimulatedProvider().living() == (lease.pk + 1000,)
    assert decisions("machine_missing")


def test_suspension_closes_access_at_the_engine_and_resume_opens_it() -> None:
    lease = open_lease()
    suspend(order_ref=lease.order_ref)
    assert due_leases() == [lease.pk]
    sweep_leases()
    assert members(lease) == []
    assert due_leases() == []
    watch_health()
    assert not Decision.objects.exists(), "no members while the money is gone: that is what we believe too"
    resume(order_ref=lease.order_ref)
    sweep_leases()
    assert members(lease) == fingerprints(lease)


def test_a_lease_that_never_opened_is_told_when_it_opens() -> None:
    lease = make_lease(make_lot())
    suspend(order_ref=lease.order_ref)
    assert due_leases() == []
    resume(order_ref=lease.order_ref)
    sweep_leases()
    row = reload(lease)
    assert row.status == "ready"
    assert row.applied_version == row.wanted_version
    assert due_leases() == []


def test_a_change_while_the_engine_is_told_is_told_once_more(provider: FaultyProvider) -> None:
    """The version was read before the members: what comes between is not lost."""
    lease = open_lease()
    change(lease)
    again = reload(lease)
    provider.before["members"].append(lambda: change(again))
    provider.calls.clear()
    sweep_leases()
    assert provider.calls == ["members", "members"] or provider.calls == ["members", "extend", "members"]
    row = reload(lease)
    assert row.applied_version == row.wanted_version == lease.wanted_version + 2


def test_telling_that_fails_is_tried_again_and_a_decision(provider: FaultyProvider, wait: Wait) -> None:
    lease = open_lease()
    change(lease)
    provider.fail("members", ProviderUnavailable("no answer"), times=3)
    pauses = []
    for _failure in range(3):
        sweep_leases()
        pauses.append(reload(lease).attempts)
        wait(61)
    assert pauses == [1, 2, 3]
    assert decisions(KIND)
    sweep_leases()
    assert reload(lease).applied_version == lease.wanted_version + 1
    assert not decisions(KIND)
    assert events(lease).count("lease.ready") == 1
