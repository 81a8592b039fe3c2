"""S11, S13, S15: each reminder once for each end, at its moment; after an outage none as if on time."""

import re
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.db import connection, transaction

from core import clock, events, outbox
from core.models import Event, OutgoingMail, SweepRun
from fleet import locks, tasks
from fleet.models import Lease, Reminder
from fleet.services import reminders
from fleet.services.end import end_lease
from fleet.services.reminders import KINDS, due_leases, remind, sweep_reminders
from fleet.services.suspend import resume, suspend
from fleet.services.sweep import sweep_leases
from orders.models import Order
from tests import scenario
from tests.factories.fleet import make_lease, make_lot
from tests.fleet.rows import reload
from tests.shop.states import active

pytestmark = pytest.mark.django_db
NAMES = [kind.name for kind in KINDS]


@pytest.fixture(autouse=True)
def _logins_are_good(no_login: list[str]) -> None:
    """The acceptance test of a lease that is really prepared here."""


def leases(number: int, *, days: int = 7) -> list[Lease]:
    """Open leases whose term begins now."""
    lot = make_lot(cards=1, nodes=(number,))
    moment = clock.now()
    rows = []
    for _number in range(number):
        row = make_lease(lot)
        Lease.objects.filter(pk=row.pk).update(
            status="ready", ready_at=moment, ends_at=moment + timedelta(days=days), next_at=moment
        )
        rows.append(reload(row))
    return rows


def told(lease: Lease) -> list[str]:
    return [
        event.payload["kind"]
        for event in Event.objects.filter(name="lease.reminder", order_ref=lease.order_ref).order_by("pk")
    ]


def before_end(lease: Lease, **left: float) -> None:
    end = reload(lease).ends_at
    assert end is not None
    clock.skip(end - timedelta(**left) - clock.now())


def extend(lease: Lease, days: int) -> Lease:
    """As an extension that was paid and joined."""
    with transaction.atomic():
        row = reload(lease)
        assert row.ends_at is not None
        ends_at = row.ends_at + timedelta(days=days)
        Lease.objects.filter(pk=row.pk).update(ends_at=ends_at)
        events.emit(
            name="lease.extended",
            subject=f"lease:{row.pk}",
            order_ref=row.order_ref,
            payload={"ends_at": ends_at.isoformat()},
        )
    return reload(lease)


@pytest.mark.parametrize(
    ("days", "expected"),
    [(3, ["24h", "6h", "1h"]), (7, ["3d", "24h", "6h", "1h"]), (30, NAMES)],
)
def test_those_shorter_than_the_term_come_each_at_its_moment(days: int, expected: list[str]) -> None:
    (lease,) = leases(1, days=days)
    sweep_reminders()
    assert told(lease) == []
    for kind in KINDS:
        if kind.name not in expected:
            continue
        before_end(lease, seconds=kind.before.total_seconds() + 30)
        sweep_reminders()
        assert kind.name not in told(lease)
        clock.skip(timedelta(seconds=31))
        for _time in range(3):
            sweep_reminders()
    assert told(lease) == expected
    rows = Reminder.objects.filter(lease=lease)
    assert set(rows.filter(told_at=None).values_list("kind", flat=True)) == set(NAMES) - set(expected)
    clock.skip(timedelta(hours=2))
    sweep_reminders()
    assert told(lease) == expected


def test_s13_five_deliveries_and_two_beats_tell_once(shop_order: Order) -> None:
    lease = active(shop_order)
    before_end(lease, hours=23, minutes=59)
    for _beat in range(2):
        for _delivery in range(5):
            remind(lease_id=lease.pk)
            tasks.sweep_reminders()
    outbox.drain()
    outbox.drain()
    assert told(lease) == ["24h"]
    assert OutgoingMail.objects.filter(key__contains=":reminder-24h-").count() == 1


@pytest.mark.django_db(transaction=True)
def test_s13_two_at_once_tell_once() -> None:
    (lease,) = leases(1)
    before_end(lease, hours=23)
    assert sorted(_together(lambda: remind(lease_id=lease.pk))) == ["", "24h"]
    assert told(lease) == ["24h"]


