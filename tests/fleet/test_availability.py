"""The calendar promises exactly what a booking at that moment would get."""

import random
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta

import pytest
import time_machine
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from catalog.models import Lot
from core import clock
from core.errors import Conflict, Invalid
from fleet.availability import HORIZON_DAYS, Availability, availability
from fleet.models import Card, Hold, MaintenanceWindow, Node, Reservation
from fleet.services.commit import LeaseRequest, commit
from fleet.services.hold import hold
from fleet.services.maintenance_window import add_window, cancel_window
from tests.factories.fleet import hold_request, make_hold, make_lease, make_lot

NOW = datetime(2027, 3, 1, 9, 20, tzinfo=UTC)
TERM_DAYS = 3


@pytest.fixture
def lot(db: None) -> Iterator[Lot]:
    with time_machine.travel(NOW, tick=False):
        yield make_lot(cards=2, nodes=(4, 5))


def look(lot: Lot, *, lots: int = 1, days: int = 9) -> Availability:
    today = clock.now().date()
    return availability(
        lot=lot, lots=lots, term_days=TERM_DAYS, from_day=today, to_day=today + timedelta(days=days)
    )


def free_on(lot: Lot, day: date) -> int:
    return next(row.free_lots for row in look(lot).days if row.day == day)


def bookable(lot: Lot, starts_at: datetime | None) -> int:
    """How many lots a booking really gets, one after the other; nothing stays."""
    count, refused = 0, ""
    with transaction.atomic():
        while count < 10:
            try:
                with transaction.atomic():
                    hold(hold_request(lot, starts_at=starts_at))
            except Conflict as refusal:
                refused = refusal.code
                break
            count += 1
        transaction.set_rollback(True)
    assert refused == "no_capacity"
    return count


