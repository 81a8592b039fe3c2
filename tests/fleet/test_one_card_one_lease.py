"""S02: a card that serves a lease is given to no other, whatever a worker, a move or a bug believes."""

from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction
from django.db.backends.postgresql.psycopg_any import DateTimeTZRange

from core import clock
from core.errors import Conflict
from fleet.models import Lease, Reservation
from fleet.providers.base import ProviderRefused
from fleet.providers.simulated import SimulatedProvider
from fleet.services.prepare import lease_spec
from fleet.services.repair import move_degraded
from fleet.services.sweep import sweep_leases
from fleet.services.watch_health import watch_health
from tests.factories.fleet import make_hold, make_lease, make_lot
from tests.fleet.doubles import FaultyProvider
from tests.fleet.open_leases import drop_card, open_lease, serials
from tests.fleet.rows import reload
from tests.races import at_once, own_connections

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_login")]


def in_use() -> list[int]:
    return sorted(Reservation.objects.filter(status="committed").values_list("card_id", flat=True))


def test_s02_the_database_itself_refuses_the_second_row() -> None:
    lease = open_lease(nodes=(2,))
    other = make_hold(make_lot(cards=1, nodes=(1,)))
    row = Reservation.objects.filter(hold=lease.hold).first()
    assert row is not None
    for status in ("held", "committed"):
        with pytest.raises(IntegrityError, match="reservation_no_overlap"), transaction.atomic():
            Reservation.objects.create(
                card_id=row.card_id,
                hold=other,
                status=status,
                period=DateTimeTZRange(clock.now(), clock.now() + timedelta(hours=1), "[)"),
            )


def test_s02_a_worker_that_starts_anew_gives_the_next_order_other_cards(provider: FaultyProvider) -> None:
    """Nothing is remembered between steps: a fresh process reads the rows and finds the card taken."""
    first = open_lease(nodes=(2, 2))
    second = make_lease(first.hold.lot)
    sweep_leases()
    assert reload(second).status == "ready"
    assert set(serials(first)).isdisjoint(serials(second))
    with pytest.raises(Conflict, match="no_capacity"):
        make_hold(first.hold.lot)
    assert len(in_use()) == len(set(in_use())) == 4


def test_s02_the_engine_is_the_second_to_refuse() -> None:
    """Were our own rows wrong, the engine would not set a card apart that serves another lease."""
    first = open_lease(nodes=(2, 2))
    second = make_lease(first.hold.lot)
    spec = lease_spec(first)
    with pytest.raises(ProviderRefused, match="overlaps"):
        SimulatedProvider().reserve(type(spec)(**{**vars(spec), "lease_id": second.pk}))


@pytest.mark.django_db(transaction=True)
def test_s02_two_degraded_leases_that_move_at_once_never_share_a_card() -> None:
    """One whole lot is free: one moves, the other is told that nothing is."""
    first = open_lease(nodes=(2, 2, 2))
    second = make_lease(first.hold.lot)
    sweep_leases()
    leases = [first, reload(second)]
    for lease in leases:
        drop_card(lease)
    watch_health()
    with own_connections():
        results = at_once(2, lambda n: move_degraded(order_ref=leases[n].order_ref, actor="buyer"))
    assert sum(isinstance(result, Lease) for result in results) == 1
    assert [result.code for result in results if isinstance(result, Conflict)] == ["no_capacity"]
    assert len(in_use()) == len(set(in_use())) == 6


@pytest.mark.django_db(transaction=True)
def test_s02_a_move_and_a_booking_at_once_never_share_a_card() -> None:
    lease = open_lease(nodes=(2, 2))
    drop_card(lease)
    watch_health()
    lot = lease.hold.lot

    def act(number: int) -> object:
        return move_degraded(order_ref=lease.order_ref, actor="buyer") if number == 0 else make_hold(lot)

    with own_connections():
        results = at_once(4, act)
    refused = [result for result in results if isinstance(result, Conflict)]
    assert len(refused) == 3
    assert {refusal.code for refusal in refused} == {"no_capacity"}
    living = Reservation.objects.exclude(status="released").values_list("card_id", flat=True)
    assert len(living) == len(set(living)) == 4
