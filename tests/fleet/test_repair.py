"""A degraded lease moves to whole cards: what is kept, what is lost, what it costs, and who may ask for it twice."""

from collections.abc import Callable
from datetime import timedelta
from threading import Barrier
from typing import Any

import pytest
from django.db import transaction

from core import clock, outbox
from core.errors import Conflict
from core.models import AuditEntry, OutgoingMail
from fleet import locks
from fleet.gateway.logins import find_login
from fleet.models import AccessKey, Card, Lease, Outage, Reservation, SimulatedMachine
from fleet.providers.base import ProviderRefused, ProviderUnavailable
from fleet.providers.faults import Kind
from fleet.providers.simulated import SimulatedProvider
from fleet.selectors import access_of_order, is_open
from fleet.services import repair
from fleet.services.extend import ExtensionRequest, commit_extension, hold_extension
from fleet.services.repair import card_is_sound, move_by_decision, move_degraded, sound_by_decision
from fleet.services.suspend import resume, suspend
from fleet.services.sweep import advance_lease, sweep_leases
from fleet.services.watch_health import watch_health
from fleet.services.work import work_lease
from tests import scenario
from tests.factories.fleet import NO_LIMITS, TERM_SECONDS, make_hold
from tests.fleet.doubles import FaultyProvider
from tests.fleet.open_leases import decisions, drop_card, fault, nodes, open_lease, serials
from tests.fleet.rows import events, reload
from tests.races import at_once, own_connections

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_login")]
Wait = Callable[[float], None]


def degraded(**fleet: Any) -> Lease:
    lease = open_lease(**fleet)
    drop_card(lease)
    watch_health()
    found = reload(lease)
    assert found.status == "degraded"
    return found


def test_it_moves_to_another_node_and_is_ready_again(provider: FaultyProvider, no_login: list[str]) -> None:
    lease = degraded(nodes=(4, 4))
    before = nodes(lease)
    no_login.clear()
    clock.skip(timedelta(minutes=5))
    move_degraded(order_ref=lease.order_ref, actor="buyer")
    moving = reload(lease)
    assert (moving.status, moving.ends_at) == ("degraded", lease.ends_at)
    assert moving.moving_at is not None
    assert not is_open(moving, clock.now())
    assert access_of_order(lease.order_ref) is None
    assert nodes(lease).isdisjoint(before), "another node comes first"
    provider.calls.clear()
    clock.skip(timedelta(minutes=4))
    seen = []
    while work_lease(lease_id=lease.pk):
        seen.append(reload(lease).status)
    assert seen == ["degraded"] * 4 + ["ready"]
    assert [call for call in provider.calls if call != "health"] == [
        "end",
        "wipe",
        "reserve",
        "prepare",
        "verify",
        "open_access",
        "members",
    ]
    row = reload(lease)
    assert (row.moving_at, row.ready_at, row.ends_at) == (None, lease.ready_at, lease.ends_at)
    assert no_login == [lease.username], "a login is part of the test again"
    assert access_of_order(lease.order_ref) is not None
    machine = SimulatedMachine.objects.get(lease_id=lease.pk)
    assert machine.node_names == sorted(nodes(lease))
    assert (row.applied_version, machine.state) == (row.wanted_version, "open")
    assert events(lease)[-3:] == ["lease.degraded", "lease.moved", "lease.repaired"]
    left = Reservation.objects.filter(hold=lease.hold, left_at__isnull=False)
    assert {r.status for r in left} == {"released"}
    assert Reservation.objects.filter(hold=lease.hold, status="committed").count() == 2
    assert not decisions("lease_degraded")


def test_the_move_is_an_outage_of_all_cards() -> None:
    lease = degraded()
    struck = serials(lease)[0]
    clock.skip(timedelta(minutes=5))
    move_degraded(order_ref=lease.order_ref, actor="buyer")
    clock.skip(timedelta(minutes=4))
    advance_lease(lease_id=lease.pk)
    rows = list(Outage.objects.order_by("pk"))
    assert [(o.cause, o.ended_at is not None) for o in rows] == [
        ("card", True),
        ("moving", True),
        ("moving", True),
    ]
    assert rows[0].card.serial == struck
    assert rows[0].ended_at == rows[1].began_at
    assert {o.card.serial for o in rows[1:]} == set(serials(lease))
    assert [o.minutes for o in rows] == [6, 5, 5]
    assert not Card.objects.get(serial=struck).healthy, "the card that dropped waits for a person"


