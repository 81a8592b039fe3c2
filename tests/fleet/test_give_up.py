"""Late delivery: the buyer's and the staff's refund, and what it may not undo. Early end, and what refuses it."""

from datetime import timedelta

import pytest

from core import clock, decisions
from core.errors import Conflict, NotFound
from core.models import AuditEntry, Decision
from core.services.close import close_with_note
from fleet.models import Lease, Reservation
from fleet.providers.base import ProviderUnavailable
from fleet.selectors import access_of_order
from fleet.services.end_early import end_early
from fleet.services.give_up import give_up_late, refund_now
from fleet.services.suspend import suspend
from fleet.services.sweep import advance_lease, sweep_leases
from tests.factories.fleet import make_lease, make_lot
from tests.fleet.doubles import FaultyProvider
from tests.fleet.rows import events, reload

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_login")]


@pytest.fixture
def waiting(provider: FaultyProvider) -> Lease:
    """Paid, and the engine does not answer."""
    provider.fail("reserve", ProviderUnavailable("no answer"), times=99)
    row = make_lease(make_lot(cards=2, nodes=(2,)))
    advance_lease(lease_id=row.pk)
    return reload(row)


@pytest.fixture
def late(waiting: Lease) -> Lease:
    clock.skip(timedelta(hours=2, minutes=1))
    sweep_leases()
    row = reload(waiting)
    assert row.late_at is not None
    return row


@pytest.fixture
def open_lease(provider: FaultyProvider) -> Lease:
    row = make_lease(make_lot(cards=2, nodes=(2,)))
    advance_lease(lease_id=row.pk)
    return reload(row)


def give_up_refused(lease: Lease) -> str:
    with pytest.raises(Conflict) as refused:
        give_up_late(order_ref=lease.order_ref, actor="buyer")
    return refused.value.code


def end_refused(lease: Lease) -> str:
    with pytest.raises(Conflict) as refused:
        end_early(order_ref=lease.order_ref, actor="buyer")
    return refused.value.code


def decision_of(lease: Lease) -> Decision:
    return Decision.objects.get(kind="lease_late", subject=f"lease:{lease.pk}")


def test_a_late_lease_is_given_up_once_and_its_cards_come_back(late: Lease) -> None:
    assert give_up_late(order_ref=late.order_ref, actor="buyer").end_reason == "given_up"
    assert give_up_refused(late) == "already_done"
    sweep_leases()
    done = reload(late)
    assert (done.status, done.end_reason) == ("failed", "given_up")
    assert done.wiped_at is not None
    assert not Reservation.objects.exclude(status="released").exists()
    assert events(late).count("lease.failed") == 1
    assert decision_of(late).closed_at is not None
    assert not AuditEntry.objects.filter(action="lease.give_up_late").exists()


def test_not_before_it_is_late(waiting: Lease) -> None:
    assert give_up_refused(waiting) == "not_late"
    assert reload(waiting).status == "reserved"


def test_not_once_access_has_opened_late(late: Lease, provider: FaultyProvider) -> None:
    provider.before["reserve"].clear()
    Lease.objects.filter(pk=late.pk).update(next_at=clock.system_now())
    advance_lease(lease_id=late.pk)
    assert reload(late).status == "ready"
    assert give_up_refused(late) == "already_started"


@pytest.mark.parametrize("status", ["suspended", "ending", "closed"])
def test_not_in_another_state(late: Lease, status: str) -> None:
    Lease.objects.filter(pk=late.pk).update(status=status)
    assert give_up_refused(late) == "lease_over"


def test_staff_refund_at_once_or_let_it_go_on(late: Lease) -> None:
    decision = decision_of(late)
    refund_now(decision=decision, actor="ops", reason="asked by phone")
    decision.refresh_from_db()
    assert (decision.action, decision.closed_by) == ("refund_now", "ops")
    assert reload(late).status == "failed"
    assert AuditEntry.objects.filter(action="lease.give_up_late", actor="ops").count() == 1
    with pytest.raises(Conflict) as refused:
        refund_now(decision=decision, actor="ops", reason="again")
    assert refused.value.code == "already_done"


def test_staff_who_let_it_go_on_leave_the_lease_alone(late: Lease) -> None:
    decision = decision_of(late)
    close_with_note(decision=decision, actor="ops", reason="the engine is back in a minute")
    assert reload(late).status == "reserved"
    with pytest.raises(Conflict) as refused:
        refund_now(decision=decision, actor="ops", reason="too late")
    assert refused.value.code == "already_done"
    assert reload(late).status == "reserved"
    assert not decisions.is_open(kind="lease_late", subject=f"lease:{late.pk}")


def test_an_early_end_closes_access_at_once_and_is_told_once(open_lease: Lease) -> None:
    clock.skip(timedelta(days=1))
    row = end_early(order_ref=open_lease.order_ref, actor="buyer")
    assert (row.status, row.end_reason) == ("ending", "early_end")
    assert row.ending_at is not None
    assert access_of_order(open_lease.order_ref) is None
    assert end_refused(open_lease) == "already_done"
    sweep_leases()
    assert reload(open_lease).status == "closed"
    assert end_refused(open_lease) == "already_done"
    assert events(open_lease).count("lease.ending") == 1


def test_a_degraded_lease_can_be_ended_early_and_staff_are_on_record(open_lease: Lease) -> None:
    Lease.objects.filter(pk=open_lease.pk).update(status="degraded")
    end_early(order_ref=open_lease.order_ref, actor="ops")
    assert AuditEntry.objects.filter(action="lease.end_early", actor="ops").count() == 1


def test_what_refuses_an_early_end(waiting: Lease) -> None:
    assert end_refused(waiting) == "not_ready"
    with pytest.raises(NotFound):
        end_early(order_ref="ord_none", actor="buyer")


def test_no_early_end_of_a_suspended_or_finished_lease(open_lease: Lease) -> None:
    suspend(order_ref=open_lease.order_ref)
    assert end_refused(open_lease) == "lease_suspended"
    Lease.objects.filter(pk=open_lease.pk).update(status="ready")
    clock.skip(timedelta(days=3))
    assert end_refused(open_lease) == "lease_over"
    sweep_leases()
    assert end_refused(open_lease) == "lease_over"
