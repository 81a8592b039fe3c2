"""What staff can do with leases and nodes: recorded, and harmless when clicked twice (S49)."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from core import clock
from core.errors import Conflict
from core.models import AuditEntry, Event
from fleet.models import Card, Lease, Node, Reservation
from fleet.providers.base import ProviderUnavailable
from fleet.selectors import cards_of_hold, free_lots
from fleet.services.end import end_lease
from fleet.services.maintenance import put_card_in_service, put_in_service, take_out_of_service
from fleet.services.prepare_again import prepare_again
from fleet.services.sweep import advance_lease, sweep_leases
from fleet.services.take_other_cards import take_other_cards
from fleet.services.work import CLAIM_SECONDS, work_lease
from tests.factories.fleet import make_hold, make_lease, make_lot
from tests.fleet.doubles import FaultyProvider
from tests.fleet.rows import reload

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_login")]
Wait = Callable[[float], None]
NO_ANSWER = ProviderUnavailable("no answer in time")


def serials(lease: Lease) -> set[str]:
    return {card.serial for card in cards_of_hold(lease.hold_id)}


def code(caught: pytest.ExceptionInfo[Conflict]) -> str:
    return caught.value.code


@pytest.mark.parametrize("steps", [0, 1, 2, 3])
def test_other_cards_at_any_step_before_access(provider: FaultyProvider, steps: int) -> None:
    lot = make_lot(cards=2, nodes=(2, 2))
    lease = make_lease(lot)
    for _step in range(steps):
        work_lease(lease_id=lease.pk)
    old = serials(lease)
    take_other_cards(lease_id=lease.pk, actor="anna", reason="a fan is loud")
    assert reload(lease).status == "reserved"
    assert serials(lease).isdisjoint(old)
    assert Reservation.objects.filter(hold=lease.hold, status="committed").count() == 4
    with pytest.raises(Conflict) as caught:
        take_other_cards(lease_id=lease.pk, actor="boris")
    assert code(caught) == "already_done"
    advance_lease(lease_id=lease.pk)
    assert reload(lease).status == "ready"
    assert provider.living() == (lease.pk,)
    observed = provider.observe(lease.pk)
    assert observed is not None
    assert {card.serial for card in observed.cards} == serials(lease)
    rows = Reservation.objects.filter(hold=lease.hold)
    assert {row.card.serial for row in rows.filter(status="released")} == old
    entry = AuditEntry.objects.get(action="lease.take_other_cards")
    assert (entry.actor, entry.reason, set(entry.before["cards"])) == ("anna", "a fan is loud", old)


def test_old_cards_stay_off_sale_until_their_machine_is_wiped(provider: FaultyProvider, wait: Wait) -> None:
    lot = make_lot(cards=2, nodes=(2, 2))
    lease = make_lease(lot)
    work_lease(lease_id=lease.pk)
    provider.fail("wipe", NO_ANSWER)
    take_other_cards(lease_id=lease.pk, actor="anna")
    advance_lease(lease_id=lease.pk)
    period = Reservation.objects.filter(hold=lease.hold)[0].period
    later = type(period)(clock.now(), clock.now() + timedelta(days=3))
    assert free_lots(lot=lot, period=later).lots == 0
    wait(5)
    advance_lease(lease_id=lease.pk)
    assert reload(lease).status == "ready"
    assert free_lots(lot=lot, period=later).lots == 1


def test_no_other_cards(provider: FaultyProvider) -> None:
    lease = make_lease(make_lot(cards=2, nodes=(2,)))
    old = serials(lease)
    with pytest.raises(Conflict) as caught:
        take_other_cards(lease_id=lease.pk, actor="anna")
    assert code(caught) == "no_capacity"
    assert serials(lease) == old
    assert not AuditEntry.objects.exists()


def test_open_and_ended_leases_do_not_move(provider: FaultyProvider) -> None:
    lease = make_lease(make_lot(cards=2, nodes=(2, 2)))
    advance_lease(lease_id=lease.pk)
    for _state in ("ready", "ending"):
        with pytest.raises(Conflict) as caught:
            take_other_cards(lease_id=lease.pk, actor="anna")
        assert code(caught) == "not_movable"
        if reload(lease).status == "ready":
            end_lease(lease_id=lease.pk, reason="test")


def test_worker_under_way_is_fenced_off(provider: FaultyProvider, wait: Wait) -> None:
    """It reserves the old cards while staff move the lease: nothing of it is recorded, its machine goes."""
    lease = make_lease(make_lot(cards=2, nodes=(2, 2)))
    old = serials(lease)

    def move() -> None:
        take_other_cards(lease_id=lease.pk, actor="anna")

    provider.before["reserve"].append(move)
    assert work_lease(lease_id=lease.pk) is False
    assert reload(lease).status == "reserved"
    assert not work_lease(lease_id=lease.pk), "its call may still be under way"
    wait(CLAIM_SECONDS + 1)
    advance_lease(lease_id=lease.pk)
    assert reload(lease).status == "ready"
    observed = provider.observe(lease.pk)
    assert observed is not None
    assert {card.serial for card in observed.cards}.isdisjoint(old)
    rows = Reservation.objects.filter(hold=lease.hold, status="committed")
    assert {row.card.serial for row in rows} == serials(lease)


def test_prepare_again_skips_the_pause(provider: FaultyProvider) -> None:
    provider.fail("prepare", NO_ANSWER, times=1)
    lease = make_lease(make_lot())
    advance_lease(lease_id=lease.pk)
    assert not work_lease(lease_id=lease.pk)
    prepare_again(lease_id=lease.pk, actor="anna")
    with pytest.raises(Conflict) as caught:
        prepare_again(lease_id=lease.pk, actor="boris")
    assert code(caught) == "already_done"
    advance_lease(lease_id=lease.pk)
    assert reload(lease).status == "ready"
    with pytest.raises(Conflict) as caught:
        prepare_again(lease_id=lease.pk, actor="anna")
    assert code(caught) == "not_preparing"
    assert AuditEntry.objects.filter(action="lease.prepare_again").count() == 1


def test_node_in_maintenance_takes_nothing_new(provider: FaultyProvider) -> None:
    lot = make_lot(cards=2, nodes=(2,))
    lease = make_lease(lot)
    node = Node.objects.get()
    take_out_of_service(node_id=node.pk, actor="anna", reason="new fans")
    with pytest.raises(Conflict) as caught:
        take_out_of_service(node_id=node.pk, actor="boris")
    assert code(caught) == "already_done"
    sweep_leases()
    assert reload(lease).status == "ready", "what runs there goes on"
    end_lease(lease_id=lease.pk, reason="test")
    sweep_leases()
    with pytest.raises(Conflict) as caught:
        make_hold(lot)
    assert code(caught) == "no_capacity"
    put_in_service(node_id=node.pk, actor="anna")
    with pytest.raises(Conflict):
        put_in_service(node_id=node.pk, actor="anna")
    make_hold(lot)
    actions = list(AuditEntry.objects.order_by("pk").values_list("action", "reason"))
    assert actions == [("node.maintenance", "new fans"), ("node.in_service", "")]


def test_stock_never_exceeds_the_cards_owned(provider: FaultyProvider) -> None:
    """S49: end, end again, sweep, and once more: the cards came back once."""
    lot = make_lot(cards=1, nodes=(3,))
    leases = [make_lease(lot) for _number in range(3)]
    sweep_leases()
    for lease in leases:
        end_lease(lease_id=lease.pk, reason="early_end", actor="anna")
        for _again in range(2):
            sweep_leases()
            with pytest.raises(Conflict):
                end_lease(lease_id=lease.pk, reason="early_end", actor="boris")
    later = type(Reservation.objects.all()[0].period)(clock.now(), clock.now() + timedelta(days=3))
    assert free_lots(lot=lot, period=later).lots == Card.objects.count()
    assert Event.objects.filter(name="lease.closed").count() == 3


def test_card_taken_off_sale_comes_back_by_staff(provider: FaultyProvider) -> None:
    lot = make_lot(cards=1, nodes=(1,))
    card = Card.objects.get()
    Card.objects.filter(pk=card.pk).update(in_service=False, note="Acceptance test of l1: missing")
    with pytest.raises(Conflict):
        make_hold(lot)
    put_card_in_service(card_id=card.pk, actor="anna", reason="reseated")
    with pytest.raises(Conflict) as caught:
        put_card_in_service(card_id=card.pk, actor="boris")
    assert code(caught) == "already_done"
    make_hold(lot)
    assert AuditEntry.objects.get(action="card.in_service").before["note"] == "Acceptance test of l1: missing"
