"""Every pair of states of leases and reservations."""

from datetime import timedelta
from itertools import product

import pytest
from django.db import IntegrityError, transaction

from core import clock
from core.lifecycle import IllegalStep
from core.locks import mark
from core.models import Event
from fleet import locks
from fleet.lifecycle import (
    LEASE,
    RESERVATION_ALLOWED,
    LeaseStatus,
    ReservationStatus,
    advance_reservations,
)
from fleet.models import Lease, Reservation
from tests.factories.fleet import make_hold, make_lease, make_lot

pytestmark = pytest.mark.django_db
OTHER_NAMES = {
    ("degraded", "ready"): "lease.repaired",
    ("suspended", "ready"): "lease.resumed",
    ("suspended", "reserved"): "lease.resumed",
}


def _lease_in(state: str) -> Lease:
    lease = make_lease(make_lot())
    moment = clock.now()
    Lease.objects.filter(pk=lease.pk).update(
        status=state, ready_at=moment, ends_at=moment + timedelta(days=3)
    )
    return lease


@pytest.mark.parametrize("origin", LeaseStatus.values)
def test_lease_pairs(origin: str) -> None:
    lease = _lease_in(origin)
    walked = set()
    for to in LeaseStatus.values:
        with transaction.atomic():
            _walk(locks.lease_for_update(lease.pk), origin, to)
            walked.add(to)
            transaction.set_rollback(True)
    assert walked == set(LeaseStatus.values)


def _walk(row: Lease, origin: str, to: str) -> None:
    before = Event.objects.count()
    if to in LEASE.allowed[origin]:
        LEASE.advance(row, to, order_ref=row.order_ref)
        names = list(Event.objects.order_by("pk").values_list("name", flat=True))[before:]
        assert names == [OTHER_NAMES.get((origin, to), f"lease.{to}")]
        assert Lease.objects.get(pk=row.pk).status == to
    else:
        with pytest.raises(IllegalStep):
            LEASE.advance(row, to, order_ref=row.order_ref)
        assert Event.objects.count() == before
        assert Lease.objects.get(pk=row.pk).status == origin


@pytest.mark.parametrize(("origin", "to"), list(product(ReservationStatus.values, repeat=2)))
def test_reservation_pair(origin: str, to: str) -> None:
    hold = make_hold(make_lot(cards=1, nodes=(1,)))
    Reservation.objects.filter(hold=hold).update(status=origin)
    with transaction.atomic():
        row = mark(Reservation.objects.select_for_update().get(hold=hold))
        if to in RESERVATION_ALLOWED[origin]:
            advance_reservations([row], to)
            assert Reservation.objects.get(hold=hold).status == to
        else:
            with pytest.raises(IllegalStep):
                advance_reservations([row], to)
            assert Reservation.objects.get(hold=hold).status == origin
    assert not Event.objects.filter(name__startswith="reservation").exists()


def test_status_changes_only_on_a_locked_row() -> None:
    lease = make_lease(make_lot())
    unlocked = Lease.objects.get(pk=lease.pk)
    with pytest.raises(RuntimeError, match="locked"):
        LEASE.advance(unlocked, "preparing", order_ref="x")
    row = Reservation.objects.filter(hold=lease.hold)[0]
    with pytest.raises(RuntimeError, match="locked"):
        advance_reservations([row], "released")


def test_database_refuses_what_the_table_could_not_make() -> None:
    lease = make_lease(make_lot())
    with pytest.raises(IntegrityError), transaction.atomic():
        Lease.objects.filter(pk=lease.pk).update(status="unheard-of")
    with pytest.raises(IntegrityError), transaction.atomic():
        Lease.objects.filter(pk=lease.pk).update(status="ready")
