"""Transfers, reorgs, card payments, claims, expiries, cancels and refunds in any order: the money always adds up."""

import itertools
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection, transaction
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from billing.lifecycle import PaymentStatus, RefundStatus
from billing.locks import payment_for_update, refund_for_update
from billing.models import CardFact, PaymentView, Rail, Refund, RefundMovement, Transfer
from billing.reconciled import row_differences
from billing.services.accept import accept_as_full
from billing.services.claim import claim
from billing.services.earn import earn_due
from billing.services.give_back import give_back
from billing.services.money_decisions import refund_by_hand, refund_excess, refund_what_arrived
from billing.services.offer_again import accept_offer, sweep_offers, take_refund
from billing.services.post import post
from billing.services.recompute import recompute
from billing.services.refund_destination import confirm_destination
from billing.services.send_refund import fail_locked, mark_sent, verify_locked
from core import clock, outbox
from core.errors import Refusal
from core.models import Decision, OutboxRow
from fleet.services.sweep import release_overdue_holds
from orders.models import Order
from orders.services.cancel import cancel
from tests import scenario
from tests.billing import money

_hashes = itertools.count(1)
ACTIONS: dict[str, Any] = {"accept": accept_as_full, "refund": refund_what_arrived, "excess": refund_excess}


class MoneyMachine(RuleBasedStateMachine):
    """One order on a chain that the machine writes. Whatever a service refuses is fine; what it does must add up."""

    def __init__(self) -> None:
        super().__init__()
        self.atomic = transaction.atomic()
        self.atomic.__enter__()
        self.order = scenario.order()
        self.chain = scenario.Chain()
        self.moment = clock.now()
        self.travel = time_machine.travel(self.moment, tick=False)
        self.travel.start()
        self.rivals = 0
        outbox.drain()

    def teardown(self) -> None:
        self.travel.stop()
        transaction.set_rollback(True)
        self.atomic.__exit__(None, None, None)

    # helpers

    def act(self, call: Any, **arguments: Any) -> None:
        """A service does it or refuses; then what it told is heard."""
        try:
            with transaction.atomic():
                call(**arguments)
        except Refusal:
            pass
        outbox.drain()

    def look(self) -> None:
        self.chain.look(self.order.payment, settled_number=max(self.chain.number - 2, 0))
        outbox.drain()

    def _locked(self) -> tuple[Order, PaymentView]:
        found = payment_for_update(self.order.public_id)
        assert found is not None
        return found

    @property
    def due(self) -> int:
        units: int = self.order.payment.crypto.due_units
        return units

    # what a buyer and the world do

    @rule(part=st.sampled_from([1, 2, 3, 4, 5]))
    def transfer(self, part: int) -> None:
        """A quarter, a half, all, one unit, or more than all."""
        units = {1: self.due // 4, 2: self.due // 2, 3: self.due, 4: 1, 5: self.due + 4_500_000}[part]
        self.chain.advance(to=clock.now())
        self.chain.send(self.order.payment, units)
        self.look()

    @rule()
    def blocks(self) -> None:
        self.chain.advance(to=clock.now(), blocks=3)
        self.look()

    @precondition(lambda self: Transfer.objects.in_chain().exists())
    @rule(data=st.data())
    def reorg(self, data: st.DataObject) -> None:
        living = list(Transfer.objects.in_chain().order_by("pk"))
        self.chain.drop(data.draw(st.sampled_from(living)))
        self.chain.advance(to=clock.now())
        self.look()

    @rule(share=st.sampled_from([1, 2]), status=st.sampled_from(["paid", "unpaid"]))
    def card(self, share: int, status: str) -> None:
        number = next(_hashes)
        minor = 93456 // share
        with transaction.atomic():
            CardFact.objects.create(
                payment=self.order.payment,
                kind=CardFact.Kind.SESSION,
                reference=f"cs_{number}",
                payment_intent=f"pi_{number}",
                status="complete",
                payment_status=status,
                amount_minor=minor,
                currency="USD",
                livemode=False,
                problem="" if share == 1 else "the amount differs",
                read_at=clock.now(),
            )
            recompute(order_id=self.order.public_id)
        outbox.drain()

    @rule()
    def press_paid(self) -> None:
        self.act(claim, order_id=self.order.public_id, by="test")

    @rule(hours=st.sampled_from([0.2, 1, 3, 26]))
    def time_passes(self, hours: float) -> None:
        self.moment += timedelta(hours=hours)
        self.travel.stop()
        self.travel = time_machine.travel(self.moment, tick=False)
        self.travel.start()
        release_overdue_holds()
        self.chain.advance(to=clock.now(), blocks=3)
        self.look()
        sweep_offers()
        earn_due()
        outbox.drain()

    @precondition(lambda self: self.rivals < 2)
    @rule()
    def a_rival_takes_the_lot(self) -> None:
        self.rivals += 1
        self.act(scenario.order)

    @rule()
    def cancel_order(self) -> None:
        self.act(cancel, order_id=self.order.public_id, actor="buyer")

    @rule(take=st.booleans())
    def choose(self, take: bool) -> None:
        self.act(accept_offer if take else take_refund, order_id=self.order.public_id)

    # what staff do

    @precondition(
        lambda self: Decision.objects.filter(closed_at=None, order_ref=self.order.public_id).exists()
    )
    @rule(data=st.data(), action=st.sampled_from(sorted(ACTIONS)))
    def decide(self, data: st.DataObject, action: str) -> None:
        rows = Decision.objects.filter(closed_at=None, order_ref=self.order.public_id)
        decision = data.draw(st.sampled_from(list(rows.order_by("pk"))))
        if action == "refund" and decision.kind not in {
            "payment_partial", "payment_late", "payment_wrong_asset", "order_no_capacity", "paid_after_cancel",
        }:  # fmt: skip
            return
        self.act(ACTIONS[action], decision=decision, actor="anna", reason="because")

    @rule(amount=st.sampled_from(["0.000001", "4.50", "467.28", "934.56", "99999"]))
    def give_back_by_hand(self, amount: str) -> None:
        self.act(refund_by_hand, payment=self.order.payment, actor="anna", reason="r", amount=amount)

    @precondition(lambda self: Refund.objects.exists())
    @rule(data=st.data(), step=st.sampled_from(["address", "send", "arrive", "fail"]))
    def refund_goes_on(self, data: st.DataObject, step: str) -> None:
        row = data.draw(st.sampled_from(list(Refund.objects.order_by("pk"))))
        if step == "address":
            self.act(
                confirm_destination,
                order_id=self.order.public_id,
                refund_id=row.pk,
                destination=money.DESTINATION,
            )
        elif step == "send":
            tx_hash = f"0x{next(_hashes):064x}"
            self.act(mark_sent, refund_id=row.pk, actor="anna", reason="r", transaction_hash=tx_hash)
        else:
            self.act(self._end, refund_id=row.pk, arrives=step == "arrive")

    def _end(self, *, refund_id: int, arrives: bool) -> None:
        """What the chain, or the card processor, says of a refund that was sent."""
        row = refund_for_update(refund_id)
        assert row is not None
        if row.status != RefundStatus.SENT:
            return
        if arrives:
            movement = RefundMovement(
                refund=row,
                rail=Rail.CRYPTO,
                chain_id=row.chain_id,
                tx_hash=row.tx_hash,
                units=row.units,
                found_at=clock.now(),
            )
            verify_locked(row, movement)
        else:
            fail_locked(row, why="it did not arrive")
        post(order_id=self.order.public_id, kind="refund")

    # what must hold after every step

    @invariant()
    def the_money_adds_up(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            cursor.execute("SET CONSTRAINTS ALL DEFERRED")
        assert not OutboxRow.objects.filter(status=OutboxRow.Status.PENDING).exists()
        money.check_books()

    @invariant()
    def no_refund_passes_what_came_and_nothing_counts_twice(self) -> None:
        view = PaymentView.objects.get(payment=self.order.payment)
        standing = sum(row.units for row in Transfer.objects.in_chain().filter(payment=view.payment))
        assert view.settled_units <= view.received_units <= standing
        after_a_reorg = Refund.objects.exists() and Transfer.objects.count() > (
            Transfer.objects.in_chain().count()
        )
        for row in row_differences():
            # A refund that was decided before its chain took the money back is shown, and cannot be sent.
            assert row.about == "refund", row
            assert after_a_reorg, row

    @invariant()
    def no_order_goes_on_without_settled_money(self) -> None:
        self.order = Order.objects.select_related("quote").get(pk=self.order.pk)
        view = PaymentView.objects.get(payment=self.order.payment)
        if self.order.status in ("paid", "provisioning", "active"):
            assert view.status in (PaymentStatus.SETTLED, PaymentStatus.REVERSED)
        if self.order.status in ("cancelled", "failed") and view.status != PaymentStatus.REVERSED:
            with transaction.atomic():
                assert give_back(*self._locked()) == []


def run(*, examples: int, steps: int, derandomize: bool) -> None:
    scenario.open_shop(cards_per_node=4)
    run_state_machine_as_test(
        MoneyMachine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            derandomize=derandomize,
        ),
    )


@pytest.mark.django_db
def test_money_machine() -> None:
    run(examples=10, steps=15, derandomize=True)


@pytest.mark.full
@pytest.mark.django_db
def test_money_machine_for_longer() -> None:
    run(examples=40, steps=25, derandomize=False)
