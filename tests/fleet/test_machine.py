"""Holds, payments, steps, faults, repairs, extensions and ends in any order: no card twice, no lease without its cards.

Whatever a service refuses is fine; what it does must agree with the model in tests/fleet/machine_model.py.
"""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.conf import settings as django_settings
from django.db import connection, transaction
from django.db.backends.postgresql.psycopg_any import DateTimeTZRange
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from billing.services.checkout import CryptoChoice, anonymous_limits
from billing.services.early_end import early_end
from billing.services.extend import ExtendRequest, extend
from catalog.models import Lot
from core import clock, outbox
from core.errors import Refusal
from core.models import Decision, OutboxRow
from fleet.free_cards import free_by_node
from fleet.lifecycle import OVER_STATES
from fleet.models import Card, Lease, Node, SimulatedFault
from fleet.providers.base import ProviderError
from fleet.providers.faults import BEFALLS
from fleet.services import hold as hold_module
from fleet.services.end_by_staff import end_by_staff
from fleet.services.faults import FaultRequest, switch_on
from fleet.services.give_up import give_up_late
from fleet.services.maintenance import put_card_in_service, put_in_service, take_out_of_service
from fleet.services.reminders import sweep_reminders
from fleet.services.repair import card_is_sound, move_degraded
from fleet.services.suspend import resume, suspend
from fleet.services.sweep import advance_lease, reconcile_machines, release_overdue_holds, sweep_leases
from fleet.services.take_other_cards import take_other_cards
from fleet.services.watch_health import watch_health
from orders.models import Order
from orders.services.cancel import cancel
from tests import scenario
from tests.fleet import machine_model as model
from tests.races import CONSTRAINT
from tests.terms import take_logins_for_good

ACCELERATOR = "h100-sxm-80"
USDC = CryptoChoice("local", "USDC")
FAULTS = [
    (kind, verb) for kind, verbs in sorted(BEFALLS.items()) for verb in sorted(verbs) if kind != "delay"
]
# The longest way of a lease to its end: a term, its extensions, pauses and retries between.
ROUNDS_TO_THE_END = 60
picks = st.integers(0, 30)


