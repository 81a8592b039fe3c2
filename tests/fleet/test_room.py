"""How much time a lease finds behind it when its delivery takes longer: all that nobody else wants, never more."""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from django.db import transaction
from django.db.backends.postgresql.psycopg_any import DateTimeTZRange

from core import clock
from core.models import Event
from fleet.models import Card, Lease, Reservation
from fleet.periods import turnaround
from fleet.providers.base import ProviderUnavailable
from fleet.services.commit import LeaseRequest, commit
from fleet.services.maintenance_window import add_window
from fleet.services.suspend import resume, suspend
from fleet.services.sweep import sweep_leases
from tests.factories.fleet import TERM_SECONDS, make_hold, make_lease, make_lot, new_key
from tests.fleet.doubles import FaultyProvider
from tests.fleet.rows import events, reload

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_login")]
NO_ANSWER = ProviderUnavailable("no answer in time")
TERM = timedelta(seconds=TERM_SECONDS)
HOUR = timedelta(hours=1)


def uppers(lease: Lease) -> set[datetime]:
    return {row.period.upper for row in Reservation.objects.filter(hold=lease.hold)}


def late(provider: FaultyProvider, behind: Callable[[Lease, datetime], object]) -> Lease:
    """A chosen start that is not delivered, with something behind it; it has just become late."""
    lot = make_lot(cards=2, nodes=(2,))
    starts_at = (clock.now() + timedelta(hours=6)).replace(minute=0, second=0, microsecond=0)
    lease = make_lease(lot, starts_at=starts_at)
    (upper,) = uppers(lease)
    behind(lease, upper)
    provider.fail("reserve", NO_ANSWER, times=100)
    clock.skip(lease.ready_by - clock.now())
    sweep_leases()
    assert reload(lease).late_at is not None
    return reload(lease)


def test_the_grace_stops_at_a_maintenance_window(provider: FaultyProvider) -> None:
    def window(lease: Lease, upper: datetime) -> None:
        node = Card.objects.filter(reservations__hold=lease.hold).first().node  # type: ignore[union-attr]
        add_window(
            node_id=node.pk,
            from_at=upper + timedelta(minutes=20),
            to_at=upper + 9 * HOUR,
            actor="ada",
            reason="fans",
        )

    lease = late(provider, window)
    (upper,) = uppers(lease)
    assert upper == lease.ready_by + TERM + turnaround() + timedelta(minutes=20)
    told = Event.objects.get(name="lease.late").payload["until"]
    assert told == (lease.ready_by + timedelta(minutes=20)).isoformat()


def test_a_hold_that_is_overdue_takes_nothing_of_the_grace(provider: FaultyProvider) -> None:
    """A booking would let it go as well; somebody who has paid comes before somebody who did not."""

    def unpaid(lease: Lease, upper: datetime) -> None:
        row = make_hold(lease.hold.lot, starts_at=upper + HOUR)
        assert row.release_at < lease.ready_by

    lease = late(provider, unpaid)
    assert uppers(lease) == {lease.ready_by + 2 * HOUR + TERM + turnaround()}
    assert not Reservation.objects.filter(status="held").exists()


@pytest.mark.parametrize("hours", [3, 6, 23])
def test_money_that_returns_before_access_finds_a_whole_term(provider: FaultyProvider, hours: int) -> None:
    """The pause took all of the hold's slack: the promise begins anew, with the time that it needs."""
    lease = make_lease(make_lot())
    suspend(order_ref=lease.order_ref)
    clock.skip(hours * HOUR)
    resume(order_ref=lease.order_ref)
    kept = reload(lease).ready_by + TERM + turnaround()
    assert min(uppers(lease)) >= kept, "nobody can book what was promised again"
    clock.skip(HOUR)
    sweep_leases()
    done = reload(lease)
    assert (done.status, done.late_at) == ("ready", None)
    assert done.ready_at is not None
    assert done.ends_at == done.ready_at + TERM
    assert uppers(lease) == {done.ends_at + turnaround()}


def test_money_that_returns_where_somebody_follows_is_no_short_term(provider: FaultyProvider) -> None:
    """What cannot be delivered whole is not delivered: the order fails and everything is due back."""
    lot = make_lot(cards=2, nodes=(2,))
    lease = make_lease(lot)
    (upper,) = uppers(lease)
    suspend(order_ref=lease.order_ref)
    starts_at = (upper + 2 * HOUR).replace(minute=0, second=0, microsecond=0)
    make_lease(lot, starts_at=starts_at)
    clock.skip(10 * HOUR)
    resume(order_ref=lease.order_ref)
    assert max(uppers(lease)) <= starts_at - timedelta(minutes=30)
    sweep_leases()
    row = reload(lease)
    assert (row.status, row.end_reason) == ("failed", "late")
    assert "lease.ready" not in events(lease)


def test_a_payment_that_is_found_after_a_chosen_start_has_its_two_hours(provider: FaultyProvider) -> None:
    """Ready-by counts from settled; the hold was made when nobody knew that it would be so late."""
    starts_at = (clock.now() + timedelta(hours=6)).replace(minute=0, second=0, microsecond=0)
    held = make_hold(make_lot(), starts_at=starts_at)
    settled_at = starts_at + timedelta(minutes=100)
    clock.skip(settled_at - clock.now())
    with transaction.atomic():
        request = LeaseRequest(
            ref=held.ref, image="pytorch", image_facts={}, keys=[new_key()[1]], settled_at=settled_at
        )
        lease = commit(request)
    assert lease is not None
    assert lease.ready_by == settled_at + 2 * HOUR
    clock.skip(timedelta(minutes=50))
    assert clock.now() > starts_at + 2 * HOUR
    sweep_leases()
    done = reload(lease)
    assert done.status == "ready"
    assert done.ready_at is not None
    assert done.ends_at == done.ready_at + TERM
    period = DateTimeTZRange(done.ends_at, done.ends_at + turnaround(), "[)")
    assert Reservation.objects.filter(hold=held, period__contains=period).count() == 2
