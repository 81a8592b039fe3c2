"""Staff's answers to decisions about leases and machines: each acts once, is recorded, and closes what it settled."""

from datetime import timedelta

import pytest

from core import clock
from core.errors import Conflict
from core.models import AuditEntry, Decision
from core.services.close import close_with_note
from fleet.lifecycle import LeaseStatus
from fleet.models import Lease, SimulatedMachine
from fleet.providers.base import ProviderUnavailable
from fleet.providers.simulated import SimulatedProvider
from fleet.selectors import cards_of_hold
from fleet.services.end import end_lease
from fleet.services.give_up import give_up_late
from fleet.services.lease_decisions import (
    other_cards_by_decision,
    prepare_by_decision,
    tear_down_by_decision,
)
from fleet.services.orphans import ASK_AGAIN_AFTER, take_down_by_decision
from fleet.services.sweep import advance_lease, reconcile_machines, sweep_leases
from tests.factories.fleet import make_lease, make_lot
from tests.fleet.doubles import FaultyProvider
from tests.fleet.rows import reload

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_login")]
NO_ANSWER = ProviderUnavailable("no answer in time")


def asked(kind: str, lease: Lease) -> Decision:
    """The newest decision of this kind about a lease."""
    return Decision.objects.filter(kind=kind, subject=f"lease:{lease.pk}").latest("id")


def is_asked(kind: str) -> bool:
    return Decision.objects.filter(kind=kind, closed_at=None).exists()


def audited(action: str) -> list[tuple[str, str]]:
    return list(AuditEntry.objects.filter(action=action).values_list("actor", "reason"))


def again(lease: Lease) -> None:
    """The next try, without its pause."""
    Lease.objects.filter(pk=lease.pk).update(next_at=clock.system_now())
    advance_lease(lease_id=lease.pk)


@pytest.fixture
def failing(provider: FaultyProvider) -> Lease:
    """Paid, and the engine has refused to answer until staff were asked."""
    provider.fail("reserve", NO_ANSWER, times=99)
    lease = make_lease(make_lot(cards=2, nodes=(2, 2)))
    for _try in range(20):
        if is_asked("lease_failing"):
            break
        again(lease)
    return reload(lease)


def test_prepare_again_closes_the_question_and_a_new_failure_asks_anew(
    failing: Lease, provider: FaultyProvider
) -> None:
    decision = asked("lease_failing", failing)
    prepare_by_decision(decision=decision, actor="anna", reason="the switch is back")
    assert reload(failing).attempts == 0
    assert asked("lease_failing", failing).closed_by == "anna"
    with pytest.raises(Conflict, match="already_done"):
        prepare_by_decision(decision=decision, actor="ben", reason="me too")
    assert audited("lease.prepare_again") == [("anna", "the switch is back")]
    entry = AuditEntry.objects.get(action="decision.prepare_again")
    assert entry.before["facts"] == decision.facts
    for _try in range(20):
        again(failing)
    assert asked("lease_failing", failing).pk > decision.pk


def test_other_cards_move_the_lease_once(failing: Lease) -> None:
    decision = asked("lease_failing", failing)
    old = {card.serial for card in cards_of_hold(failing.hold_id)}
    other_cards_by_decision(decision=decision, actor="anna", reason="that node is odd")
    assert {card.serial for card in cards_of_hold(failing.hold_id)}.isdisjoint(old)
    with pytest.raises(Conflict, match="already_done"):
        other_cards_by_decision(decision=decision, actor="ben", reason="me too")
    assert audited("lease.take_other_cards") == [("anna", "that node is odd")]


def test_a_late_lease_stays_on_the_list_whatever_is_tried(failing: Lease) -> None:
    clock.skip(timedelta(hours=2, minutes=1))
    sweep_leases()
    decision = asked("lease_late", failing)
    other_cards_by_decision(decision=decision, actor="anna", reason="quick")
    assert asked("lease_late", failing).closed_at is None
    close_with_note(decision=decision, actor="ben", reason="I ring him up")
    with pytest.raises(Conflict, match="already_done"):
        other_cards_by_decision(decision=decision, actor="anna", reason="from an old page")


