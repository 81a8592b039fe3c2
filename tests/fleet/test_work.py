"""From a paid hold to access, one step at a time, and what time does to it."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from core import clock
from core.models import Decision, Event
from fleet.models import AccessKey, Reservation, SimulatedMachine
from fleet.periods import turnaround
from fleet.providers.base import ProviderUnavailable
from fleet.selectors import access_of_order
from fleet.services.sweep import advance_lease, due_leases, sweep_leases
from fleet.services.work import work_lease
from tests.factories.fleet import TERM_SECONDS, make_hold, make_lease, make_lot
from tests.fleet.doubles import FaultyProvider
from tests.fleet.rows import events, reload

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_login")]
Wait = Callable[[float], None]
NO_ANSWER = ProviderUnavailable("no answer in time")


def test_one_claim_is_one_step(provider: FaultyProvider) -> None:
    lease = make_lease(make_lot())
    seen = []
    while work_lease(lease_id=lease.pk):
        seen.append(reload(lease).status)
    assert seen == ["preparing", "testing", "testing", "ready"]
    assert provider.calls == ["reserve", "prepare", "verify", "open_access", "members"]
    assert events(lease) == ["lease.reserved", "lease.preparing", "lease.testing", "lease.ready"]
    assert reload(lease).claim_token is None


def test_term_starts_when_access_opens(provider: FaultyProvider) -> None:
    lease = make_lease(make_lot())
    clock.skip(timedelta(minutes=20))
    advance_lease(lease_id=lease.pk)
    done = reload(lease)
    assert done.ready_at is not None
    assert done.ends_at == done.ready_at + timedelta(seconds=TERM_SECONDS)
    assert done.ready_at - done.reserved_at >= timedelta(minutes=20)
    uppers = {row.period.upper for row in Reservation.objects.filter(hold=lease.hold)}
    assert uppers == {done.ends_at + turnaround()}
    ready = Event.objects.get(name="lease.ready")
    assert ready.payload == {"ends_at": done.ends_at.isoformat()}


def test_access_is_shown_only_while_open(provider: FaultyProvider) -> None:
    lease = make_lease(make_lot())
    assert access_of_order(lease.order_ref) is None
    advance_lease(lease_id=lease.pk)
    access = access_of_order(lease.order_ref)
    assert access is not None
    assert access.user == lease.username
    assert len(access.cards) == 2
    assert access.key_fingerprints == (AccessKey.objects.get(lease=lease, purpose="buyer").fingerprint,)
    assert access.known_hosts_line.startswith(f"[{access.host}]:{access.port} ssh-ed25519 ")
    clock.skip(timedelta(seconds=TERM_SECONDS))
    assert access_of_order(lease.order_ref) is None
    assert access_of_order("no-such-order") is None


def test_members_at_the_provider_are_the_buyers_keys(provider: FaultyProvider) -> None:
    lease = make_lease(make_lot())
    advance_lease(lease_id=lease.pk)
    machine = SimulatedMachine.objects.get(lease_id=lease.pk)
    assert machine.members == [AccessKey.objects.get(lease=lease, purpose="buyer").fingerprint]


def test_chosen_start_is_prepared_half_an_hour_ahead_and_opens_at_the_start(provider: FaultyProvider) -> None:
    starts_at = clock.now() + timedelta(hours=5)
    lease = make_lease(make_lot(), starts_at=starts_at)
    sweep_leases()
    assert reload(lease).status == "reserved"
    assert due_leases() == []
    clock.skip(timedelta(hours=4, minutes=31))
    assert due_leases() == [lease.pk]
    sweep_leases()
    tested = reload(lease)
    assert tested.status == "testing"
    assert tested.test_report["passed"] is True
    assert due_leases() == []
    assert "lease.ready" not in events(lease)
    clock.skip(timedelta(minutes=30))
    sweep_leases()
    done = reload(lease)
    assert done.status == "ready"
    assert done.ready_at is not None
    assert done.ready_at >= starts_at
    assert done.ends_at == done.ready_at + timedelta(seconds=TERM_SECONDS)


def test_untested_lease_with_a_chosen_start_is_due(provider: FaultyProvider, wait: Wait) -> None:
    """The wait for the start holds for a passed test only."""
    provider.fail("verify", NO_ANSWER)
    lease = make_lease(make_lot(), starts_at=clock.now() + timedelta(hours=5))
    clock.skip(timedelta(hours=4, minutes=40))
    sweep_leases()
    assert reload(lease).status == "testing"
    wait(3)
    assert due_leases() == [lease.pk]


def test_prepared_only_when_the_lease_before_is_wiped(provider: FaultyProvider, wait: Wait) -> None:
    lot = make_lot(cards=2, nodes=(2,))
    first = make_lease(lot)
    advance_lease(lease_id=first.pk)
    ends_at = reload(first).ends_at
    assert ends_at is not None
    follower_start = (ends_at + timedelta(hours=2)).replace(minute=0, second=0, microsecond=0)
    second = make_lease(lot, starts_at=follower_start)
    provider.fail("wipe", NO_ANSWER, times=2)
    clock.skip(follower_start - clock.now())
    sweep_leases()
    assert reload(first).status == "wiping"
    assert reload(second).status == "reserved"
    assert (reload(second).attempts, reload(second).last_error) == (0, ""), "it waits, it does not fail"
    assert provider.calls.count("reserve") == 1
    assert provider.living() == (first.pk,)
    for _retry in range(2):
        wait(61)
        sweep_leases()
    sweep_leases()
    assert reload(first).status == "closed"
    assert reload(second).status == "ready"


def test_late_goes_on_and_the_term_is_whole(provider: FaultyProvider, wait: Wait) -> None:
    provider.fail("prepare", NO_ANSWER)
    lease = make_lease(make_lot())
    advance_lease(lease_id=lease.pk)
    wait(5)
    clock.skip(timedelta(hours=2, minutes=1))
    advance_lease(lease_id=lease.pk)
    done = reload(lease)
    assert done.status == "ready"
    assert done.late_at is not None
    assert done.late_at >= done.ready_by
    assert done.ends_at is not None
    assert done.ready_at is not None
    assert done.ends_at - done.ready_at == timedelta(seconds=TERM_SECONDS)
    assert events(lease).count("lease.late") == 1
    assert Decision.objects.get(kind="lease_late").closed_at is not None


def test_too_late_fails_and_gives_the_cards_back_after_the_wipe(provider: FaultyProvider, wait: Wait) -> None:
    lease = make_lease(make_lot())
    work_lease(lease_id=lease.pk)
    provider.fail("prepare", NO_ANSWER, times=100)
    provider.fail("wipe", NO_ANSWER)
    clock.skip(timedelta(hours=2, minutes=1))
    sweep_leases()
    assert reload(lease).late_at is not None
    assert Decision.objects.get(kind="lease_late").facts["until"]
    clock.skip(timedelta(hours=2))
    wait(61)
    sweep_leases()
    failed = reload(lease)
    assert (failed.status, failed.end_reason, failed.wiped_at) == ("failed", "late", None)
    assert Reservation.objects.filter(hold=lease.hold, status="committed").count() == 2
    wait(61)
    sweep_leases()
    assert reload(lease).wiped_at is not None
    assert provider.living() == ()
    assert {r.status for r in Reservation.objects.filter(hold=lease.hold)} == {"released"}
    assert events(lease)[-2:] == ["lease.late", "lease.failed"]
    sweep_leases()
    assert events(lease).count("lease.failed") == 1


def test_grace_stops_where_a_follower_stands(provider: FaultyProvider) -> None:
    """Whole hours of a follower: the last moment at which a whole term still fits is kept, not the two hours."""
    lot = make_lot(cards=2, nodes=(2,))
    lease = make_lease(lot)
    row = Reservation.objects.filter(hold=lease.hold).first()
    assert row is not None
    begins = (row.period.upper + timedelta(hours=1, minutes=31)).replace(minute=0, second=0, microsecond=0)
    make_hold(lot, starts_at=begins + timedelta(hours=1))
    lower = begins + timedelta(minutes=30)
    provider.fail("reserve", NO_ANSWER, times=100)
    clock.skip(lease.ready_by - clock.now())
    sweep_leases()
    late = Event.objects.get(name="lease.late")
    latest = min(lower - timedelta(seconds=TERM_SECONDS) - turnaround(), lease.ready_by + timedelta(hours=2))
    assert late.payload["until"] == latest.isoformat()


def test_late_success_of_a_failed_lease_is_undone(provider: FaultyProvider) -> None:
    """S05, added: the lease's time passes while the provider still works."""
    lease = make_lease(make_lot())

    def hours_pass() -> None:
        clock.skip(timedelta(hours=9))
        sweep_leases()

    provider.after["reserve"].append(hours_pass)
    work_lease(lease_id=lease.pk)
    assert reload(lease).status == "failed"
    assert provider.living() == ()
    sweep_leases()
    assert reload(lease).wiped_at is not None
    assert "lease.ready" not in events(lease)


