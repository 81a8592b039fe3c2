"""The end of a lease: at its term, early, cancelled half way, suspended; and what the provider must confirm."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from core import clock
from core.errors import Conflict
from core.models import AuditEntry, Decision, Event
from fleet.models import Lease, Reservation
from fleet.providers.base import ProviderUnavailable, UnknownLease
from fleet.selectors import access_of_order, free_lots
from fleet.services.end import end_lease
from fleet.services.suspend import resume, suspend
from fleet.services.sweep import advance_lease, reconcile_machines, sweep_leases
from fleet.services.work import CLAIM_SECONDS, work_lease
from tests.factories.fleet import TERM_SECONDS, make_lease, make_lot
from tests.fleet.doubles import FaultyProvider
from tests.fleet.rows import events, reload

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_login")]
Wait = Callable[[float], None]
NO_ANSWER = ProviderUnavailable("no answer in time")


@pytest.fixture
def lease(provider: FaultyProvider) -> Lease:
    """An open lease on the whole fleet."""
    row = make_lease(make_lot(cards=2, nodes=(2,)))
    advance_lease(lease_id=row.pk)
    return reload(row)


def _free(lease: Lease) -> int:
    period = type(Reservation.objects.filter(hold=lease.hold)[0].period)
    return free_lots(lot=lease.hold.lot, period=period(clock.now(), clock.now() + timedelta(days=3))).lots


def test_end_of_term_closes_wipes_and_sells_again(lease: Lease) -> None:
    clock.skip(timedelta(seconds=TERM_SECONDS - 1800))
    sweep_leases()
    assert reload(lease).status == "ready"
    assert _free(lease) == 0
    clock.skip(timedelta(minutes=31))
    sweep_leases()
    done = reload(lease)
    assert (done.status, done.end_reason) == ("closed", "term_over")
    assert done.wiped_at is not None
    assert done.wipe_record["method"] == "simulated"
    assert len(done.wipe_record["cards"]) == 2
    assert _free(lease) == 1
    rows = Reservation.objects.filter(hold=lease.hold)
    assert {row.status for row in rows} == {"released"}
    assert all(row.period.upper <= clock.now() for row in rows)
    assert events(lease)[-4:] == ["lease.export_window", "lease.ending", "lease.wiping", "lease.closed"]


def test_export_window_is_told_once_a_day_ahead(lease: Lease) -> None:
    clock.skip(timedelta(seconds=TERM_SECONDS) - timedelta(hours=25))
    sweep_leases()
    assert "lease.export_window" not in events(lease)
    clock.skip(timedelta(hours=1, minutes=1))
    for _time in range(3):
        sweep_leases()
    assert events(lease).count("lease.export_window") == 1


@pytest.mark.parametrize(
    ("verb", "state", "kind"), [("end", "ending", "end_failing"), ("wipe", "wiping", "wipe_failed")]
)
@pytest.mark.parametrize("after_effect", [False, True])
def test_never_closed_before_the_provider_has_confirmed(
    lease: Lease,
    provider: FaultyProvider,
    wait: Wait,
    verb: str,
    state: str,
    kind: str,
    after_effect: bool,
) -> None:
    """S06."""
    provider.fail(verb, NO_ANSWER, times=6, after_effect=after_effect)
    end_lease(lease_id=lease.pk, reason="early_end")
    assert access_of_order(lease.order_ref) is None
    for attempt in range(1, 7):
        advance_lease(lease_id=lease.pk)
        assert reload(lease).status == state
        assert reload(lease).attempts == attempt
        assert _free(lease) == 0
        assert Decision.objects.filter(kind=kind).exists() == (attempt >= 5)
        wait(61)
    advance_lease(lease_id=lease.pk)
    assert reload(lease).status == "closed"
    assert _free(lease) == 1
    assert events(lease).count("lease.closed") == 1
    assert Decision.objects.get(kind=kind).closed_at is not None


def test_not_found_counts_as_confirmed(lease: Lease, provider: FaultyProvider) -> None:
    provider.fail("end", UnknownLease("gone"), times=2)
    end_lease(lease_id=lease.pk, reason="early_end")
    advance_lease(lease_id=lease.pk)
    assert reload(lease).status == "closed"


@pytest.mark.parametrize("verb", ["reserve", "prepare", "verify", "open_access"])
def test_cancelled_while_the_provider_works(provider: FaultyProvider, verb: str) -> None:
    """S05: staff cancel in the middle of a step and the provider then reports success."""
    lease = make_lease(make_lot(cards=2, nodes=(2,)))

    def cancel() -> None:
        end_lease(lease_id=lease.pk, reason="cancelled", actor="anna")

    provider.before[verb].append(cancel)
    advance_lease(lease_id=lease.pk)
    assert reload(lease).status in {"ending", "wiping", "closed"}
    sweep_leases()
    done = reload(lease)
    assert (done.status, done.end_reason, done.ends_at) == ("closed", "cancelled", None)
    assert provider.living() == ()
    assert access_of_order(lease.order_ref) is None
    assert "lease.ready" not in events(lease)
    assert events(lease)[-3:] == ["lease.ending", "lease.wiping", "lease.closed"]
    assert _free(lease) == 1
    assert AuditEntry.objects.get(action="lease.end").actor == "anna"


def test_success_that_comes_after_the_close_is_undone(provider: FaultyProvider, wait: Wait) -> None:
    """S05: the cancelling ran to its end while the provider's call was still under way."""
    lease = make_lease(make_lot(cards=2, nodes=(2,)))

    def cancel_and_close() -> None:
        end_lease(lease_id=lease.pk, reason="cancelled")
        wait(CLAIM_SECONDS + 1)
        sweep_leases()
        assert reload(lease).status == "closed"

    provider.before["reserve"].append(cancel_and_close)
    assert work_lease(lease_id=lease.pk) is False
    assert reload(lease).status == "closed"
    assert provider.living() == ()
    assert events(lease).count("lease.closed") == 1
    assert _free(lease) == 1


