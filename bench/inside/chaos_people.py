"""Who acts in bench.chaos: buyers that order, pay, cancel, extend and end; staff that answer what they are asked."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TypeVar

import psycopg
from django.conf import settings
from django.db import Error as DatabaseError
from django.db import connection, transaction
from psycopg_pool import PoolTimeout

from bench.inside import shop
from billing.models import Transfer
from billing.services.checkout import CheckoutRequest, CryptoChoice, anonymous_limits, checkout
from billing.services.early_end import early_end
from billing.services.extend import ExtendRequest, extend
from core import clock, decisions
from core.errors import Refusal
from core.models import Decision
from fleet.models import Card, Lease
from fleet.services.maintenance import put_card_in_service
from fleet.services.repair import move_by_decision, sound_by_decision
from orders.models import Order
from orders.services.cancel import cancel
from orders.services.quote import QuoteRequest, make_quote
from tests.scenario import Chain

T = TypeVar("T")

# A killed database is back within seconds; a person would try again as well.
INSIST_SECONDS = 60.0
# On a cluster nodes are sold whole.
ON_CLUSTER = settings.PROVIDER == "slurm"
ACCELERATOR = "h200-sxm-141" if ON_CLUSTER else "h100-sxm-80"
SIZES, SIZE_WEIGHTS = ((8,), (1,)) if ON_CLUSTER else ((1, 2, 4, 8), (8, 8, 3, 1))
DAYS, DAY_WEIGHTS = (3, 7, 30), (14, 5, 1)
LATER_SHARE, UNPAID_SHARE, CANCELLED_SHARE = 0.12, 0.06, 0.03
EXTENDED_SHARE, ENDED_SHARE, MOVED_SHARE = 0.05, 0.02, 0.5
STAFF = "bench.chaos"
USDC = CryptoChoice("local", "USDC")
GONE = (DatabaseError, psycopg.Error, PoolTimeout)


def insist(act: Callable[[], T]) -> T:
    """Do it again while the database is away. What is done twice then must be safe to repeat."""
    deadline = time.monotonic() + INSIST_SECONDS
    while True:
        try:
            return act()
        except GONE:
            if time.monotonic() > deadline:
                raise
            connection.close()
            time.sleep(0.2)


@dataclass
class People:
    """All of them in one process, one after the other; the programs around them are not so polite."""

    chance: random.Random
    placed: int = 0
    heard: list[str] = field(default_factory=list)

    def order(self) -> str | None:
        """One more order, paid, left unpaid or cancelled; None where nothing is free."""
        self.placed += 1
        try:
            order_id = insist(self._place)
        except Refusal as refusal:
            self.heard.append(refusal.code)
            return None
        fate = self.chance.random()
        if fate < UNPAID_SHARE:
            return order_id
        insist(lambda: pay(order_id))
        if fate < UNPAID_SHARE + CANCELLED_SHARE:
            self._try(lambda: _cancel(order_id))
        return order_id

    def live_on(self) -> None:
        """What buyers do in their terms."""
        open_leases = insist(
            lambda: list(Lease.objects.filter(status="ready").values_list("order_ref", flat=True))
        )
        for order_id in open_leases:
            fate = self.chance.random() * 10
            if fate < EXTENDED_SHARE:
                more = self._try(partial(_extend, order_id))
                if more is not None:
                    insist(partial(pay, more))
            elif fate < EXTENDED_SHARE + ENDED_SHARE:
                self._try(partial(early_end, order_id=order_id, actor="buyer"))

    def answer(self) -> None:
        """Staff put back on sale what was found wanting, and move some of those that miss a card."""
        for decision in insist(lambda: list(Decision.objects.filter(closed_at=None))):
            if decision.kind == "delivery_mismatch":
                self._try(partial(_note, decision))
            elif decision.kind == "card_unsound":
                self._try(partial(sound_by_decision, decision=decision, actor=STAFF, reason="looked at"))
            elif decision.kind == "lease_degraded" and self.chance.random() < MOVED_SHARE:
                self._try(partial(move_by_decision, decision=decision, actor=STAFF, reason="whole cards"))
        for card_id in insist(
            lambda: list(Card.objects.filter(in_service=False).values_list("pk", flat=True))
        ):
            self._try(partial(put_card_in_service, card_id=card_id, actor=STAFF, reason="looked at"))

    def _try(self, act: Callable[[], T]) -> T | None:
        try:
            return insist(act)
        except Refusal as refusal:
            self.heard.append(refusal.code)
            return None

    def _place(self) -> str:
        number = self.placed
        # An answer that was lost with the database: the order stands.
        standing = Order.objects.filter(owner=f"web:bench-{number}").first()
        if standing is not None:
            return standing.public_id
        (size,) = self.chance.choices(SIZES, SIZE_WEIGHTS)
        (days,) = self.chance.choices(DAYS, DAY_WEIGHTS)
        quote = make_quote(
            QuoteRequest(
                lot=f"{ACCELERATOR}x{size}",
                lots=1,
                days=days,
                image="pt-cu128",
                options=(),
                starts_at=self._start(),
                bill_to=shop.BILL_TO,
                limits=anonymous_limits(),
            )
        )
        place, pay_with = shop.acceptance(quote.public_id, number)
        return checkout(CheckoutRequest(place=place, pay_with=pay_with)).public_id

    def _start(self) -> datetime | None:
        if self.chance.random() >= LATER_SHARE:
            return None
        hour = clock.now().astimezone(UTC).replace(minute=0, second=0, microsecond=0)
        return hour + timedelta(hours=self.chance.randrange(6, 60))


def pay(order_id: str) -> None:
    """The whole sum arrives and settles, as facts in one transaction."""
    with transaction.atomic():
        payment = Order.objects.get(public_id=order_id).payment
        if Transfer.objects.filter(payment=payment).exists():
            return
        chain = Chain()
        chain.advance()
        chain.send(payment, payment.crypto.due_units)
        chain.look(payment)
        chain.settle(payment)


def _extend(order_id: str) -> str:
    row = extend(
        ExtendRequest(
            order_id=order_id, days=3, pay_with=USDC, prefix="10.255.255.0/24", limits=anonymous_limits()
        )
    )
    return row.public_id


def _cancel(order_id: str) -> None:
    with transaction.atomic():
        cancel(order_id=order_id, actor="buyer")


def _note(decision: Decision) -> None:
    with transaction.atomic():
        decisions.close_decision(decision_id=decision.pk, actor=STAFF, reason="looked at")
