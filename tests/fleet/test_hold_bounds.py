"""One network cannot empty the shop, an order may be held again, and what is not for sale is never placed."""

from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import transaction
from django.db.backends.postgresql.psycopg_any import DateTimeTZRange
from django.db.models.expressions import RawSQL

from catalog.models import Lot
from core import clock
from core.errors import Conflict, Refusal
from fleet.limits import HoldLimits
from fleet.models import Card, Hold, MaintenanceWindow, Node, Reservation
from fleet.selectors import free_lots
from fleet.services import hold as hold_module
from fleet.services.hold import HoldRequest, hold
from fleet.services.move_release import move_release
from fleet.services.release import release
from tests import scenario
from tests.factories.fleet import hold_request, make_hold, make_lease, make_lot

pytestmark = pytest.mark.django_db

COOKIES = 200
PREFIX = "203.0.113.0/24"
# The policy's own bounds of a browser, but for the number of orders of a network.
ONLY_THE_SHARE = HoldLimits(orders_per_owner=2, cards_per_owner=16, orders_per_prefix=10_000)
AS_DELIVERED = HoldLimits(orders_per_owner=2, cards_per_owner=16, orders_per_prefix=4)


def place(request: HoldRequest) -> Hold:
    with transaction.atomic():
        return hold(request)


def answer(lot: Lot, *, limits: HoldLimits, **changes: Any) -> str:
    request = replace(hold_request(lot, limits=limits), prefix=PREFIX, **changes)
    try:
        place(request)
    except Refusal as refusal:
        return refusal.code
    return "held"


# One network -----------------------------------------------------------------------------------------


def test_200_cookies_of_one_network_take_half_of_the_free_lots() -> None:
    lot = make_lot(cards=2, nodes=(8, 8, 8))
    answers = Counter(answer(lot, limits=ONLY_THE_SHARE) for _cookie in range(COOKIES))
    assert answers == {"held": 6, "too_many_holds": COOKIES - 6}
    # The other half is there for everybody else.
    for _stranger in range(6):
        place(hold_request(lot))


def test_200_cookies_of_one_network_take_four_orders_as_delivered() -> None:
    lot = make_lot(cards=2, nodes=(8, 8, 8))
    answers = Counter(answer(lot, limits=AS_DELIVERED) for _cookie in range(COOKIES))
    assert answers == {"held": 4, "too_many_holds": COOKIES - 4}


def test_200_cookies_of_one_network_always_get_one() -> None:
    lot = make_lot(cards=8, nodes=(8,))
    answers = Counter(answer(lot, limits=ONLY_THE_SHARE) for _cookie in range(COOKIES))
    assert answers["held"] == 1
    assert set(answers) <= {"held", "too_many_holds", "no_capacity"}


def test_the_share_is_that_of_one_accelerator() -> None:
    first, second = make_lot(cards=1, nodes=(2,)), make_lot(cards=1, nodes=(2,))
    assert [answer(first, limits=ONLY_THE_SHARE) for _ in range(2)] == ["held", "too_many_holds"]
    assert answer(second, limits=ONLY_THE_SHARE) == "held"


def test_what_is_paid_or_let_go_is_no_part_of_the_share() -> None:
    lot = make_lot(cards=1, nodes=(4,))
    lease = make_lease(lot)
    Hold.objects.filter(pk=lease.hold_id).update(prefix=PREFIX)
    assert answer(lot, limits=ONLY_THE_SHARE, ref="first") == "held"
    with transaction.atomic():
        assert release(ref="first")
    assert answer(lot, limits=ONLY_THE_SHARE) == "held"


def test_an_order_over_the_card_limit_is_refused_at_the_quote() -> None:
    scenario.open_shop(b200_nodes=3)
    with pytest.raises(Refusal) as caught:
        scenario.quote(lots=9)
    assert (caught.value.code, caught.value.status, caught.value.field) == ("too_many_cards", 422, "lots")


# The same order again --------------------------------------------------------------------------------


def test_an_order_whose_hold_was_let_go_is_held_again() -> None:
    lot = make_lot()
    request = hold_request(lot)
    first = place(request)
    with transaction.atomic():
        release(ref=request.ref)
    second = place(replace(request, expires_at=clock.now() + timedelta(hours=1)))
    first.refresh_from_db()
    assert (first.ref, second.ref) == (f"{request.ref}~{first.pk}", request.ref)
    assert first.released_at is not None
    with transaction.atomic():
        assert release(ref=request.ref)
    third = place(request)
    assert Hold.objects.get(ref=request.ref) == third


def test_an_order_that_holds_cards_cannot_hold_others() -> None:
    request = hold_request(make_lot(cards=1, nodes=(4,)))
    place(request)
    with pytest.raises(Exception, match="unique"), transaction.atomic():
        hold(request)
    assert Hold.objects.get().card_count == Reservation.objects.count() == 1


def test_a_refusal_leaves_the_callers_transaction_usable() -> None:
    lot = make_lot()
    make_hold(lot)
    with transaction.atomic():
        with pytest.raises(Conflict):
            hold(hold_request(lot))
        Node.objects.update(note="still writing")
    assert Node.objects.get().note == "still writing"


