"""Holding, releasing and moving: what is covered, who may hold how much, and what is let go."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from django.db import transaction
from hypothesis import given
from hypothesis import strategies as st

from catalog.models import Lot
from core import clock
from core.client_address import network_prefix
from core.errors import Conflict, TooMany
from fleet.limits import HoldLimits
from fleet.models import Hold, Reservation
from fleet.periods import held_period
from fleet.placement import place
from fleet.selectors import free_lots
from fleet.services.hold import HoldRequest, hold
from fleet.services.move_release import move_release
from fleet.services.release import release
from fleet.services.sweep import release_overdue_holds
from tests.factories.fleet import TERM_SECONDS, hold_request, make_hold, make_lease, make_lot

TERM = timedelta(seconds=TERM_SECONDS)


def place_hold(request: HoldRequest) -> Hold:
    with transaction.atomic():
        return hold(request)


def period_of(row: Hold) -> tuple[datetime, datetime]:
    periods = {(r.period.lower, r.period.upper) for r in Reservation.objects.filter(hold=row)}
    assert len(periods) == 1
    return periods.pop()


# Pure ----------------------------------------------------------------------------------------------


def test_period_of_a_start_now_holds_slack_term_and_turnaround() -> None:
    placed = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)
    period = held_period(
        placed_at=placed, starts_at=None, release_at=placed + timedelta(hours=3), term_seconds=TERM_SECONDS
    )
    assert period.lower == placed
    assert period.upper == placed + timedelta(hours=3) + timedelta(hours=2) + TERM + timedelta(minutes=30)


def test_period_of_a_chosen_start_begins_half_an_hour_before_it() -> None:
    placed = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)
    starts = placed + timedelta(days=2)
    period = held_period(placed_at=placed, starts_at=starts, release_at=placed, term_seconds=TERM_SECONDS)
    assert period.lower == starts - timedelta(minutes=30)
    assert period.upper == starts + timedelta(hours=2) + TERM + timedelta(minutes=30)


FREE = st.dictionaries(
    st.integers(1, 6), st.lists(st.integers(1, 10_000), max_size=8, unique=True), max_size=6
).map(lambda nodes: {node: [node * 100_000 + card for card in cards] for node, cards in nodes.items()})


@given(FREE, st.integers(1, 8), st.integers(1, 6))
def test_every_lot_lies_on_one_node_and_all_or_nothing(
    free: Mapping[int, Sequence[int]], cards_per_lot: int, lots: int
) -> None:
    chosen = place(free=free, cards_per_lot=cards_per_lot, lots=lots)
    possible = sum(len(cards) // cards_per_lot for cards in free.values())
    assert (chosen is not None) == (possible >= lots)
    if chosen is None:
        return
    assert len(chosen) == len(set(chosen)) == cards_per_lot * lots
    for cards in free.values():
        assert len(set(chosen) & set(cards)) % cards_per_lot == 0


def test_place_keeps_large_lots_possible() -> None:
    assert place(free={1: [11, 12, 13, 14], 2: [21, 22]}, cards_per_lot=2, lots=1) == [21, 22]


@pytest.mark.parametrize(
    ("address", "prefix"),
    [
        ("203.0.113.77", "203.0.113.0/24"),
        ("2001:db8:1:2::3", "2001:db8:1::/48"),
        ("::ffff:203.0.113.9", "203.0.113.0/24"),
        ("not an address", "unknown"),
    ],
)
def test_network_prefix(address: str, prefix: str) -> None:
    assert network_prefix(address) == prefix


# On the database -----------------------------------------------------------------------------------


@pytest.fixture
def lot(db: None) -> Lot:
    return make_lot(cards=2, nodes=(4,))


def test_hold_needs_the_callers_transaction(transactional_db: None) -> None:
    with pytest.raises(RuntimeError, match="transaction"):
        hold(hold_request(make_lot()))


def test_all_or_nothing(lot: Lot) -> None:
    with pytest.raises(Conflict) as caught:
        place_hold(hold_request(lot, lots=3))
    assert caught.value.code == "no_capacity"
    assert not Hold.objects.exists()
    assert not Reservation.objects.exists()


def test_back_to_back_leases_share_a_card(lot: Lot) -> None:
    first = make_hold(lot, lots=2)
    begins = (period_of(first)[1] + timedelta(minutes=91)).replace(minute=0, second=0, microsecond=0)
    make_hold(lot, lots=2, starts_at=begins)
    with pytest.raises(Conflict):
        make_hold(lot, starts_at=begins + timedelta(hours=1))


def test_old_driver_is_no_candidate(lot: Lot) -> None:
    with pytest.raises(Conflict):
        place_hold(replace(hold_request(lot), driver_minimum="999.0"))
    place_hold(replace(hold_request(lot), driver_minimum="570.86"))


def test_limits_of_one_owner(lot: Lot) -> None:
    limits = HoldLimits(orders_per_owner=2, cards_per_owner=3, orders_per_prefix=None)
    place_hold(hold_request(lot, owner="anna", limits=limits))
    with pytest.raises(TooMany) as caught:
        place_hold(hold_request(lot, owner="anna", limits=limits))
    assert caught.value.code == "too_many_holds"
    place_hold(hold_request(lot, owner="boris", limits=limits))


def test_paid_and_released_holds_do_not_count(lot: Lot) -> None:
    limits = HoldLimits(orders_per_owner=1, cards_per_owner=99, orders_per_prefix=None)
    lease = make_lease(lot)
    Hold.objects.filter(pk=lease.hold_id).update(owner="anna")
    first = place_hold(hold_request(lot, owner="anna", limits=limits))
    with pytest.raises(TooMany):
        place_hold(hold_request(lot, owner="anna", limits=limits))
    with transaction.atomic():
        release(ref=first.ref)
    place_hold(hold_request(lot, owner="anna", limits=limits))


def test_prefix_takes_at_most_half_but_always_one(db: None) -> None:
    lot = make_lot(cards=1, nodes=(4,))
    limits = HoldLimits(orders_per_owner=9, cards_per_owner=99, orders_per_prefix=9)

    def from_prefix(prefix: str) -> Hold:
        return place_hold(replace(hold_request(lot, limits=limits), prefix=prefix))

    from_prefix("203.0.113.0/24")
    from_prefix("203.0.113.0/24")
    with pytest.raises(TooMany):
        from_prefix("203.0.113.0/24")
    from_prefix("198.51.100.0/24")
    # One is always possible, though it is all that is left.
    from_prefix("192.0.2.0/24")


def test_release_is_done_once_and_never_for_a_paid_hold(lot: Lot) -> None:
    held = make_hold(lot)
    with transaction.atomic():
        assert release(ref=held.ref)
        assert not release(ref=held.ref)
    lease = make_lease(lot)
    with transaction.atomic():
        assert not release(ref=lease.order_ref)
    assert Reservation.objects.filter(hold=lease.hold, status="committed").count() == 2


def test_sweep_lets_go_of_overdue_holds_only(lot: Lot) -> None:
    overdue, young = make_hold(lot), make_hold(lot)
    paid = make_lease(make_lot())
    Hold.objects.filter(pk=young.pk).update(release_at=clock.now() + timedelta(hours=9))
    clock.skip(timedelta(hours=3, seconds=1))
    assert release_overdue_holds() == 1
    assert release_overdue_holds() == 0
    overdue.refresh_from_db()
    young.refresh_from_db()
    assert overdue.released_at is not None
    assert young.released_at is None
    assert Reservation.objects.filter(hold=paid.hold, status="committed").count() == 2


def test_free_count_sees_through_overdue_holds_and_never_goes_negative(lot: Lot) -> None:
    make_hold(lot, lots=2)
    period = type(Reservation.objects.all()[0].period)
    assert free_lots(lot=lot, period=period(clock.now(), clock.now() + TERM)).lots == 0
    clock.skip(timedelta(hours=3, seconds=1))
    assert free_lots(lot=lot, period=period(clock.now(), clock.now() + TERM)).lots == 2


def test_move_release_takes_the_upper_bound_along(lot: Lot) -> None:
    held = make_hold(lot)
    lower, upper = period_of(held)
    until = held.release_at + timedelta(hours=5)
    with transaction.atomic():
        assert move_release(ref=held.ref, until=until) == until
        assert move_release(ref=held.ref, until=held.release_at) == until, "never back"
    assert period_of(held) == (lower, upper + timedelta(hours=5))
    with transaction.atomic():
        limit = move_release(ref=held.ref, until=until + timedelta(days=9))
    assert limit == held.expires_at + timedelta(hours=24)
    with transaction.atomic():
        assert move_release(ref="nothing", until=until) is None


def test_move_release_stops_at_a_follower_and_at_a_chosen_start(lot: Lot) -> None:
    held = make_hold(lot, lots=2)
    _lower, upper = period_of(held)
    begins = (upper + timedelta(hours=2)).replace(minute=0, second=0, microsecond=0)
    follower = make_hold(lot, lots=2, starts_at=begins)
    gap = period_of(follower)[0] - upper
    with transaction.atomic():
        moved = move_release(ref=held.ref, until=held.release_at + timedelta(hours=20))
        assert moved == held.release_at + gap
        start = move_release(ref=follower.ref, until=begins + timedelta(hours=1))
    assert start is not None
    assert start <= begins
    assert period_of(held)[1] == period_of(follower)[0]