@pytest.mark.django_db(transaction=True)
def test_control_without_the_lock_only_the_constraint_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both look before either has written: one breaks at the constraint, which is why the lock comes first."""
    both_have_looked = threading.Barrier(2)
    choose = reminders._worth_telling

    def wait(lease: Lease, *rest: object) -> object:
        both_have_looked.wait(timeout=10)
        return choose(lease, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(locks, "lease_for_update", lambda pk: Lease.objects.get(pk=pk))
    monkeypatch.setattr(reminders, "_worth_telling", wait)
    (lease,) = leases(1)
    before_end(lease, hours=23)
    assert sorted(_together(lambda: remind(lease_id=lease.pk))) == ["24h", "IntegrityError"]
    assert told(lease) == ["24h"]


def _together(act: Callable[[], str]) -> list[str]:
    barrier = threading.Barrier(2)
    said: list[str] = []

    def run() -> None:
        barrier.wait()
        try:
            said.append(act())
        except Exception as error:
            said.append(type(error).__name__)
        finally:
            connection.close()

    threads = [threading.Thread(target=run) for _number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=20)
    return said


def test_s15_twelve_leases_end_while_nothing_runs_for_five_hours() -> None:
    rows = leases(12)
    for left in (71, 23.9, 5.9):
        before_end(rows[0], hours=left)
        sweep_reminders()
    # Five hours and a half without a beat: one lease goes on for half an hour, the others are over meanwhile.
    late = extend(rows[0], days=1)
    clock.skip(timedelta(hours=6))
    sweep_reminders()
    sweep_leases()
    for row in rows[1:]:
        assert told(row) == ["3d", "24h", "6h"], "the last hour was never told as if it were ahead"
        assert reload(row).status == "closed"
        assert Event.objects.filter(name="lease.ending", order_ref=row.order_ref).count() == 1
    assert reload(late).status == "ready"
    for _time in range(3):
        sweep_reminders()
        sweep_leases()
    assert Event.objects.filter(name="lease.ending").count() == 11


@pytest.mark.parametrize(
    ("left", "expected"),
    [
        # 24 h missed by 5 h: told with the time that is truly left. By 10 h: the one at 6 h is nearer.
        ({"hours": 19}, ["24h"]),
        ({"hours": 14}, []),
        ({"hours": 4}, ["6h"]),
        ({"hours": 3}, []),
        ({"minutes": 20}, ["1h"]),
        ({"minutes": 9}, []),
    ],
)
def test_s15_after_an_outage_the_nearest_is_told_or_none(left: dict[str, float], expected: list[str]) -> None:
    (lease,) = leases(1, days=3)
    before_end(lease, **left)
    for _time in range(2):
        sweep_reminders()
    assert told(lease) == expected
    assert Reminder.objects.filter(lease=lease, told_at=None).exists()
    assert due_leases() == []


def test_s15_the_mail_names_the_end_and_the_time_that_is_truly_left(shop_order: Order) -> None:
    lease = active(shop_order)
    before_end(lease, hours=19)
    sweep_reminders()
    outbox.drain()
    (mail,) = OutgoingMail.objects.filter(key__contains=":reminder-")
    end = reload(lease).ends_at
    assert end is not None
    assert f"{end:%H:%M} UTC" in mail.subject
    assert f"{end:%H:%M} UTC" in mail.text
    assert "tomorrow" not in mail.text.lower()
    assert re.search("(19|18)\u00a0h( 59\u00a0min)? were left", mail.text)


def test_s15_an_event_that_waited_past_the_end_mails_nothing(shop_order: Order) -> None:
    """The sweep told it in time; then the worker was away until the term was over."""
    lease = active(shop_order)
    before_end(lease, minutes=55)
    sweep_reminders()
    before_end(lease, minutes=-1)
    outbox.drain()
    assert told(lease) == ["1h"]
    assert not OutgoingMail.objects.filter(key__contains=":reminder-").exists()


def test_s15_a_restart_every_five_minutes_delays_nothing(settings: object) -> None:
    """Nothing is kept between two sweeps but rows: a beat that starts anew every five minutes for a day misses none."""
    (lease,) = leases(1, days=3)
    assert lease.ends_at is not None
    before_end(lease, hours=25)
    moments: dict[str, timedelta] = {}
    for _minute in range(0, 25 * 60, 5):
        clock.skip(timedelta(minutes=5))
        sweep_reminders()
        for name in told(lease):
            moments.setdefault(name, lease.ends_at - clock.now())
    assert list(moments) == ["24h", "6h", "1h"]
    for kind in KINDS[2:]:
        assert timedelta(0) <= kind.before - moments[kind.name] <= timedelta(minutes=6)


def test_s15_staff_see_when_the_sweep_ran_last() -> None:
    tasks.sweep_reminders()
    assert SweepRun.objects.get(name="reminders").last_finished_at is not None


@pytest.mark.parametrize(
    ("starts_at", "days", "local_end"),
    [
        # Both clock changes of Berlin in 2027: a day is 24 hours, so the local end moves by an hour.
        (datetime(2027, 3, 25, 11, tzinfo=UTC), 7, datetime(2027, 4, 1, 11, tzinfo=UTC)),
        (datetime(2027, 10, 29, 10, tzinfo=UTC), 3, datetime(2027, 11, 1, 10, tzinfo=UTC)),
    ],
)
def test_s11_moments_are_hours_before_the_end_over_a_clock_change(
    starts_at: datetime, days: int, local_end: datetime
) -> None:
    with time_machine.travel(starts_at, tick=False) as machine:
        (lease,) = leases(1, days=days)
        assert lease.ends_at == local_end
        machine.move_to(local_end - timedelta(hours=24, seconds=1))
        sweep_reminders()
        assert "24h" not in told(lease)
        machine.move_to(local_end - timedelta(hours=24))
        sweep_reminders()
        assert told(lease)[-1] == "24h"
        machine.move_to(local_end - timedelta(seconds=1))
        sweep_leases()
        assert reload(lease).status == "ready"
        machine.move_to(local_end)
        sweep_leases()
        assert reload(lease).status != "ready"


def test_an_extension_makes_new_ones_for_the_new_end() -> None:
    (lease,) = leases(1, days=3)
    before_end(lease, hours=20)
    sweep_reminders()
    assert told(lease) == ["24h"]
    later = extend(lease, 3)
    sweep_reminders()
    assert told(lease) == ["24h"], "3 d 20 h are left: no moment of the new end has come"
    before_end(later, hours=71)
    sweep_reminders()
    before_end(later, hours=23)
    sweep_reminders()
    assert told(lease) == ["24h", "3d", "24h"]


def test_an_extension_that_leaves_less_than_a_moment_does_not_tell_it() -> None:
    """5 days are left after it: the moment of 7 d lies before the extension was made."""
    (lease,) = leases(1, days=7)
    before_end(lease, days=2)
    sweep_reminders()
    told_before = told(lease)
    later = extend(lease, 3)
    sweep_reminders()
    assert told(lease) == told_before
    assert Reminder.objects.filter(lease=lease, kind="7d").latest("ends_at").told_at is None
    assert later.reminders.filter(told_at=None).exists()


def test_a_reminder_of_an_end_that_moved_is_not_mailed(shop_order: Order) -> None:
    lease = active(shop_order)
    before_end(lease, hours=23)
    sweep_reminders()
    extend(lease, 3)
    outbox.drain()
    assert not OutgoingMail.objects.filter(key__contains=":reminder-").exists()


def test_an_ended_or_suspended_lease_is_not_reminded() -> None:
    ended, paused = leases(2)
    end_lease(lease_id=ended.pk, reason="early_end")
    suspend(order_ref=paused.order_ref)
    before_end(paused, hours=23)
    sweep_reminders()
    assert remind(lease_id=ended.pk) == remind(lease_id=paused.pk) == ""
    assert told(ended) == told(paused) == []
    resume(order_ref=paused.order_ref)
    sweep_reminders()
    assert told(paused) == ["24h"]


def test_one_broken_lease_holds_up_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    bad, good = leases(2)
    before_end(good, hours=23)
    choose = reminders._worth_telling

    def broken(lease: Lease, *rest: object) -> object:
        if lease.pk == bad.pk:
            raise RuntimeError("broken")
        return choose(lease, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(reminders, "_worth_telling", broken)
    sweep_reminders()
    assert (told(bad), told(good)) == ([], ["24h"])


def test_the_export_window_is_mailed_once_with_the_last_safe_start(shop_order: Order) -> None:
    lease = active(shop_order)
    Lease.objects.filter(pk=lease.pk).update(export_bytes=9 * 10**11, export_rate_bytes_s=250 * 10**6)
    before_end(lease, hours=23, minutes=59)
    for _time in range(2):
        sweep_leases()
        outbox.drain()
    (mail,) = OutgoingMail.objects.filter(key__contains=":export-")
    end = reload(lease).ends_at
    assert end is not None
    # 900 GB at 250 MB/s take an hour; half an hour more is kept.
    assert f"{end - timedelta(minutes=90):%H:%M} UTC at the latest" in mail.text
    assert "900 GB at 250 MB/s take 1\u00a0h" in mail.text


def test_the_export_window_of_an_end_reached_in_one_leap_is_not_mailed(shop_order: Order) -> None:
    lease = active(shop_order)
    before_end(lease, hours=-1)
    sweep_leases()
    outbox.drain()
    assert Event.objects.filter(name="lease.export_window", order_ref=lease.order_ref).exists()
    assert not OutgoingMail.objects.filter(key__contains=":export-").exists()


@pytest.fixture
def shop_order() -> Order:
    scenario.open_shop()
    order = scenario.order()
    scenario.pay(order)
    return order
