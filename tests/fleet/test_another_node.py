"""A preparation that is refused again and again goes on at another node: same price, told to the buyer."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from core import clock, outbox
from core.models import Decision, Event, OutgoingMail
from fleet.models import Lease, Reservation
from fleet.providers.base import NodeAway, ProviderRefused, ProviderUnavailable
from fleet.providers.faults import Kind
from fleet.services.sweep import advance_lease, sweep_leases
from fleet.services.work import PREPARATION_FAILURES
from tests import scenario
from tests.factories.fleet import make_lease, make_lot, make_node
from tests.fleet.doubles import FaultyProvider
from tests.fleet.open_leases import fault, nodes
from tests.fleet.rows import events, reload

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_login")]
Wait = Callable[[float], None]


@pytest.mark.parametrize("verb", ["reserve", "prepare", "verify", "open_access"])
@pytest.mark.parametrize("error", [ProviderRefused("no"), NodeAway("node away")])
def test_after_three_refusals_another_node(
    provider: FaultyProvider, wait: Wait, verb: str, error: Exception
) -> None:
    lease = make_lease(make_lot(nodes=(2, 2)))
    before = nodes(lease)
    provider.fail(verb, error, times=PREPARATION_FAILURES)
    for _try in range(PREPARATION_FAILURES - 1):
        advance_lease(lease_id=lease.pk)
        assert nodes(lease) == before
        wait(61)
    for _try in range(3):
        advance_lease(lease_id=lease.pk)
        wait(61)
    assert reload(lease).status == "ready"
    assert nodes(lease).isdisjoint(before)
    event = Event.objects.get(name="lease.moved")
    assert event.payload["why"] == "preparation"
    assert (event.payload["from"], event.payload["to"]) == (sorted(before), sorted(nodes(lease)))
    left = Reservation.objects.filter(hold=lease.hold, left_at__isnull=False)
    assert {row.status for row in left} == {"released"}, "given back after their wipe"
    assert not Decision.objects.filter(kind="lease_failing", closed_at=None).exists()


def test_no_answer_at_all_blames_no_node(provider: FaultyProvider, wait: Wait) -> None:
    lease = make_lease(make_lot(nodes=(2, 2)))
    before = nodes(lease)
    provider.fail("prepare", ProviderUnavailable("no answer"), times=6)
    for _try in range(7):
        advance_lease(lease_id=lease.pk)
        wait(61)
    assert reload(lease).status == "ready"
    assert nodes(lease) == before
    assert "lease.moved" not in events(lease)


def test_without_another_node_it_goes_on_where_it_is(provider: FaultyProvider, wait: Wait) -> None:
    lease = make_lease(make_lot(cards=2, nodes=(8,)))
    provider.fail("prepare", ProviderRefused("no"), times=5)
    for _try in range(6):
        advance_lease(lease_id=lease.pk)
        wait(61)
    assert reload(lease).status == "ready"
    assert "lease.moved" not in events(lease)


def test_two_bad_nodes_do_not_send_it_to_and_fro(provider: FaultyProvider, wait: Wait) -> None:
    """Each node once: then it waits where it is, for staff or the late rule, and the buyer gets no mail an hour."""
    lease = make_lease(make_lot(nodes=(2, 2)))
    provider.fail("prepare", ProviderRefused("no"), times=30)
    for _try in range(13):
        advance_lease(lease_id=lease.pk)
        wait(61)
    assert events(lease).count("lease.moved") == 1
    assert Decision.objects.filter(kind="lease_failing", closed_at=None).exists()


def test_several_lots_move_together(provider: FaultyProvider, wait: Wait) -> None:
    lease = make_lease(make_lot(cards=2, nodes=(4, 4)), lots=2)
    before = nodes(lease)
    provider.fail("reserve", ProviderRefused("no"), times=3)
    for _try in range(4):
        advance_lease(lease_id=lease.pk)
        wait(61)
    assert reload(lease).status == "ready"
    assert nodes(lease).isdisjoint(before)


def test_the_buyer_is_told_and_pays_the_same(wait: Wait) -> None:
    scenario.open_shop(b200_nodes=2)
    order = scenario.order()
    total = order.quote.total
    scenario.pay(order)
    lease = Lease.objects.get(order_ref=order.public_id)
    fault(Kind.REFUSE, verb="prepare", node_name=next(iter(nodes(lease))))
    for _try in range(4):
        sweep_leases()
        wait(61)
    outbox.drain()
    order.refresh_from_db()
    assert (order.status, order.quote.total) == ("active", total)
    mail = OutgoingMail.objects.get(subject__contains="moves to other cards")
    assert "at the same price" in mail.text


def behind_a_lease_that_is_not_wiped(
    provider: FaultyProvider, *, nodes: tuple[int, ...]
) -> tuple[Lease, Lease]:
    """Both on the first node, one after the other; the other nodes were not there yet. The second one's start has come
    and the engine still does not confirm the wipe of the first."""
    lot = make_lot(cards=2, nodes=(2,))
    first = make_lease(lot)
    advance_lease(lease_id=first.pk)
    ends_at = reload(first).ends_at
    assert ends_at is not None
    starts_at = (ends_at + timedelta(hours=2)).replace(minute=0, second=0, microsecond=0)
    second = make_lease(lot, starts_at=starts_at)
    for cards in nodes:
        make_node(accelerator=lot.accelerator, cards=cards)
    provider.fail("wipe", ProviderUnavailable("no answer"), times=1000)
    clock.skip(starts_at - timedelta(minutes=1) - clock.now())
    sweep_leases()
    assert (reload(first).status, reload(second).status) == ("wiping", "reserved")
    assert "lease.moved" not in events(second), "there is still time"
    clock.skip(timedelta(minutes=1))
    return first, second


def test_cards_that_the_lease_before_still_has_at_the_start_are_left(
    provider: FaultyProvider, wait: Wait
) -> None:
    """DESIGN rule 3: prepared only when the lease before is closed, else the failure rule: another node, same price."""
    first, second = behind_a_lease_that_is_not_wiped(provider, nodes=(1, 2))
    before = nodes(second)
    sweep_leases()
    provider.before["wipe"].clear()
    sweep_leases()
    row = reload(second)
    assert (row.status, row.late_at) == ("ready", None)
    assert nodes(second).isdisjoint(before)
    assert events(second).count("lease.moved") == 1
    wait(61)
    sweep_leases()
    assert reload(first).status == "closed"
    assert set(Reservation.objects.filter(status="committed").values_list("hold__ref", flat=True)) == {
        second.order_ref
    }


@pytest.mark.parametrize("room", [(), (1,)], ids=["no other node", "too small"])
def test_where_no_other_node_has_room_it_waits(
    provider: FaultyProvider, wait: Wait, room: tuple[int, ...]
) -> None:
    first, second = behind_a_lease_that_is_not_wiped(provider, nodes=room)
    before = nodes(second)
    for _round in range(3):
        sweep_leases()
    assert (reload(second).status, reload(second).attempts) == ("reserved", 0)
    assert nodes(second) == before
    provider.before["wipe"].clear()
    for _round in range(2):
        wait(61)
        sweep_leases()
    assert (reload(first).status, reload(second).status) == ("closed", "ready")
    assert "lease.moved" not in events(second)