def test_so_does_a_write_that_the_database_breaks_off(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    """The ORM takes the whole transaction for broken then; the booking has gone back to where it began."""
    settings.LOCK_TIMEOUT_SECONDS = 0.3
    lot = make_lot()
    overdue = make_hold(lot)
    clock.skip(timedelta(hours=4))
    endless = RawSQL("(SELECT pg_sleep(30))::text", [])
    monkeypatch.setattr(hold_module, "release_locked", lambda _hold: Node.objects.update(note=endless))
    with transaction.atomic():
        with pytest.raises(Conflict) as caught:
            hold(hold_request(lot))
        assert caught.value.code == "busy"
        Node.objects.update(note="still writing")
    assert Node.objects.get().note == "still writing"
    assert list(Hold.objects.filter(released_at=None)) == [overdue]


# Not for sale ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("field", ["healthy", "in_service"])
@pytest.mark.parametrize("model", [Node, Card])
def test_s03_what_is_not_sound_or_out_of_service_is_not_placed(model: type[Node | Card], field: str) -> None:
    lot = make_lot(cards=2, nodes=(2,))
    model._default_manager.all().update(**{field: False})
    with pytest.raises(Conflict) as caught:
        place(hold_request(lot))
    assert caught.value.code == "no_capacity"
    model._default_manager.all().update(**{field: True})
    place(hold_request(lot))


def bookable(lot: Lot) -> int:
    """How many lots can really be booked one after the other, until the next one is refused."""
    booked = 0
    with transaction.atomic():
        while True:
            try:
                hold(hold_request(lot))
            except Conflict:
                break
            booked += 1
        transaction.set_rollback(True)
    return booked


@pytest.mark.parametrize(
    "trouble",
    [
        "nothing",
        "card",
        "card off",
        "node",
        "node off",
        "window",
        "held",
        "overdue",
        "not wiped",
        "old driver",
    ],
)
def test_s03_the_count_on_pages_is_what_can_be_booked(trouble: str) -> None:
    """Never a lot that a booking then refuses, never below zero, never above what is owned."""
    lot = make_lot(cards=2, nodes=(2, 3, 4))
    node = Node.objects.order_by("pk")[2]
    if trouble.startswith("card"):
        field = "in_service" if "off" in trouble else "healthy"
        Card.objects.filter(pk__in=list(node.cards.values_list("pk", flat=True)[:3])).update(**{field: False})
    elif trouble.startswith("node"):
        Node.objects.filter(pk=node.pk).update(**{"in_service" if "off" in trouble else "healthy": False})
    elif trouble == "window":
        window(clock.now() + timedelta(days=1), clock.now() + timedelta(days=1, hours=2), node=node)
    elif trouble == "old driver":
        Node.objects.filter(pk=node.pk).update(driver_version="470.1")
    elif trouble == "not wiped":
        lease = make_lease(lot, lots=2)
        Reservation.objects.filter(hold=lease.hold).update(
            period=DateTimeTZRange(clock.now() - timedelta(days=4), clock.now() - timedelta(days=1))
        )
    elif trouble in {"held", "overdue"}:
        held = make_hold(lot, lots=2)
        if trouble == "overdue":
            Hold.objects.filter(pk=held.pk).update(release_at=clock.now())
    minimum = "525.60" if trouble == "old driver" else ""
    request = replace(hold_request(lot), driver_minimum=minimum)
    period = DateTimeTZRange(
        clock.now(), request.expires_at + timedelta(hours=4, minutes=31, seconds=request.term_seconds)
    )
    shown = free_lots(lot=lot, period=period, driver_minimum=minimum).lots
    assert shown == {"nothing": 4, "overdue": 4}.get(trouble, 2)
    if trouble != "old driver":
        assert bookable(lot) == shown


def window(begins: datetime, ends: datetime, node: Node | None = None) -> MaintenanceWindow:
    return MaintenanceWindow.objects.create(
        node=node or Node.objects.get(),
        period=DateTimeTZRange(begins, ends),
        reason="new fans",
        made_by="ops",
        made_at=clock.now(),
    )


def test_nothing_is_placed_into_a_maintenance_window() -> None:
    lot = make_lot()
    planned = window(clock.now() + timedelta(days=2), clock.now() + timedelta(days=2, hours=4))
    with pytest.raises(Conflict):
        place(hold_request(lot))
    planned.cancelled_at = clock.now()
    planned.save()
    place(hold_request(lot))


def test_a_release_does_not_move_a_term_into_a_maintenance_window() -> None:
    held = make_hold(make_lot())
    upper = Reservation.objects.filter(hold=held)[0].period.upper
    window(upper + timedelta(hours=1), upper + timedelta(hours=5))
    with transaction.atomic():
        moved = move_release(ref=held.ref, until=held.release_at + timedelta(hours=6))
    assert moved == held.release_at + timedelta(hours=1)
    assert Reservation.objects.filter(hold=held)[0].period.upper == upper + timedelta(hours=1)
