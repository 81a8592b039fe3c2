"""Documents that follow money which differs: credit notes of the price alone, an invoice whose money is gone."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
import time_machine
from django.db import transaction

from billing.invoices.layout import layout
from billing.models import Invoice
from billing.services.accept import accept_as_full
from billing.services.follow_order import follow
from billing.services.issue_invoice import issue_credit_note, issue_for_paid
from core import clock, outbox
from core.models import Event
from orders.lifecycle import ORDER, OrderStatus
from orders.locks import order_for_update
from orders.models import Order
from tests import scenario
from tests.billing import money
from tests.billing.invoicing import document, paid, refund

pytestmark = pytest.mark.usefixtures("shop")
COIN = 25 * 10**18


def credit(order: Order, amount: str = "0", **changes: Any) -> Decimal | None:
    with transaction.atomic():
        note = issue_credit_note(refund(order, amount, **changes))
    return Decimal(note.data["total"]) if note is not None else None


def invoiced(order: Order) -> Order:
    with transaction.atomic():
        assert issue_for_paid(order.public_id)
    order.refresh_from_db()
    return order


def test_excess_that_goes_back_by_hand_is_no_part_of_the_invoice(order: Order) -> None:
    scenario.pay(order, units=order.payment.crypto.due_units + 4_500_000)
    invoiced(order)
    assert credit(order, "4.50", reason="by_hand") is None
    assert credit(order, "1.25", reason="by_hand") == Decimal("-1.25")


def test_another_asset_that_paid_by_the_word_of_staff_has_a_credit_note(order: Order) -> None:
    chain = scenario.Chain()
    chain.advance()
    chain.look(order.payment, native=COIN, native_settled=COIN)
    accept_as_full(
        decision=money.open_decision(order, "payment_wrong_asset"), actor="anna", reason="worth enough"
    )
    outbox.drain()
    order.refresh_from_db()
    invoiced(order)
    coin: dict[str, Any] = {"asset": "ETH", "asset_contract": "", "decimals": 18}
    assert credit(order, reason="early_end", units=COIN // 2, **coin) == -order.quote.total / 2
    assert credit(order, reason="credit", units=COIN // 2, **coin) == -order.quote.total / 2


def test_many_small_refunds_add_up_to_the_cent() -> None:
    order = paid()
    notes = [credit(order, "0.333333") for _ in range(3)]
    assert sum(note for note in notes if note) == Decimal("-1.00")


def test_an_invoice_whose_money_is_gone_for_good_is_cancelled_once(order: Order) -> None:
    chain = scenario.Chain()
    chain.advance()
    transfer = chain.send(order.payment, order.payment.crypto.due_units)
    chain.settle(order.payment)
    outbox.drain()
    invoice = document(invoiced(order))
    chain.drop(transfer)
    chain.advance()
    assert chain.look(order.payment).status == "reversed"
    outbox.drain()
    assert not Invoice.objects.filter(kind="cancellation").exists()
    with time_machine.travel(clock.now() + timedelta(hours=25), tick=False):
        with transaction.atomic():
            locked = order_for_update(order.public_id)
            assert locked is not None
            ORDER.advance(locked, OrderStatus.FAILED, order_ref=order.public_id)
        outbox.drain()
        follow(Event.objects.get(name="order.failed", order_ref=order.public_id))
    cancellation = Invoice.objects.get(kind="cancellation")
    assert cancellation.cancels == invoice
    assert Decimal(cancellation.data["total"]) == -order.quote.total
    assert "No new invoice follows" in str(layout(cancellation))
    assert Invoice.objects.get(kind="invoice") == invoice