def test_machine_left_by_a_worker_killed_after_the_close_is_found(
    provider: FaultyProvider, wait: Wait
) -> None:
    """S05 with S08: the worker dies before it can undo; the comparison with the engine finds the machine."""
    lease = make_lease(make_lot(cards=2, nodes=(2,)))

    class Killed(BaseException):
        pass

    def cancel_and_close() -> None:
        end_lease(lease_id=lease.pk, reason="cancelled")
        wait(CLAIM_SECONDS + 1)
        sweep_leases()

    def die() -> None:
        raise Killed

    provider.before["reserve"].append(cancel_and_close)
    provider.after["reserve"].append(die)
    with pytest.raises(Killed):
        work_lease(lease_id=lease.pk)
    assert provider.living() == (lease.pk,)
    reconcile_machines()
    assert provider.living() == ()
    assert not Decision.objects.filter(kind="orphan_machine").exists()


def test_machine_that_no_lease_knows_is_reported_and_left(lease: Lease, provider: FaultyProvider) -> None:
    """S08: our tag on a machine that nobody ordered."""
    machine = provider.inner
    observed = machine.observe(lease.pk)
    assert observed is not None
    Reservation.objects.filter(hold=lease.hold).delete()
    lease.keys.all().delete()
    Lease.objects.filter(pk=lease.pk).delete()
    for _time in range(2):
        reconcile_machines()
    assert Decision.objects.get(kind="orphan_machine").facts == {"lease": lease.pk}
    assert provider.living() == (lease.pk,)
    machine.end(lease.pk)
    machine.wipe(lease.pk)
    reconcile_machines()
    assert Decision.objects.get(kind="orphan_machine").closed_at is not None


def test_ended_twice_gives_stock_back_once(lease: Lease) -> None:
    """S49."""
    end_lease(lease_id=lease.pk, reason="early_end", actor="anna")
    with pytest.raises(Conflict) as refused:
        end_lease(lease_id=lease.pk, reason="early_end", actor="boris")
    assert refused.value.code == "already_done"
    advance_lease(lease_id=lease.pk)
    with pytest.raises(Conflict):
        end_lease(lease_id=lease.pk, reason="again", actor="boris")
    assert _free(lease) == 1
    assert AuditEntry.objects.filter(action="lease.end").count() == 1
    assert events(lease).count("lease.ending") == 1


def test_suspended_closes_access_and_keeps_the_cards(lease: Lease) -> None:
    assert suspend(order_ref=lease.order_ref)
    assert not suspend(order_ref=lease.order_ref)
    assert access_of_order(lease.order_ref) is None
    assert _free(lease) == 0
    clock.skip(timedelta(hours=23))
    sweep_leases()
    assert resume(order_ref=lease.order_ref)
    assert not resume(order_ref=lease.order_ref)
    again = reload(lease)
    assert again.status == "ready"
    assert (again.ready_at, again.ends_at) == (lease.ready_at, lease.ends_at), "the clock ran on"
    assert access_of_order(lease.order_ref) is not None
    assert events(lease)[-2:] == ["lease.suspended", "lease.resumed"]


def test_suspended_too_long_ends_as_reversed(lease: Lease) -> None:
    suspend(order_ref=lease.order_ref)
    clock.skip(timedelta(hours=24, seconds=1))
    sweep_leases()
    assert (reload(lease).status, reload(lease).end_reason) == ("closed", "reversed")
    assert Event.objects.get(name="lease.ending").payload == {"reason": "reversed"}
    assert not resume(order_ref=lease.order_ref)


def test_term_runs_out_during_a_suspension(lease: Lease) -> None:
    clock.skip(timedelta(seconds=TERM_SECONDS) - timedelta(hours=1))
    suspend(order_ref=lease.order_ref)
    clock.skip(timedelta(hours=1))
    sweep_leases()
    assert (reload(lease).status, reload(lease).end_reason) == ("closed", "reversed")


def test_suspended_before_access_is_prepared_anew(provider: FaultyProvider) -> None:
    lease = make_lease(make_lot())
    for _step in range(3):
        work_lease(lease_id=lease.pk)
    assert reload(lease).test_report["passed"]
    suspend(order_ref=lease.order_ref)
    clock.skip(timedelta(hours=3))
    sweep_leases()
    assert reload(lease).status == "suspended"
    resume(order_ref=lease.order_ref)
    back = reload(lease)
    assert (back.status, back.test_report) == ("reserved", {})
    assert back.ready_by > clock.now()
    advance_lease(lease_id=lease.pk)
    assert reload(lease).status == "ready"
    assert "lease.late" not in events(lease)
    assert provider.living() == (lease.pk,)


def test_suspend_of_an_order_without_lease_does_nothing(provider: FaultyProvider) -> None:
    assert not suspend(order_ref="nothing")
    assert not resume(order_ref="nothing")