class LeaseMachine(RuleBasedStateMachine):
    """A small fleet of two nodes with eight and four cards, on a clock that the machine moves."""

    def __init__(self) -> None:
        super().__init__()
        self.atomic = transaction.atomic()
        # The engine's transactions are durable ones; here they end with the example, as in a test case.
        vars(self.atomic)["_from_testcase"] = True
        self.atomic.__enter__()
        self.lot = Lot.objects.filter(accelerator__slug=ACCELERATOR, cards=1).get()
        self.travel = time_machine.travel(datetime.now(UTC), tick=False)
        self.traveller = self.travel.start()

    def teardown(self) -> None:
        self.travel.stop()
        transaction.set_rollback(True)
        self.atomic.__exit__(None, None, None)

    # helpers

    def act(self, call: Callable[..., Any], *arguments: Any, **named: Any) -> str:
        """A service does it ("") or refuses (its code) and changes nothing; then what it told is heard."""
        try:
            with transaction.atomic():
                call(*arguments, **named)
        except Refusal as refusal:
            return refusal.code
        finally:
            outbox.drain()
        return ""

    def look(self, call: Callable[..., Any]) -> None:
        """A sweep of the worker: no transaction round it, an engine that does not answer is its daily bread."""
        try:
            call()
        except ProviderError:
            pass
        outbox.drain()

    def leases(self) -> list[Lease]:
        return list(Lease.objects.select_related("hold__lot").order_by("pk"))

    def pick(self, number: int, *states: str) -> Lease | None:
        found = [lease for lease in self.leases() if not states or lease.status in states]
        return found[number % len(found)] if found else None

    # buyers

    @initialize(size=st.sampled_from([1, 2]))
    def begin(self, size: int) -> None:
        """Most of what can go wrong needs a lease."""
        self.order(size=size, days=3, ahead=0)
        self.pay(number=0)
        self.work()

    @rule(size=st.sampled_from([1, 2, 4]), days=st.sampled_from([3, 7]), ahead=st.sampled_from([0, 0, 6, 30]))
    def order(self, size: int, days: int, ahead: int) -> None:
        """Placed where the model finds room, refused where it finds none."""
        starts_at = None
        if ahead:
            starts_at = clock.now().replace(minute=0, second=0, microsecond=0) + timedelta(hours=ahead)
        quote = scenario.quote(lot=f"{ACCELERATOR}x{size}", days=days, starts_at=starts_at)
        room = model.free_cards(lot=self.lot, period=self.period(days=days, starts_at=starts_at))
        answer = self.act(scenario.order, quote)
        assert answer == ("" if any(count >= size for count in room.values()) else "no_capacity"), room

    def period(self, *, days: int, starts_at: datetime | None) -> DateTimeTZRange:
        """The policy table in numbers: 60 min to pay, 2 h after it, 2 h to be ready, term, 30 min of turnaround."""
        if starts_at is None:
            begin, slack = clock.now(), timedelta(hours=5)
        else:
            begin, slack = starts_at - timedelta(minutes=30), timedelta(hours=2, minutes=30)
        return DateTimeTZRange(begin, begin + slack + timedelta(days=days, minutes=30), "[)")

    @rule(number=picks)
    def pay(self, number: int) -> None:
        waiting = list(
            Order.objects.filter(status="awaiting_payment", payment__transfers=None).order_by("pk")
        )
        if waiting:
            scenario.pay(waiting[number % len(waiting)])

    @rule(number=picks)
    def cancel(self, number: int) -> None:
        orders = list(Order.objects.order_by("pk"))
        self.act(cancel, order_id=orders[number % len(orders)].public_id, actor="buyer")

    @rule(number=picks, days=st.sampled_from([3, 7]), is_paid=st.booleans())
    def extend(self, number: int, days: int, is_paid: bool) -> None:
        lease = self.pick(number, "ready", "degraded")
        if lease is None:
            return
        request = ExtendRequest(
            order_id=lease.order_ref,
            days=days,
            pay_with=USDC,
            prefix="10.9.9.0/24",
            limits=anonymous_limits(),
        )
        if not self.act(extend, request) and is_paid:
            self.pay(number=-1)

    @rule(number=picks)
    def end_early(self, number: int) -> None:
        lease = self.pick(number)
        if lease is not None:
            self.act(early_end, order_id=lease.order_ref, actor="buyer")

    @rule(number=picks)
    def give_up(self, number: int) -> None:
        lease = self.pick(number)
        if lease is not None:
            self.act(give_up_late, order_ref=lease.order_ref, actor="buyer")

    @rule(number=picks, is_back=st.booleans())
    def lose_money(self, number: int, is_back: bool) -> None:
        """The chain takes the payment of a lease back, and perhaps returns it."""
        lease = self.pick(number, "suspended") if is_back else self.pick(number)
        if lease is not None:
            self.act(resume if is_back else suspend, order_ref=lease.order_ref)

    # staff

    @rule(number=picks)
    def move(self, number: int) -> None:
        lease = self.pick(number, "degraded")
        if lease is not None:
            self.act(move_degraded, order_ref=lease.order_ref, actor="buyer")

    @rule(number=picks)
    def take_other_cards(self, number: int) -> None:
        lease = self.pick(number, "reserved", "preparing", "testing")
        if lease is not None:
            self.act(take_other_cards, lease_id=lease.pk, actor="staff")

    @rule(number=picks)
    def end_by_staff(self, number: int) -> None:
        lease = self.pick(number)
        if lease is not None:
            self.act(end_by_staff, lease_id=lease.pk, actor="staff", reason="by the machine")

    @rule(number=picks)
    def look_after_node(self, number: int) -> None:
        node = Node.objects.filter(accelerator__slug=ACCELERATOR).order_by("pk")[number % 2]
        self.act(
            take_out_of_service if node.in_service else put_in_service,
            node_id=node.pk,
            actor="staff",
            reason="x",
        )

    @rule()
    def look_after_cards(self) -> None:
        for card in Card.objects.filter(in_service=False):
            self.act(put_card_in_service, card_id=card.pk, actor="staff")
        for card in Card.objects.filter(healthy=False):
            self.act(card_is_sound, card_id=card.pk, actor="staff")

    # engine

    @rule(fault=st.sampled_from(FAULTS), number=picks, uses=st.sampled_from([1, 1, 3, None]))
    def switch_fault_on(self, fault: tuple[str, str], number: int, uses: int | None) -> None:
        kind, verb = fault
        node = ""
        if kind == "node_away":
            node = Node.objects.filter(accelerator__slug=ACCELERATOR).order_by("pk")[number % 2].name
        switch_on(FaultRequest(kind=kind, verb=verb, node_name=node, uses=uses), actor="machine")

    @rule()
    def drop_card(self) -> None:
        """A card that is gone wherever it is looked for, the commonest trouble of all."""
        lease = self.pick(0, "ready")
        if lease is not None:
            serial = model.current(lease)[0].card.serial
            switch_on(FaultRequest(kind="card_missing", card_serial=serial), actor="machine")
            self.look(watch_health)

    @precondition(lambda self: SimulatedFault.objects.filter(ended_at=None).exists())
    @rule()
    def switch_faults_off(self) -> None:
        SimulatedFault.objects.filter(ended_at=None).update(ended_at=clock.now())

    # worker and clock

    @rule(number=picks)
    def step(self, number: int) -> None:
        lease = self.pick(number)
        if lease is not None:
            self.look(lambda: advance_lease(lease_id=lease.pk))

    @rule()
    def work(self) -> None:
        """A round of all sweeps."""
        for sweep in (sweep_leases, release_overdue_holds, watch_health, reconcile_machines, sweep_reminders):
            self.look(sweep)

    @rule(minutes=st.sampled_from([1, 5, 50, 180, 600, 2000, 4600]))
    def skip(self, minutes: int) -> None:
        self.traveller.shift(timedelta(minutes=minutes))

    # what is true after every step

    @invariant()
    def no_card_is_taken_twice(self) -> None:
        assert model.overlaps(model.living()) == []

    @invariant()
    def what_is_free_and_what_is_taken_are_all_cards(self) -> None:
        period = self.period(days=3, starts_at=None)
        counted = free_by_node(
            accelerator_id=self.lot.accelerator_id,
            period=period,
            driver_minimum="",
            moment=clock.now(),
            overdue_are_free=True,
        )
        assert counted == model.free_cards(lot=self.lot, period=period)

    @invariant()
    def leases_are_as_the_model_says(self) -> None:
        leases = {lease.pk: lease for lease in self.leases()}
        wrong = [f"{pk}: {words}" for pk, lease in leases.items() for words in model.wrong_with_lease(lease)]
        assert wrong == []
        assert list(model.wrong_with_engine(leases)) == []

    @invariant()
    def everybody_has_heard(self) -> None:
        pending = OutboxRow.objects.exclude(status=OutboxRow.Status.DONE)
        assert [(str(row), row.last_error) for row in pending] == []