@pytest.mark.parametrize("seed", range(4))
def test_the_calendar_equals_what_can_be_booked(lot: Lot, seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(chance.randint(2, 6)):
        start = NOW.replace(minute=0) + timedelta(hours=chance.randint(6, 150))
        with transaction.atomic():
            try:
                hold(hold_request(lot, starts_at=chance.choice([start, start, None])))
            except Conflict:
                continue
    node = chance.choice(list(Node.objects.all()))
    MaintenanceWindow.objects.create(
        node=node,
        period=(NOW + timedelta(days=5, hours=chance.randint(0, 30)), NOW + timedelta(days=7)),
        reason="test",
        made_by="test",
        made_at=NOW,
    )
    found = look(lot)
    lead = NOW + timedelta(hours=5)
    for row in found.days[:6:2]:
        midnight = datetime.combine(row.day, datetime.min.time(), tzinfo=UTC)
        hours = [midnight + timedelta(hours=number) for number in range(24)]
        counts = [bookable(lot, hour) for hour in hours if hour >= lead]
        if row.day == NOW.date():
            counts.append(bookable(lot, None))
        assert row.free_lots == max(counts), row.day
    if found.earliest_start is not None:
        earliest = None if found.earliest_start == found.as_of else found.earliest_start
        assert bookable(lot, earliest) >= 1


def test_two_queries_whatever_the_horizon(lot: Lot) -> None:
    with transaction.atomic():
        hold(hold_request(lot))
    for days in (0, HORIZON_DAYS):
        with CaptureQueriesContext(
            connection,
        ) as queries:
            assert len(look(lot, days=days).days) == days + 1
        read = [row for row in queries if "fleet_" in row["sql"]]
        assert 1 <= len(read) <= 2


def test_earliest_start_waits_for_as_many_lots_as_are_asked(lot: Lot) -> None:
    today = NOW.date()
    assert look(lot, lots=4).earliest_start == clock.now()
    with transaction.atomic():
        hold(hold_request(lot))
    assert look(lot, lots=3).earliest_start == clock.now()
    start = look(lot, lots=4).earliest_start
    assert start is not None
    assert start.date() > today
    assert bookable(lot, start) == 4
    assert bookable(lot, start - timedelta(hours=1)) == 3
    assert look(lot, lots=5).earliest_start is None


def test_days_beyond_the_offered_starts_are_an_outlook(lot: Lot) -> None:
    days = look(lot, days=HORIZON_DAYS).days
    assert [row.offered for row in days] == [True] * 61 + [False] * 30
    assert {row.free_lots for row in days} == {4}


@pytest.mark.parametrize(("first", "last"), [(-1, 3), (4, 3), (0, HORIZON_DAYS + 1)])
def test_days_outside_the_horizon_are_refused(lot: Lot, first: int, last: int) -> None:
    today = NOW.date()
    with pytest.raises(Invalid, match="90 days"):
        availability(
            lot=lot,
            lots=1,
            term_days=TERM_DAYS,
            from_day=today + timedelta(days=first),
            to_day=today + timedelta(days=last),
        )


def test_an_overdue_hold_blocks_nothing_and_a_lease_that_is_not_wiped_blocks_for_good(lot: Lot) -> None:
    tomorrow = NOW.date() + timedelta(days=1)
    with transaction.atomic():
        overdue = hold(hold_request(lot, starts_at=NOW.replace(minute=0) + timedelta(hours=24)))
    assert free_on(lot, tomorrow) == 3
    Hold.objects.filter(pk=overdue.pk).update(placed_at=NOW - timedelta(hours=2), release_at=NOW)
    assert free_on(lot, tomorrow) == 4
    lease = make_lease(lot)
    Reservation.objects.filter(hold=lease.hold).update(
        period=(NOW - timedelta(days=4), NOW - timedelta(minutes=1))
    )
    assert {row.free_lots for row in look(lot, days=HORIZON_DAYS).days} == {3}


def test_what_is_not_in_order_is_not_free(lot: Lot) -> None:
    tomorrow = NOW.date() + timedelta(days=1)
    Card.objects.filter(node__cards__isnull=False).filter(index=0).update(healthy=False)
    assert free_on(lot, tomorrow) == 1 + 2
    Node.objects.filter(cards__index=4).update(healthy=False)
    assert free_on(lot, tomorrow) == 1


def test_a_window_is_kept_free_and_given_back(lot: Lot) -> None:
    node = Node.objects.order_by("pk")[0]
    window = add_window(
        node_id=node.pk,
        from_at=NOW + timedelta(days=2),
        to_at=NOW + timedelta(days=3),
        actor="anna",
        reason="new power supply",
    )
    assert bookable(lot, None) == 2
    assert free_on(lot, NOW.date()) == 2
    cancel_window(window_id=window.pk, actor="anna")
    assert bookable(lot, None) == 4
    with pytest.raises(Conflict, match="already done"):
        cancel_window(window_id=window.pk, actor="anna")


def test_a_window_is_refused_where_an_order_stands_in_it(lot: Lot) -> None:
    with transaction.atomic():
        held = hold(hold_request(lot))
    node = Reservation.objects.filter(hold=held)[0].card.node
    with pytest.raises(Conflict) as refused:
        add_window(
            node_id=node.pk,
            from_at=NOW + timedelta(days=1),
            to_at=NOW + timedelta(days=2),
            actor="anna",
            reason="new power supply",
        )
    assert refused.value.code == "window_occupied"
    assert held.ref in refused.value.text


def test_a_window_lets_overdue_holds_go_so_that_no_late_money_makes_a_lease_in_it(lot: Lot) -> None:
    overdue = make_hold(lot, lots=4)
    node = Node.objects.order_by("pk")[0]
    with time_machine.travel(overdue.release_at, tick=False):
        tomorrow = clock.now() + timedelta(days=1)
        times = {"from_at": tomorrow, "to_at": tomorrow + timedelta(hours=4)}
        add_window(node_id=node.pk, actor="anna", reason="new power supply", **times)
        with transaction.atomic():
            request = LeaseRequest(
                ref=overdue.ref, image="pytorch", image_facts={}, keys=[], settled_at=clock.now()
            )
            assert commit(request) is None
        # S49: the second click.
        with pytest.raises(Conflict, match="already done"):
            add_window(node_id=node.pk, actor="anna", reason="new power supply", **times)
    assert MaintenanceWindow.objects.count() == 1


@pytest.mark.parametrize(("first", "last"), [(-3, -1), (3, 2), (2, 2), (0, 91), (367, 370)], ids=str)
def test_a_window_that_makes_no_sense_is_refused(lot: Lot, first: int, last: int) -> None:
    node = Node.objects.order_by("pk")[0]
    with pytest.raises(Invalid) as refused:
        add_window(
            node_id=node.pk,
            from_at=NOW + timedelta(days=first),
            to_at=NOW + timedelta(days=last),
            actor="anna",
            reason="new power supply",
        )
    assert refused.value.field == "to_at"
