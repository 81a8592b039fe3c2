"""What stands on the cards and when, and how much of the time that could be sold was: by hand-computed cases."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
import time_machine
from django.db.backends.postgresql.psycopg_any import DateTimeTZRange

from catalog.models import Lot
from core import audit, clock, decisions
from fleet.models import Card, Hold, Lease, MaintenanceWindow, Node, Reservation
from fleet.occupancy import Stay, What, nodes_for, occupancy
from fleet.services.maintenance import put_in_service, take_out_of_service
from fleet.services.release import release
from fleet.spans import common, length, merged
from fleet.unfit import times
from fleet.utilisation import HOUR, Use, utilisation
from tests.factories.fleet import TERM_SECONDS, make_hold, make_lease, make_lot

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)
DAY = timedelta(days=1)
TERM = timedelta(seconds=TERM_SECONDS)
WIPE = timedelta(minutes=30)
# Ten days around now.
WINDOW = (NOW - 5 * DAY, NOW + 5 * DAY)

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def still() -> Iterator[None]:
    with time_machine.travel(NOW, tick=False):
        yield


@pytest.fixture
def lot() -> Lot:
    """Lots of two cards, and one node with four."""
    return make_lot(cards=2, nodes=(4,))


def opened(lease: Lease, at: datetime, **changes: Any) -> Lease:
    """As the worker leaves it when access has opened at that moment."""
    ends = at + timedelta(seconds=lease.hold.term_seconds)
    values: dict[str, Any] = {"status": "ready", "ready_at": at, "ends_at": ends} | changes
    Lease.objects.filter(pk=lease.pk).update(**values)
    period = DateTimeTZRange(at - HOUR, values["ends_at"] + WIPE, "[)")
    Reservation.objects.filter(hold=lease.hold).update(period=period)
    lease.refresh_from_db()
    return lease


def closed(lease: Lease, *, ended: datetime, wiped: datetime) -> None:
    """As the worker leaves it when the disks are wiped."""
    Lease.objects.filter(pk=lease.pk).update(
        status="closed", ending_at=ended, closed_at=wiped, wiped_at=wiped
    )
    for row in Reservation.objects.filter(hold=lease.hold):
        row.period = DateTimeTZRange(row.period.lower, wiped, "[)")
        row.status = "released"
        row.save()


def stays(*, begins: datetime = WINDOW[0], ends: datetime = WINDOW[1]) -> list[Stay]:
    (row,) = occupancy(list(nodes_for()), begins=begins, ends=ends)
    return list(row.stays)


def told(found: list[Stay]) -> list[tuple[What, datetime, datetime | None, tuple[int, ...]]]:
    return [(stay.what, stay.begins, stay.ends, stay.lanes) for stay in found]


def use(window: tuple[datetime, datetime] = WINDOW) -> Use:
    (found,) = utilisation([window])
    return found[Node.objects.values_list("accelerator", flat=True)[0]]


def hours(value: timedelta) -> float:
    return value / HOUR


def test_spans_are_half_open() -> None:
    day = (NOW, NOW + DAY)
    assert common(day, (NOW + DAY, NOW + 2 * DAY)) is None
    assert common(day, (NOW - DAY, NOW + HOUR)) == (NOW, NOW + HOUR)
    assert merged([(NOW + DAY, NOW + 2 * DAY), day, (NOW, NOW)]) == [(NOW, NOW + 2 * DAY)]
    assert length([day, day]) == 2 * DAY


def test_a_lease_is_sold_then_active_then_wiped(lot: Lot) -> None:
    lease = opened(make_lease(lot), NOW - DAY)
    assert told(stays()) == [
        (What.SOLD, NOW - DAY - HOUR, NOW - DAY, (0, 1)),
        (What.ACTIVE, NOW - DAY, NOW + 2 * DAY, (0, 1)),
        (What.WIPE, NOW + 2 * DAY, NOW + 2 * DAY + WIPE, (0, 1)),
    ]
    assert {(stay.ref, stay.lease_id) for stay in stays()} == {(lease.order_ref, lease.pk)}
    # Half open: the end of the wipe is no part of it.
    assert stays(begins=NOW + 2 * DAY + WIPE, ends=NOW + 9 * DAY) == []


def test_what_is_not_open_yet_is_sold_up_to_its_wipe(lot: Lot) -> None:
    start = NOW + DAY
    make_lease(lot, starts_at=start)
    (sold, wipe) = stays()
    assert (sold.what, sold.begins, sold.lease_status) == (What.SOLD, start - WIPE, "reserved")
    assert (wipe.what, wipe.begins) == (What.WIPE, sold.ends)


def test_a_hold_is_shown_until_it_is_let_go(lot: Lot) -> None:
    hold = make_hold(lot)
    (stay,) = stays()
    assert (stay.what, stay.ref, stay.hold_id, stay.lease_id) == (What.HELD, hold.ref, hold.pk, None)
    release(ref=hold.ref)
    assert stays() == []


def test_a_wipe_that_is_not_confirmed_goes_on_until_now(lot: Lot) -> None:
    lease = opened(make_lease(lot), NOW - TERM - DAY, status="wiping")
    Lease.objects.filter(pk=lease.pk).update(ending_at=NOW - DAY)
    assert told(stays())[-1] == (What.WIPE, NOW - DAY, NOW, (0, 1))
    closed(lease, ended=NOW - DAY, wiped=NOW - DAY + HOUR)
    assert told(stays())[-1] == (What.WIPE, NOW - DAY, NOW - DAY + HOUR, (0, 1))


def test_an_early_end_wipes_from_the_end_on(lot: Lot) -> None:
    lease = opened(make_lease(lot), NOW - DAY)
    Lease.objects.filter(pk=lease.pk).update(status="ending", ending_at=NOW)
    assert told(stays())[1:] == [
        (What.ACTIVE, NOW - DAY, NOW, (0, 1)),
        (What.WIPE, NOW, NOW + WIPE, (0, 1)),
    ]


def test_cards_that_a_lease_left_are_wiped_while_it_runs_on_others(lot: Lot) -> None:
    lease = opened(make_lease(lot), NOW - DAY)
    row = Reservation.objects.filter(hold=lease.hold).order_by("card__index")[0]
    row.left_at = NOW - HOUR
    row.save()
    other = Card.objects.get(index=3)
    Reservation.objects.create(
        card=other,
        hold=lease.hold,
        status="committed",
        period=DateTimeTZRange(NOW - HOUR, NOW + 2 * DAY + WIPE, "[)"),
    )
    found = told(stays())
    assert (What.ACTIVE, NOW - DAY, NOW - HOUR, (0,)) in found
    # The wipe of what was left an hour ago is half an hour late: it goes on until now.
    assert next(stay for stay in found if stay[0] == What.WIPE) == (What.WIPE, NOW - HOUR, NOW, (0,))
    assert (What.ACTIVE, NOW - HOUR, NOW + 2 * DAY, (3,)) in found
    # Two cards for three days, whichever they were.
    assert hours(use().sold[3]) == 144


@pytest.mark.parametrize(
    ("marks", "is_so", "expected"),
    [
        ([], False, []),
        ([], True, [(WINDOW[0], None)]),
        ([(NOW, True)], True, [(NOW, None)]),
        ([(NOW, True), (NOW + HOUR, False)], False, [(NOW, NOW + HOUR)]),
        # Found again before it was mended: one time.
        ([(NOW, True), (NOW + HOUR, True), (NOW + DAY, False)], False, [(NOW, NOW + DAY)]),
        # Closed with a note, and nothing was mended.
        ([(NOW, True), (NOW + HOUR, False)], True, [(NOW, None)]),
        # Over without a record of when.
        ([(NOW, True)], False, []),
    ],
)
def test_records_become_times(marks: Any, is_so: bool, expected: Any) -> None:
    assert times(marks, is_so=is_so, since=WINDOW[0]) == expected


def test_unhealthy_and_out_of_service_are_shown_since_when_it_was_found(lot: Lot) -> None:
    card = Card.objects.get(index=2)
    with time_machine.travel(NOW - DAY, tick=False):
        decisions.open_decision(kind="card_unsound", subject=f"card:{card.serial}")
        Card.objects.filter(pk=card.pk).update(healthy=False, note="fell off the bus")
    take_out_of_service(node_id=card.node_id, actor="ines", reason="new fans")
    assert [(*row, stay.reason) for row, stay in zip(told(stays()), stays(), strict=True)] == [
        (What.UNHEALTHY, NOW - DAY, None, (2,), "fell off the bus"),
        (What.OUT_OF_SERVICE, NOW, None, (0, 1, 2, 3), "new fans"),
    ]
    clock.skip(2 * HOUR)
    put_in_service(node_id=card.node_id, actor="ines")
    assert told(stays())[1] == (What.OUT_OF_SERVICE, NOW, NOW + 2 * HOUR, (0, 1, 2, 3))


def test_a_card_that_failed_its_acceptance_test_is_out_of_service_since_then(lot: Lot) -> None:
    card = Card.objects.get(index=0)
    with time_machine.travel(NOW - DAY, tick=False):
        decisions.open_decision(
            kind="delivery_mismatch",
            subject="lease:1",
            facts={"differences": [{"serial": card.serial, "problem": "missing", "found": None}]},
        )
    Card.objects.filter(pk=card.pk).update(in_service=False)
    assert told(stays()) == [(What.OUT_OF_SERVICE, NOW - DAY, None, (0,))]


def window(node: Node, begins: datetime, ends: datetime, cancelled: datetime | None = None) -> None:
    MaintenanceWindow.objects.create(
        node=node,
        period=DateTimeTZRange(begins, ends, "[)"),
        reason="firmware",
        made_by="ines",
        made_at=NOW,
        cancelled_at=cancelled,
    )


def test_of_a_cancelled_maintenance_the_part_before_counts(lot: Lot) -> None:
    node = Node.objects.get()
    window(node, NOW - DAY, NOW + DAY, cancelled=NOW)
    window(node, NOW + DAY, NOW + 2 * DAY, cancelled=NOW)
    assert told(stays()) == [(What.MAINTENANCE, NOW - DAY, NOW, (0, 1, 2, 3))]


def test_sold_is_the_term_and_nothing_else(lot: Lot) -> None:
    """4 cards for 10 days: 960 card-hours. 2 of them for 72 h: 144, which is 15 %."""
    opened(make_lease(lot), NOW - DAY)
    found = use()
    assert (found.cards, hours(found.sellable), hours(found.sold_in_all)) == (4, 960, 144)
    assert found.share() == found.share(3) == Decimal("0.15")
    assert found.share(7) == 0
    # Cut at both edges: a day of the term lies before now, two behind it.
    assert hours(use((NOW - 5 * DAY, NOW)).sold[3]) == 48
    assert hours(use((NOW, NOW + 5 * DAY)).sold[3]) == 96
    assert use((NOW + 2 * DAY, NOW + 5 * DAY)).sold_in_all == timedelta()


def test_two_lots_are_twice_as_much(lot: Lot) -> None:
    opened(make_lease(lot, lots=2), NOW - DAY)
    assert use().share() == Decimal("0.3")


def test_a_lease_cut_early_is_sold_up_to_its_end(lot: Lot) -> None:
    lease = opened(make_lease(lot), NOW - 2 * DAY)
    Lease.objects.filter(pk=lease.pk).update(status="ending", ending_at=NOW - DAY)
    assert hours(use().sold[3]) == 48
    lease.refresh_from_db()
    closed(lease, ended=NOW - DAY, wiped=NOW - DAY + HOUR)
    assert hours(use().sold[3]) == 48


def test_what_is_planned_is_sold_and_what_failed_or_is_held_is_not(lot: Lot) -> None:
    lease = make_lease(lot, starts_at=NOW + DAY)
    make_hold(lot)
    assert hours(use().sold_in_all) == 144
    Lease.objects.filter(pk=lease.pk).update(status="failed", failed_at=NOW)
    assert use().sold_in_all == timedelta()


def test_an_extension_counts_for_its_own_term(lot: Lot) -> None:
    """Three days, then seven more of which two lie in the window: 144 and 96 card-hours."""
    lease = opened(make_lease(lot), NOW)
    Hold.objects.create(
        ref="longer",
        owner="o",
        lot=lot,
        lots=1,
        card_count=2,
        extends=lease,
        term_seconds=7 * 24 * 3600,
        starts_at=NOW + TERM,
        placed_at=NOW,
        expires_at=NOW + HOUR,
        release_at=NOW + HOUR,
        committed_at=NOW,
    )
    Lease.objects.filter(pk=lease.pk).update(ends_at=NOW + TERM + 7 * DAY)
    Reservation.objects.filter(hold=lease.hold).update(
        period=DateTimeTZRange(NOW - HOUR, NOW + TERM + 7 * DAY + WIPE, "[)")
    )
    found = use()
    assert {days: hours(time) for days, time in found.sold.items()} == {3: 144, 7: 96}
    Hold.objects.filter(ref="longer").update(released_at=NOW)
    assert set(use().sold) == {3}


def test_unfit_hours_cannot_be_sold_unless_they_were(lot: Lot) -> None:
    """A lease on cards 0 and 1 for three days from now on; card 1 and card 2 are unhealthy from now on.

    960 hours less the five days of card 2 (120) and of card 1 the two days after its lease (48): 792.
    """
    opened(make_lease(lot), NOW)
    for card in Card.objects.filter(index__in=[1, 2]):
        Card.objects.filter(pk=card.pk).update(healthy=False)
        decisions.open_decision(kind="card_unsound", subject=f"card:{card.serial}")
    found = use()
    assert (hours(found.sellable), hours(found.sold_in_all)) == (792, 144)
    # Maintenance of the whole node in the last day, which the two unhealthy cards had lost already: 48 more.
    window(Node.objects.get(), NOW + 4 * DAY, NOW + 5 * DAY)
    assert hours(use().sellable) == 744


def test_a_node_counts_since_it_is_in_the_fleet(lot: Lot) -> None:
    with time_machine.travel(NOW - DAY, tick=False):
        audit.record(actor="ines", action="node.add", subject=f"node:{Node.objects.get().name}")
    assert hours(use().sellable) == 4 * 6 * 24
    assert use((NOW - 5 * DAY, NOW - DAY)).share() is None