class ToTheEnd(LeaseMachine):
    """The same; at the end of each example all faults end, and every lease must come to its own."""

    def teardown(self) -> None:
        try:
            self._run_out()
        finally:
            super().teardown()

    def _run_out(self) -> None:
        self.switch_faults_off()
        for lease in self.leases():
            self.act(resume, order_ref=lease.order_ref)
        for _round in range(ROUNDS_TO_THE_END):
            self.work()
            self.leases_are_as_the_model_says()
            if all(lease.status in OVER_STATES and lease.wiped_at for lease in self.leases()):
                break
            self.traveller.shift(timedelta(hours=12))
        left = [(str(lease), lease.status, lease.last_error) for lease in self.leases() if not lease.wiped_at]
        assert left == []
        self.traveller.shift(timedelta(hours=4))
        self.look(release_overdue_holds)
        assert model.living() == []
        asked = Decision.objects.filter(closed_at=None, subject__startswith="lease:")
        assert {row.kind for row in asked} <= {"delivery_mismatch"}


def open_shop(monkeypatch: pytest.MonkeyPatch) -> None:
    take_logins_for_good(monkeypatch)
    # The pool of addresses is not what is looked at, and nobody checks it anew while the clock leaps.
    monkeypatch.setattr(django_settings, "ADDRESS_CHECK_MAX_AGE_SECONDS", 10 * 365 * 86400)
    scenario.open_shop(b200_nodes=0)
    scenario.add_node("h100-n01", ACCELERATOR, 4)


def run(*, examples: int, steps: int, derandomize: bool) -> None:
    run_state_machine_as_test(
        ToTheEnd,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            derandomize=derandomize,
        ),
    )


@pytest.mark.django_db
def test_lease_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    open_shop(monkeypatch)
    run(examples=5, steps=15, derandomize=True)


@pytest.mark.django_db
def test_the_machine_finds_a_card_that_is_sold_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: a booking that sees no other, and a database without its last word."""

    def all_of_them(*, card_ids: Iterable[int], **_rest: object) -> dict[int, list[int]]:
        free: dict[int, list[int]] = {}
        for card in Card.objects.filter(pk__in=list(card_ids)).order_by("pk"):
            free.setdefault(card.node_id, []).append(card.pk)
        return free

    monkeypatch.setattr(hold_module, "free_among", all_of_them)
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute(f"ALTER TABLE fleet_reservation DROP CONSTRAINT {CONSTRAINT}")
    open_shop(monkeypatch)
    machine = LeaseMachine()
    for _buyer in range(5):
        machine.order(size=2, days=3, ahead=0)
    with pytest.raises(AssertionError):
        machine.no_card_is_taken_twice()
    machine.teardown()


@pytest.mark.full
@pytest.mark.django_db
def test_lease_machine_for_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    open_shop(monkeypatch)
    run(examples=60, steps=40, derandomize=False)
