"""Extension, cancellation, early end and the late buyer's refund against the worker: one of the legal ends, each time.

Each race has a control that reads without locks: then both sides must win, or the race proves nothing.
"""

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest
from django.db import transaction

from core import clock, outbox
from core.errors import Refusal
from core.locks import mark
from core.models import Event
from fleet import locks as fleet_locks
from fleet import providers
from fleet.models import Hold, Lease, Reservation
from fleet.providers.base import ProviderUnavailable
from fleet.services.end_early import end_early
from fleet.services.give_up import give_up_late
from fleet.services.sweep import advance_lease, sweep_leases
from orders import locks as order_locks
from orders.models import Order
from orders.services.cancel import cancel
from tests import races, scenario
from tests.fleet.doubles import FaultyProvider
from tests.terms import active_order, extension, lease_of, take_logins_for_good, work

pytestmark = pytest.mark.django_db(transaction=True)
CLICKS = 8


@pytest.fixture(autouse=True)
def shop(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    take_logins_for_good(monkeypatch)
    scenario.open_shop()
    with races.own_connections():
        yield


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> FaultyProvider:
    double = FaultyProvider()
    monkeypatch.setitem(providers._PROVIDERS, "simulated", lambda: double)
    return double


def meet(
    provider: FaultyProvider,
    verb: str,
    lease: Lease,
    act: Callable[[], object],
    *,
    both_read: threading.Event | None = None,
) -> str:
    """The worker's step and the buyer's act at the same moment; what the buyer heard.

    `both_read` is set when the engine has answered: from then on a control lets nobody write before both have read.
    """
    engine_has_answered = threading.Event()

    def answered() -> None:
        if both_read is not None:
            both_read.set()
        engine_has_answered.set()

    provider.after[verb].append(answered)

    def run(number: int) -> str:
        if number == 0:
            advance_lease(lease_id=lease.pk)
            return "worker"
        assert engine_has_answered.wait(30)
        try:
            act()
        except Refusal as refusal:
            return refusal.code
        return "done"

    worker, buyer = races.at_once(2, run)
    assert worker == "worker", worker
    assert isinstance(buyer, str), buyer
    return buyer


def take_locks_off(monkeypatch: pytest.MonkeyPatch, *, meet_at: str) -> threading.Event:
    """Lease, hold and reservations are read as anybody may read them. Once the answer is set both sides read what
    `meet_at` names before one of them writes."""
    armed, both_have_read, waited = threading.Event(), threading.Barrier(2, timeout=30), threading.local()

    def pause(what: str) -> None:
        if what == meet_at and armed.is_set() and not getattr(waited, "done", False):
            waited.done = True
            both_have_read.wait()

    def by_id(lease_id: int) -> Lease:
        lease = Lease.objects.select_related("hold").get(pk=lease_id)
        pause("lease")
        return mark(lease)

    def by_order(order_ref: str) -> Lease | None:
        lease = Lease.objects.select_related("hold").filter(order_ref=order_ref).first()
        pause("lease")
        return mark(lease) if lease is not None else None

    def hold_by_ref(ref: str) -> Hold | None:
        hold = Hold.objects.filter(ref=ref).first()
        return mark(hold) if hold is not None else None

    def living(hold: Hold) -> list[Reservation]:
        rows = list(Reservation.objects.filter(hold=hold).exclude(status="released").order_by("pk"))
        pause("reservations")
        return [mark(row) for row in rows]

    monkeypatch.setattr(fleet_locks, "lease_for_update", by_id)
    monkeypatch.setattr(fleet_locks, "lease_of_order_for_update", by_order)
    monkeypatch.setattr(fleet_locks, "hold_for_update", hold_by_ref)
    monkeypatch.setattr(fleet_locks, "reservations_for_update", living)
    return armed


def paid_extension() -> tuple[Order, Order, Lease]:
    order = active_order()
    row = extension(order)
    scenario.pay(row)
    return order, row, lease_of(order)


def cancelled(row: Order) -> Callable[[], None]:
    def act() -> None:
        with transaction.atomic():
            cancel(order_id=row.public_id, actor="buyer")

    return act


def test_a_cancellation_and_the_join_have_one_winner(provider: FaultyProvider) -> None:
    order, row, lease = paid_extension()
    heard = meet(provider, "extend", lease, cancelled(row))
    work()
    row.refresh_from_db()
    grown = lease_of(order).ends_at != lease.ends_at
    assert (heard, row.status, grown) in {("done", "cancelled", False), ("already_started", "active", True)}
    assert not Reservation.objects.filter(hold__ref=row.public_id).exclude(status="released").exists()


def test_control_without_locks_it_is_cancelled_and_joined(
    provider: FaultyProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    order, row, lease = paid_extension()
    armed = take_locks_off(monkeypatch, meet_at="reservations")
    heard = meet(provider, "extend", lease, cancelled(row), both_read=armed)
    row.refresh_from_db()
    assert (heard, row.status) == ("done", "cancelled")
    assert lease_of(order).ends_at != lease.ends_at


def test_an_early_end_and_the_join_leave_nothing_off_sale(provider: FaultyProvider) -> None:
    order, row, lease = paid_extension()
    heard = meet(provider, "extend", lease, lambda: end_early(order_ref=order.public_id, actor="buyer"))
    assert heard == "done"
    work()
    work()
    row.refresh_from_db()
    told = list(Event.objects.filter(order_ref=order.public_id).order_by("pk").values_list("name", flat=True))
    joined = "lease.extended" in told
    assert (row.status, joined) in {("ended", True), ("failed", False)}
    assert not joined or told.index("lease.extended") < told.index("lease.ending")
    assert lease_of(order).status == "closed"
    assert not Reservation.objects.exclude(status="released").exists()


def late_order(provider: FaultyProvider) -> tuple[Order, Lease]:
    """Past ready-by, tested, one answer of the engine away from open access."""
    provider.fail("open_access", ProviderUnavailable("no answer"), times=1)
    order = scenario.order()
    scenario.pay(order)
    work()
    lease = lease_of(order)
    assert lease.status == "testing"
    clock.skip(timedelta(hours=2, minutes=1))
    Lease.objects.filter(pk=lease.pk).update(next_at=clock.system_now() + timedelta(hours=1))
    sweep_leases()
    Lease.objects.filter(pk=lease.pk).update(next_at=clock.system_now())
    lease.refresh_from_db()
    assert lease.late_at is not None
    return order, lease


def given_up(order: Order) -> Callable[[], object]:
    return lambda: give_up_late(order_ref=order.public_id, actor="buyer")


def test_the_refund_of_a_late_delivery_and_its_access_have_one_winner(provider: FaultyProvider) -> None:
    order, lease = late_order(provider)
    heard = meet(provider, "members", lease, given_up(order))
    outbox.drain()
    order.refresh_from_db()
    told = set(Event.objects.filter(order_ref=order.public_id).values_list("name", flat=True))
    end = (heard, lease_of(order).status, order.status)
    assert end in {("done", "failed", "failed"), ("already_started", "ready", "active")}
    assert len(told & {"lease.ready", "lease.failed"}) == 1


def test_control_without_locks_access_opens_and_the_money_goes_back(
    provider: FaultyProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    order, lease = late_order(provider)
    armed = take_locks_off(monkeypatch, meet_at="lease")
    heard = meet(provider, "members", lease, given_up(order), both_read=armed)
    told = set(Event.objects.filter(order_ref=order.public_id).values_list("name", flat=True))
    assert heard == "done"
    assert told >= {"lease.ready", "lease.failed"}


def clicks(order: Order) -> Counter[str]:
    def click(_number: int) -> str:
        try:
            return extension(order).public_id
        except Refusal as refusal:
            return refusal.code

    return Counter(races.at_once(CLICKS, click))


def test_s49_many_clicks_at_once_are_one_extension() -> None:
    order = active_order()
    answers = clicks(order)
    row = order.extensions.get()
    assert answers == {row.public_id: CLICKS}
    assert Hold.objects.filter(extends__isnull=False).count() == 1


def test_control_without_the_lock_on_the_order_clicks_are_turned_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    order = active_order()
    everybody_has_read = threading.Barrier(CLICKS, timeout=30)

    def unlocked_order(public_id: str) -> Order | None:
        row = Order.objects.select_related("quote").filter(public_id=public_id).first()
        everybody_has_read.wait()
        return mark(row) if row is not None else None

    monkeypatch.setattr(order_locks, "order_for_update", unlocked_order)
    answers = clicks(order)
    assert order.extensions.count() == 1
    assert max(answers.values()) < CLICKS or set(answers) != {order.extensions.get().public_id}


def presses(act: Callable[[], object]) -> Counter[str]:
    """What many who press the same button at the same moment hear."""

    def press(_number: int) -> str:
        try:
            act()
        except Refusal as refusal:
            return refusal.code
        return "done"

    return Counter(races.at_once(CLICKS, press))


def ended(order: Order) -> Callable[[], object]:
    return lambda: end_early(order_ref=order.public_id, actor="buyer")


def test_s49_many_early_ends_and_refunds_at_once_act_once(provider: FaultyProvider) -> None:
    assert presses(ended(active_order())) == {"done": 1, "already_done": CLICKS - 1}
    late, _lease = late_order(provider)
    assert presses(given_up(late)) == {"done": 1, "already_done": CLICKS - 1}


def test_control_without_the_lock_early_ends_and_refunds_act_more_than_once(
    provider: FaultyProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    order, (late, _lease) = active_order(), late_order(provider)
    for act in (ended(order), given_up(late)):
        everybody_has_read = threading.Barrier(CLICKS, timeout=30)

        def unlocked(order_ref: str, wait: threading.Barrier = everybody_has_read) -> Lease | None:
            lease = Lease.objects.select_related("hold").filter(order_ref=order_ref).first()
            wait.wait()
            return mark(lease) if lease is not None else None

        monkeypatch.setattr(fleet_locks, "lease_of_order_for_update", unlocked)
        assert presses(act)["done"] > 1