def test_a_delivery_that_failed_is_one_question_and_the_earlier_ones_are_closed(failing: Lease) -> None:
    clock.skip(timedelta(hours=2, minutes=1))
    sweep_leases()
    clock.skip(timedelta(hours=2, minutes=1))
    sweep_leases()
    assert reload(failing).status == LeaseStatus.FAILED
    decision = asked("lease_failed", failing)
    assert decision.closed_at is None
    assert decision.order_ref == failing.order_ref
    assert "no answer" in decision.facts["last_error"]
    assert not is_asked("lease_late")
    assert not is_asked("lease_failing")


def test_a_refund_that_somebody_chose_asks_nothing(failing: Lease) -> None:
    clock.skip(timedelta(hours=2, minutes=1))
    sweep_leases()
    give_up_late(order_ref=failing.order_ref, actor="buyer")
    assert not is_asked("lease_failed")
    assert not is_asked("lease_late")


def test_a_wipe_is_tried_again_at_once_and_the_cards_stay_off_sale_until_it_is_done(
    provider: FaultyProvider,
) -> None:
    """S10: what the next tenant could find is the reason why nobody may simply say that it is wiped."""
    lease = make_lease(make_lot(cards=2, nodes=(2,)))
    advance_lease(lease_id=lease.pk)
    provider.fail("wipe", NO_ANSWER, times=99)
    end_lease(lease_id=lease.pk, reason="early_end")
    for _try in range(20):
        again(lease)
    decision = asked("wipe_failed", lease)
    tear_down_by_decision(decision=decision, actor="anna", reason="power cycled")
    assert reload(lease).status == LeaseStatus.WIPING
    assert asked("wipe_failed", lease).closed_by == "anna"
    with pytest.raises(Conflict, match="already_done"):
        tear_down_by_decision(decision=decision, actor="ben", reason="me too")
    provider.before["wipe"].clear()
    advance_lease(lease_id=lease.pk)
    assert reload(lease).status == LeaseStatus.CLOSED
    with pytest.raises(Conflict, match="already_done"):
        tear_down_by_decision(decision=decision, actor="ben", reason="once more")
    assert audited("lease.tear_down") == [("anna", "power cycled")]


@pytest.fixture
def orphan() -> int:
    """A machine that no lease knows, and the question about it."""
    lease = make_lease(make_lot())
    advance_lease(lease_id=lease.pk)
    SimulatedMachine.objects.update(lease_id=lease.pk + 1000)
    reconcile_machines()
    return lease.pk + 1000


def about(machine: int) -> Decision:
    return Decision.objects.filter(kind="orphan_machine", subject=f"machine:{machine}").latest("id")


def test_an_orphan_is_taken_down_by_the_next_comparison_because_a_person_said_so(orphan: int) -> None:
    reconcile_machines()
    assert SimulatedProvider().living() == (orphan,)
    take_down_by_decision(decision=about(orphan), actor="anna", reason="left by a test")
    assert SimulatedProvider().living() == (orphan,)  # the web process talks to no machine
    reconcile_machines()
    assert SimulatedProvider().living() == ()
    assert audited("machine.take_down") == [("anna", "left by a test")]
    reconcile_machines()
    assert Decision.objects.filter(kind="orphan_machine").count() == 1


def test_an_orphan_that_does_not_go_is_asked_about_again(orphan: int, provider: FaultyProvider) -> None:
    provider.fail("end", NO_ANSWER)
    take_down_by_decision(decision=about(orphan), actor="anna", reason="left by a test")
    reconcile_machines()
    assert about(orphan).closed_at is None
    assert "no answer" in about(orphan).facts["last_error"]


def test_an_orphan_that_may_stay_is_asked_about_once_a_day(orphan: int) -> None:
    close_with_note(decision=about(orphan), actor="anna", reason="a trial of mine")
    reconcile_machines()
    assert not is_asked("orphan_machine")
    clock.skip(ASK_AGAIN_AFTER)
    reconcile_machines()
    assert is_asked("orphan_machine")