def test_grace_moves_the_upper_bound_where_nobody_follows(provider: FaultyProvider, wait: Wait) -> None:
    """A chosen start reserves no slack beyond ready-by: the grace takes two hours more from the calendar."""
    starts_at = clock.now() + timedelta(hours=5)
    lease = make_lease(make_lot(), starts_at=starts_at)
    provider.fail("reserve", NO_ANSWER, times=2)
    clock.skip(timedelta(hours=7, minutes=1))
    sweep_leases()
    assert reload(lease).late_at is not None
    assert reload(lease).status == "reserved"
    promised = lease.ready_by + timedelta(hours=2)
    uppers = {row.period.upper for row in Reservation.objects.filter(hold=lease.hold)}
    assert uppers == {promised + timedelta(seconds=TERM_SECONDS) + turnaround()}
    clock.skip(timedelta(hours=1, minutes=50))
    wait(61)
    sweep_leases()
    wait(61)
    sweep_leases()
    done = reload(lease)
    assert done.status == "ready"
    assert done.ready_at is not None
    assert done.ends_at == done.ready_at + timedelta(seconds=TERM_SECONDS)


def test_access_is_not_opened_for_less_than_a_whole_term(provider: FaultyProvider) -> None:
    """The provider opens after the last moment at which a term still fits: late is late, and the machine goes."""
    lease = make_lease(make_lot())

    def hours_pass() -> None:
        clock.skip(timedelta(hours=9))

    provider.after["open_access"].append(hours_pass)
    sweep_leases()
    failed = reload(lease)
    assert (failed.status, failed.end_reason, failed.ready_at) == ("failed", "late", None)
    assert "lease.ready" not in events(lease)
    sweep_leases()
    assert reload(lease).wiped_at is not None
    assert provider.living() == ()
