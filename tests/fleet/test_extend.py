"""Extensions on the lease: held behind it, joined when the engine agrees, let go, undone, taken along in a move."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest
from django.db import transaction

from core import clock
from core.errors import Conflict, TooMany
from core.models import Decision, Event
from fleet import extensions, locks
from fleet.limits import HoldLimits
from fleet.models import Card, Hold, Lease, MaintenanceWindow, Node, Reservation, SimulatedMachine
from fleet.providers.base import ProviderRefused, ProviderUnavailable
from fleet.selectors import current_reservations
from fleet.services.end import end_lease
from fleet.services.extend import (
    ExtensionRequest,
    commit_extension,
    drop_extension,
    hold_extension,
    move_extension_holds,
    undo_extension,
)
from fleet.services.hold import hold
from fleet.services.move_release import move_release
from fleet.services.suspend import resume, suspend
from fleet.services.sweep import advance_lease, due_leases, release_overdue_holds, sweep_leases
from tests.factories.fleet import (
    NO_LIMITS,
    TERM_SECONDS,
    hold_request,
    make_lease,
    make_lot,
    make_node,
)
from tests.fleet.doubles import FaultyProvider
from tests.fleet.rows import events, reload

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_login")]
Wait = Callable[[float], None]
TERM = timedelta(seconds=TERM_SECONDS)
TURNAROUND = timedelta(minutes=30)
_numbers = count(1)


@pytest.fixture
def lease(provider: FaultyProvider) -> Lease:
    """An open lease on the whole fleet."""
    row = make_lease(make_lot(cards=2, nodes=(2,)))
    advance_lease(lease_id=row.pk)
    return reload(row)


def held(lease: Lease, *, days: int = 3, limits: HoldLimits = NO_LIMITS, owner: str = "buyer") -> Hold:
    with transaction.atomic():
        return hold_extension(
            ExtensionRequest(
                ref=f"extension-{next(_numbers)}",
                lease_ref=lease.order_ref,
                owner=owner,
                prefix="10.0.0.0/24",
                term_seconds=days * 86_400,
                hold_for=timedelta(hours=1),
                limits=limits,
            )
        )


def paid(lease: Lease, *, days: int = 3) -> Hold:
    row = held(lease, days=days)
    with transaction.atomic():
        assert commit_extension(ref=row.ref)
    return row


def joined(lease: Lease, *, days: int = 3) -> Hold:
    row = paid(lease, days=days)
    advance_lease(lease_id=lease.pk)
    assert not extensions.open_extensions(lease.pk).exists()
    return row


def end_of(lease: Lease) -> datetime:
    ends_at = reload(lease).ends_at
    assert ends_at is not None
    return ends_at


def spans(row: Hold) -> set[tuple[str, datetime, datetime]]:
    return {(r.status, r.period.lower, r.period.upper) for r in row.reservations.all()}


def refused(lease: Lease, *, days: int = 3) -> str:
    with pytest.raises(Conflict) as error:
        held(lease, days=days)
    return error.value.code


def test_the_hold_stands_behind_the_lease_on_its_own_cards(lease: Lease) -> None:
    old = end_of(lease)
    row = held(lease, days=7)
    assert spans(row) == {("held", old + TURNAROUND, old + timedelta(days=7) + TURNAROUND)}
    assert {r.card_id for r in row.reservations.all()} == {
        r.card_id for r in current_reservations(lease.hold_id)
    }
    assert (row.extends_id, row.starts_at, row.expires_at) == (
        lease.pk,
        old,
        row.placed_at + timedelta(hours=1),
    )
    assert row.release_at == row.expires_at + timedelta(hours=2)
    assert end_of(lease) == old


def test_paid_and_joined_moves_the_end_and_the_reservations(lease: Lease, provider: FaultyProvider) -> None:
    old = end_of(lease)
    row = paid(lease, days=7)
    assert lease.pk in due_leases()
    sweep_leases()
    assert end_of(lease) == old + timedelta(days=7)
    assert {r.period.upper for r in current_reservations(lease.hold_id)} == {
        old + timedelta(days=7) + TURNAROUND
    }
    assert {r.status for r in row.reservations.all()} == {"released"}
    machine = SimulatedMachine.objects.get(lease_id=lease.pk)
    assert machine.ends_at == old + timedelta(days=7) + TURNAROUND
    told = Event.objects.get(name="lease.extended")
    assert (told.order_ref, told.payload) == (
        lease.order_ref,
        {"ends_at": (old + timedelta(days=7)).isoformat(), "order": row.ref},
    )
    assert lease.pk not in due_leases()
    clock.skip(TERM + timedelta(hours=1))
    sweep_leases()
    assert reload(lease).status == "ready"
    clock.skip(timedelta(days=7))
    sweep_leases()
    assert reload(lease).status == "closed"


def test_several_extensions_one_after_another(lease: Lease) -> None:
    old = end_of(lease)
    for number in (1, 2, 3):
        joined(lease, days=3)
        assert end_of(lease) == old + number * timedelta(days=3)
    assert len(current_reservations(lease.hold_id)) == 2


def test_another_waits_until_the_paid_one_is_joined(lease: Lease) -> None:
    paid(lease)
    assert refused(lease) == "not_extendable"


@pytest.mark.parametrize(
    ("status", "code"),
    [
        ("reserved", "not_extendable"),
        ("preparing", "not_extendable"),
        ("testing", "not_extendable"),
        ("suspended", "not_extendable"),
        ("ending", "not_extendable"),
        ("wiping", "lease_over"),
        ("closed", "lease_over"),
        ("failed", "lease_over"),
    ],
)
def test_only_an_open_lease_is_extended(lease: Lease, status: str, code: str) -> None:
    Lease.objects.filter(pk=lease.pk).update(status=status)
    assert refused(lease) == code


def test_a_lease_that_moves_is_not_extended(lease: Lease) -> None:
    Lease.objects.filter(pk=lease.pk).update(status="degraded", moving_at=clock.now())
    assert refused(lease) == "not_extendable"
    Lease.objects.filter(pk=lease.pk).update(moving_at=None)
    held(lease)


def test_placed_an_hour_before_the_end_at_the_latest(lease: Lease) -> None:
    clock.skip(TERM - timedelta(minutes=59))
    assert refused(lease) == "too_late_to_extend"
    clock.skip(timedelta(hours=1))
    assert refused(lease) == "lease_over"


def test_a_hold_that_is_placed_late_ends_with_the_old_end(lease: Lease) -> None:
    clock.skip(TERM - timedelta(hours=1, minutes=2))
    with transaction.atomic():
        row = hold_extension(
            ExtensionRequest(
                ref="late",
                lease_ref=lease.order_ref,
                owner="buyer",
                prefix="",
                term_seconds=TERM_SECONDS,
                hold_for=timedelta(hours=2),
                limits=NO_LIMITS,
            )
        )
    assert (row.expires_at, row.release_at) == (end_of(lease), end_of(lease))


def test_never_over_a_follower_held_or_paid(lease: Lease) -> None:
    old = end_of(lease)
    start = (old + timedelta(hours=5)).replace(minute=0, second=0, microsecond=0)
    with transaction.atomic():
        follower = hold(hold_request(lease.hold.lot, starts_at=start))
    assert refused(lease) == "no_capacity"
    Hold.objects.filter(pk=follower.pk).update(release_at=follower.placed_at)
    row = held(lease)
    assert {r.status for r in follower.reservations.all()} == {"released"}
    assert {r.status for r in row.reservations.all()} == {"held"}


def test_never_over_a_maintenance_window(lease: Lease) -> None:
    old = end_of(lease)
    window = MaintenanceWindow.objects.create(
        node=Node.objects.get(),
        period=(old + timedelta(days=4), old + timedelta(days=5)),
        reason="fans",
        made_by="ops",
        made_at=clock.now(),
    )
    held(lease, days=3)
    Reservation.objects.filter(hold__extends=lease).update(status="released")
    assert refused(lease, days=7) == "no_capacity"
    assert extensions.room_until(lease, clock.now()) == old + timedelta(days=4)
    window.cancelled_at = clock.now()
    window.save()
    held(lease, days=7)


def test_never_on_cards_that_staff_took_out_of_service(lease: Lease) -> None:
    Card.objects.filter(reservations__hold=lease.hold).update(in_service=False)
    assert refused(lease) == "no_capacity"


def test_limits_of_holds_count_extensions_too(lease: Lease) -> None:
    tight = HoldLimits(orders_per_owner=1, cards_per_owner=16, orders_per_prefix=4)
    with transaction.atomic():
        hold(hold_request(make_lot(cards=1, nodes=(1,)), owner="buyer"))
    with pytest.raises(TooMany) as error:
        held(lease, limits=tight)
    assert error.value.code == "too_many_holds"


def test_unpaid_time_is_let_go_and_nothing_else_changes(lease: Lease) -> None:
    row, old = held(lease), end_of(lease)
    clock.skip(timedelta(hours=4))
    assert release_overdue_holds() == 1
    assert {r.status for r in row.reservations.all()} == {"released"}
    assert reload(lease).status == "ready"
    assert end_of(lease) == old
    with transaction.atomic():
        assert not commit_extension(ref=row.ref)


def test_seen_money_keeps_the_time_but_never_beyond_the_old_end(lease: Lease) -> None:
    row = held(lease)
    before = spans(row)
    with transaction.atomic():
        assert move_release(ref=row.ref, until=clock.now() + timedelta(days=30)) is not None
    row.refresh_from_db()
    assert row.release_at == min(end_of(lease), row.expires_at + timedelta(days=1))
    assert spans(row) == before


def test_paid_after_the_old_end_is_never_joined(lease: Lease) -> None:
    row = held(lease)
    clock.skip(TERM + timedelta(seconds=1))
    with transaction.atomic():
        assert not commit_extension(ref=row.ref)
    assert {r.status for r in row.reservations.all()} == {"released"}


def test_a_refusing_engine_is_asked_again_and_staff_hear_of_it(
    lease: Lease, provider: FaultyProvider, wait: Wait
) -> None:
    old = end_of(lease)
    paid(lease)
    provider.fail("extend", ProviderRefused("overlaps"), times=3)
    for _ in range(3):
        advance_lease(lease_id=lease.pk)
        wait(60)
    assert end_of(lease) == old
    decision = Decision.objects.get(kind="extension_failing")
    assert decision.facts["last_error"] == "overlaps"
    advance_lease(lease_id=lease.pk)
    assert end_of(lease) == old + TERM
    decision.refresh_from_db()
    assert decision.closed_at is not None


def test_s06_an_engine_that_says_nothing_after_it_acted_is_asked_again(
    lease: Lease, provider: FaultyProvider, wait: Wait
) -> None:
    old = end_of(lease)
    paid(lease)
    provider.fail("extend", ProviderUnavailable("no answer"), after_effect=True)
    advance_lease(lease_id=lease.pk)
    assert end_of(lease) == old
    wait(60)
    advance_lease(lease_id=lease.pk)
    assert end_of(lease) == old + TERM
    assert events(lease).count("lease.extended") == 1


def test_without_a_yes_the_old_end_stands(lease: Lease, provider: FaultyProvider, wait: Wait) -> None:
    row, old = paid(lease), end_of(lease)
    provider.fail("extend", ProviderRefused("overlaps"), times=99)
    sweep_leases()
    clock.skip(TERM + timedelta(minutes=1))
    wait(3600)
    sweep_leases()
    done = reload(lease)
    assert (done.status, done.ends_at, done.end_reason) == ("closed", old, "term_over")
    assert {r.status for r in row.reservations.all()} == {"released"}
    row.refresh_from_db()
    assert row.released_at is not None
    assert "lease.extended" not in events(lease)


def test_a_yes_that_comes_after_the_old_end_joins_nothing(lease: Lease, provider: FaultyProvider) -> None:
    row, old = paid(lease), end_of(lease)
    provider.after["extend"].append(lambda: clock.skip(TERM))
    advance_lease(lease_id=lease.pk)
    done = reload(lease)
    assert (done.ends_at, done.status) == (old, "closed")
    assert {r.status for r in row.reservations.all()} == {"released"}
    assert "lease.extended" not in events(lease)


def test_dropped_while_the_engine_answers_the_engine_is_told_the_old_end_again(
    lease: Lease, provider: FaultyProvider
) -> None:
    row, old = paid(lease), end_of(lease)

    def cancel_meanwhile() -> None:
        with transaction.atomic():
            assert drop_extension(ref=row.ref)

    provider.after["extend"].append(cancel_meanwhile)
    sweep_leases()
    sweep_leases()
    assert end_of(lease) == old
    assert {r.status for r in row.reservations.all()} == {"released"}
    assert SimulatedMachine.objects.get(lease_id=lease.pk).ends_at == old + TURNAROUND


def test_dropped_before_it_is_joined_and_not_after(lease: Lease) -> None:
    unpaid = held(lease)
    with transaction.atomic():
        assert drop_extension(ref=unpaid.ref)
        assert drop_extension(ref=unpaid.ref)
    late = paid(lease)
    with transaction.atomic():
        assert drop_extension(ref=late.ref)
    done = joined(lease)
    with transaction.atomic():
        assert not drop_extension(ref=done.ref)
    assert end_of(lease) == lease.ends_at + TERM  # type: ignore[operator]


def test_suspended_waits_and_joins_when_the_money_is_back(lease: Lease) -> None:
    old = end_of(lease)
    paid(lease)
    suspend(order_ref=lease.order_ref)
    sweep_leases()
    assert end_of(lease) == old
    resume(order_ref=lease.order_ref)
    sweep_leases()
    assert end_of(lease) == old + TERM


def test_undone_before_it_begins_the_old_end_stands_and_the_engine_hears(lease: Lease) -> None:
    old = end_of(lease)
    row = joined(lease)
    with transaction.atomic():
        assert undo_extension(ref=row.ref)
        assert undo_extension(ref=row.ref)
    assert end_of(lease) == old
    assert {r.period.upper for r in current_reservations(lease.hold_id)} == {old + TURNAROUND}
    assert events(lease).count("lease.shortened") == 1
    sweep_leases()
    assert SimulatedMachine.objects.get(lease_id=lease.pk).ends_at == old + TURNAROUND


def test_not_undone_once_it_runs_or_another_stands_behind_it(lease: Lease) -> None:
    first = joined(lease)
    second = joined(lease)
    with transaction.atomic():
        assert not undo_extension(ref=first.ref)
    with transaction.atomic():
        assert undo_extension(ref=second.ref)
    clock.skip(TERM + timedelta(minutes=1))
    with transaction.atomic():
        assert not undo_extension(ref=first.ref)
    assert reload(lease).status == "ready"


def test_an_early_end_lets_all_open_extensions_go(lease: Lease) -> None:
    row = paid(lease)
    end_lease(lease_id=lease.pk, reason="early_end")
    assert {r.status for r in row.reservations.all()} == {"released"}
    sweep_leases()
    assert reload(lease).status == "closed"
    assert not Reservation.objects.exclude(status="released").exists()


def test_an_extension_moves_along_or_the_move_is_not_made(lease: Lease) -> None:
    row = paid(lease)
    node = make_node(accelerator=lease.hold.lot.accelerator, cards=2)
    old = [r.card_id for r in current_reservations(lease.hold_id)]
    new = list(Card.objects.filter(node=node).order_by("pk").values_list("pk", flat=True))
    before = spans(row)
    with transaction.atomic():
        locked = locks.lease_for_update(lease.pk)
        assert move_extension_holds(locked, dict(zip(old, new, strict=True)))
    living = row.reservations.exclude(status="released")
    assert {r.card_id for r in living} == set(new)
    assert {(r.status, r.period.lower, r.period.upper) for r in living} == before
    start = (end_of(lease) + timedelta(hours=5)).replace(minute=0, second=0, microsecond=0)
    with transaction.atomic():
        # Somebody books the cards that became free behind the lease: there is no way back.
        hold(hold_request(lease.hold.lot, starts_at=start))
    with transaction.atomic():
        locked = locks.lease_for_update(lease.pk)
        assert not move_extension_holds(locked, dict(zip(new, old, strict=True)))
    assert {r.card_id for r in row.reservations.exclude(status="released")} == set(new)


@pytest.mark.parametrize(
    ("begins", "days", "ends"),
    [
        (datetime(2027, 3, 25, 11, tzinfo=UTC), 7, datetime(2027, 4, 1, 11, tzinfo=UTC)),
        (datetime(2027, 10, 29, 10, tzinfo=UTC), 3, datetime(2027, 11, 1, 10, tzinfo=UTC)),
    ],
)
def test_s11_a_day_is_24_hours_over_a_change_of_the_clocks(
    lease: Lease, begins: datetime, days: int, ends: datetime
) -> None:
    assert extensions.end_after(begins, days * 86_400) == ends
    old = end_of(lease)
    clock.skip(begins - clock.now() - timedelta(days=1))
    Lease.objects.filter(pk=lease.pk).update(ends_at=begins)
    for row in current_reservations(lease.hold_id):
        row.period = (row.period.lower, begins + TURNAROUND)
        row.save()
    assert old < begins
    joined(lease, days=days)
    assert end_of(lease) == ends
    assert {r.period.upper for r in current_reservations(lease.hold_id)} == {ends + TURNAROUND}