def test_old_cards_are_off_sale_until_they_are_wiped(provider: FaultyProvider, wait: Wait) -> None:
    """S10 in the middle of a term: another buyer gets no disk that was not wiped."""
    lease = degraded(nodes=(2, 2))
    lot = lease.hold.lot
    Card.objects.update(healthy=True)
    provider.fail("wipe", ProviderUnavailable("no answer"), times=2)
    # The first node is left, the second is taken: nothing is free before the wipe.
    Card.objects.filter(serial=serials(lease)[0]).update(healthy=False)
    move_degraded(order_ref=lease.order_ref, actor="buyer")
    Card.objects.update(healthy=True)
    for _try in range(2):
        sweep_leases()
        with pytest.raises(Conflict, match="no_capacity"):
            make_hold(lot)
        assert reload(lease).status == "degraded"
        wait(61)
    sweep_leases()
    assert reload(lease).status == "ready"
    assert make_hold(lot).pk


def test_sound_cards_of_its_own_stay_where_nothing_else_is_free() -> None:
    lease = degraded(nodes=(3,))
    kept = serials(lease)[1]
    move_degraded(order_ref=lease.order_ref, actor="buyer")
    advance_lease(lease_id=lease.pk)
    assert reload(lease).status == "ready"
    assert kept in serials(lease)


def test_without_other_cards_it_stays_as_it_is() -> None:
    lease = degraded(nodes=(2,))
    with pytest.raises(Conflict, match="no_capacity"):
        move_degraded(order_ref=lease.order_ref, actor="buyer")
    row = reload(lease)
    assert (row.status, row.moving_at) == ("degraded", None)
    assert access_of_order(lease.order_ref) is not None
    assert "lease.moved" not in events(lease)
    assert Outage.objects.filter(cause="moving").count() == 0


def test_a_hold_that_nobody_paid_in_time_does_not_stand_in_its_way() -> None:
    """The sweep lets it go when the chains were read; a buyer with a broken card does not wait for that."""
    lease = degraded(nodes=(2, 2))
    before, overdue = nodes(lease), make_hold(lease.hold.lot)
    with pytest.raises(Conflict, match="no_capacity"):
        move_degraded(order_ref=lease.order_ref, actor="buyer")
    clock.skip(timedelta(hours=4))
    move_degraded(order_ref=lease.order_ref, actor="buyer")
    assert nodes(lease).isdisjoint(before)
    overdue.refresh_from_db()
    assert overdue.released_at is not None


def test_a_node_that_is_away_is_no_target_and_can_be_left(wait: Wait) -> None:
    lease = open_lease(nodes=(2, 2))
    away = next(iter(nodes(lease)))
    fault(Kind.NODE_AWAY, node_name=away)
    watch_health()
    move_degraded(order_ref=lease.order_ref, actor="buyer")
    assert nodes(lease).isdisjoint({away})
    sweep_leases()
    # The old machine stands on a node that does not answer: its wipe cannot be confirmed, so nothing new begins.
    assert reload(lease).status == "degraded"
    assert Reservation.objects.filter(left_at__isnull=False, status="committed").count() == 2


@pytest.mark.parametrize("state", ["ready", "suspended", "ending"])
def test_only_a_degraded_lease_moves(state: str) -> None:
    lease = open_lease()
    if state == "suspended":
        suspend(order_ref=lease.order_ref)
    if state == "ending":
        clock.skip(timedelta(seconds=TERM_SECONDS))
    with pytest.raises(Conflict, match="not_degraded"):
        move_degraded(order_ref=lease.order_ref, actor="buyer")
    with pytest.raises(Conflict, match="not_degraded"):
        move_degraded(order_ref="nobody", actor="buyer")


def test_two_clicks_are_one_move() -> None:
    lease = degraded()
    move_degraded(order_ref=lease.order_ref, actor="buyer")
    with pytest.raises(Conflict, match="already_done"):
        move_degraded(order_ref=lease.order_ref, actor="staff")
    assert events(lease).count("lease.moved") == 1


@pytest.mark.django_db(transaction=True)
def test_clicks_at_the_same_moment_are_one_move() -> None:
    lease = degraded(nodes=(2, 8))
    with own_connections():
        results = at_once(6, lambda _n: move_degraded(order_ref=lease.order_ref, actor="buyer"))
    assert sum(isinstance(result, Lease) for result in results) == 1
    assert {result.code for result in results if isinstance(result, Conflict)} == {"already_done"}
    assert Reservation.objects.filter(hold=lease.hold, left_at=None, status="committed").count() == 2


@pytest.mark.django_db(transaction=True)
def test_control_without_the_lock_the_clicks_move_more_than_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the test above rests on: read without the lock, several clicks find a lease that does not move yet."""
    lease = degraded(nodes=(2, 8))
    everybody_has_read = Barrier(4, timeout=30)
    real = repair._require_movable

    def read_and_wait(row: Lease | None) -> Lease:
        found = real(row)
        everybody_has_read.wait()
        return found

    def unlocked(order_ref: str) -> Lease | None:
        return Lease.objects.select_related("hold").filter(order_ref=order_ref).first()

    monkeypatch.setattr(repair, "_require_movable", read_and_wait)
    monkeypatch.setattr(locks, "lease_of_order_for_update", unlocked)
    with own_connections():
        results = at_once(4, lambda _n: move_degraded(order_ref=lease.order_ref, actor="buyer"))
    assert sum(isinstance(result, Lease) for result in results) > 1


def test_a_worker_in_the_middle_of_a_step_is_fenced_off(provider: FaultyProvider) -> None:
    lease = open_lease()
    drop_card(lease)
    watch_health()
    Lease.objects.filter(pk=lease.pk).update(wanted_version=lease.wanted_version + 1)
    provider.before["members"].append(lambda: move_degraded(order_ref=lease.order_ref, actor="buyer"))
    assert not work_lease(lease_id=lease.pk), "its result belongs to the machine that is left"
    assert reload(lease).applied_version == lease.applied_version


@pytest.mark.parametrize("verb", ["end", "wipe", "reserve", "prepare", "verify", "open_access", "members"])
@pytest.mark.parametrize("after_effect", [False, True])
def test_s06_each_step_of_a_move_is_tried_again(
    provider: FaultyProvider, wait: Wait, verb: str, after_effect: bool
) -> None:
    lease = degraded()
    move_degraded(order_ref=lease.order_ref, actor="buyer")
    provider.fail(verb, ProviderUnavailable("no answer"), times=3, after_effect=after_effect)
    for _try in range(3):
        advance_lease(lease_id=lease.pk)
        assert reload(lease).status == "degraded"
        wait(61)
    assert decisions("lease_failing")
    advance_lease(lease_id=lease.pk)
    assert reload(lease).status == "ready"
    assert not decisions("lease_failing")
    assert SimulatedMachine.objects.count() == 1


def test_cards_that_are_wrong_again_are_left_again() -> None:
    """S03 on the way of a repair: what is delivered is checked there too."""
    lease = degraded(nodes=(2, 2, 2))
    move_degraded(order_ref=lease.order_ref, actor="buyer")
    second = nodes(lease)
    fault(Kind.CARD_UNHEALTHY, card_serial=serials(lease)[1])
    clock.skip(timedelta(minutes=3))
    advance_lease(lease_id=lease.pk)
    row = reload(lease)
    assert row.status == "ready", row.last_error
    assert nodes(lease).isdisjoint(second)
    assert decisions("delivery_mismatch")
    assert events(lease).count("lease.moved") == 2
    assert not Outage.objects.filter(ended_at=None).exists()
    assert Outage.objects.filter(cause="moving").count() == 4


def test_a_machine_that_keeps_being_refused_goes_on_at_another_node(
    provider: FaultyProvider, wait: Wait
) -> None:
    lease = degraded(nodes=(2, 2, 2))
    move_degraded(order_ref=lease.order_ref, actor="buyer")
    second = nodes(lease)
    provider.fail("prepare", ProviderRefused("no"), times=3)
    for _try in range(5):
        advance_lease(lease_id=lease.pk)
        wait(61)
    assert reload(lease).status == "ready"
    assert nodes(lease).isdisjoint(second)


def test_the_term_ends_in_the_middle_of_a_move(provider: FaultyProvider, wait: Wait) -> None:
    lease = degraded()
    move_degraded(order_ref=lease.order_ref, actor="buyer")
    provider.fail("prepare", ProviderUnavailable("no answer"))
    advance_lease(lease_id=lease.pk)
    clock.skip(timedelta(seconds=TERM_SECONDS))
    wait(61)
    sweep_leases()
    row = reload(lease)
    assert (row.status, row.end_reason, row.moving_at) == ("closed", "term_over", None)
    assert {o.ended_at for o in Outage.objects.filter(cause="moving")} == {row.ends_at}
    assert SimulatedProvider().living() == ()
    assert not Reservation.objects.filter(status="committed").exists()


def test_a_suspension_interrupts_a_move_and_does_not_open_a_machine_that_is_not_there() -> None:
    lease = degraded()
    move_degraded(order_ref=lease.order_ref, actor="buyer")
    suspend(order_ref=lease.order_ref)
    sweep_leases()
    assert reload(lease).status == "suspended"
    clock.skip(timedelta(hours=1))
    resume(order_ref=lease.order_ref)
    row = reload(lease)
    assert row.status == "degraded"
    assert not is_open(row, clock.now())
    sweep_leases()
    row = reload(lease)
    assert (row.status, row.moving_at) == ("ready", None)
    assert not Outage.objects.filter(ended_at=None).exists()
    assert all(o.minutes <= 1 for o in Outage.objects.filter(cause="moving")), "the pause is not ours"


@pytest.mark.django_db(transaction=True)
def test_only_the_test_key_logs_in_while_it_moves() -> None:
    lease = degraded()
    key = lease.keys.get(removed_at=None)
    assert find_login(username=lease.username, fingerprint=key.fingerprint) is not None
    move_degraded(order_ref=lease.order_ref, actor="buyer")
    assert find_login(username=lease.username, fingerprint=key.fingerprint) is None
    test = AccessKey.objects.create(
        lease=lease, purpose="test", algorithm="x", data="x", fingerprint="SHA256:t", added_at=clock.now()
    )
    assert find_login(username=lease.username, fingerprint=test.fingerprint) is not None
    advance_lease(lease_id=lease.pk)
    assert find_login(username=lease.username, fingerprint=test.fingerprint) is None
    assert find_login(username=lease.username, fingerprint=key.fingerprint) is not None


def test_staff_move_it_by_the_decision_once() -> None:
    lease = degraded()
    (decision,) = decisions("lease_degraded")
    move_by_decision(decision=decision, actor="ada", reason="card 0 is dead")
    decision.refresh_from_db()
    assert decision.closed_by == "ada"
    entry = AuditEntry.objects.get(action="lease.move")
    assert (entry.actor, entry.reason) == ("ada", "card 0 is dead")
    with pytest.raises(Conflict, match="already_done"):
        move_by_decision(decision=decision, actor="ada", reason="again")
    advance_lease(lease_id=lease.pk)
    assert reload(lease).status == "ready"


def test_staff_put_a_card_back_once() -> None:
    lease = degraded()
    card = Card.objects.get(healthy=False)
    (decision,) = decisions("card_unsound")
    sound_by_decision(decision=decision, actor="ada", reason="reseated")
    card.refresh_from_db()
    assert card.healthy
    for act in (
        lambda: sound_by_decision(decision=decision, actor="ada", reason="again"),
        lambda: card_is_sound(card_id=card.pk, actor="ada"),
    ):
        with pytest.raises(Conflict, match="already_done"):
            act()
    assert reload(lease).status == "degraded", "that is for the next look to say"


def test_the_buyer_hears_of_the_move_and_of_its_end() -> None:
    scenario.open_shop(b200_nodes=2)
    order = scenario.order()
    scenario.pay(order)
    sweep_leases()
    lease = Lease.objects.get(order_ref=order.public_id)
    drop_card(lease)
    watch_health()
    move_degraded(order_ref=lease.order_ref, actor="buyer")
    sweep_leases()
    outbox.drain()
    mails = OutgoingMail.objects.filter(order_ref=order.public_id)
    moved = mails.get(subject__contains="moves to other cards")
    assert "The local disk starts empty there." in moved.text
    repaired = mails.get(subject__contains="whole again")
    assert "The local disk is empty." in repaired.text
    order.refresh_from_db()
    assert order.status == "active"


def _extend(lease: Lease, ref: str) -> None:
    request = ExtensionRequest(
        ref=ref,
        lease_ref=lease.order_ref,
        owner=ref,
        prefix="",
        term_seconds=TERM_SECONDS,
        hold_for=timedelta(hours=1),
        limits=NO_LIMITS,
    )
    with transaction.atomic():
        hold_extension(request)


def test_an_extension_that_is_not_paid_moves_along_and_can_still_join() -> None:
    lease = degraded()
    _extend(lease, "more")
    move_degraded(order_ref=lease.order_ref, actor="buyer")
    advance_lease(lease_id=lease.pk)
    assert reload(lease).status == "ready"
    with transaction.atomic():
        assert commit_extension(ref="more")
    sweep_leases()
    assert lease.ends_at is not None
    assert reload(lease).ends_at == lease.ends_at + timedelta(seconds=TERM_SECONDS)
    assert set(serials(lease)) == {
        row.card.serial for row in Reservation.objects.filter(hold=lease.hold, status="committed")
    }


def test_it_does_not_move_where_the_extension_has_no_room() -> None:
    """Cards that are free to the end of the term alone would cost the buyer the time that he is buying."""
    lease = degraded(nodes=(2, 2))
    _extend(lease, "more")
    assert lease.ends_at is not None
    make_hold(lease.hold.lot, starts_at=lease.ends_at + timedelta(hours=30))
    with pytest.raises(Conflict, match="no_capacity"):
        move_degraded(order_ref=lease.order_ref, actor="buyer")
    assert reload(lease).moving_at is None
