"""Orders before their money is there, and those that go no further for want of it."""

from datetime import timedelta

from django.db import transaction

from billing.models import ChainState, PaymentView
from billing.rails.demo_cards import DemoCard
from billing.services.claim import claim
from billing.services.offer_again import sweep_offers
from core import clock, outbox
from orders.models import Order
from orders.services.cancel import cancel
from tests import cards, scenario
from tests.shop.states import expire_clock

_ANOTHER_CHAIN = [
    {
        "network": "elsewhere",
        "chain_id": 10,
        "asset": "USDC",
        "contract": "0x5FbDB2315678afecb367f032d93F642f64180aa3",
        "decimals": 6,
        "units": "934560000",
        "settled_units": "934560000",
        "is_final": True,
    }
]


def awaiting() -> Order:
    return scenario.order()


def claimed() -> Order:
    row = scenario.order()
    claim(order_id=row.public_id, by="page", transaction_hash="")
    return row


def card_opening() -> Order:
    return cards.order()


def card_open() -> Order:
    row = cards.order()
    cards.open_session(row)
    return row


def card_pending() -> Order:
    row = cards.order()
    cards.pay(row, DemoCard.DELAYED_SUCCESS)
    return row


def chain_silent() -> Order:
    """Its network alone has not been read for a while."""
    row = scenario.order()
    payment = row.payment
    payment.network = "silent"
    payment.save()
    state = ChainState.objects.get(network="local")
    state.pk, state.network = "silent", "silent"
    state.offered = False
    state.checked_at = clock.system_now() - timedelta(days=2)
    state.save(force_insert=True)
    return row


def seen() -> Order:
    row = scenario.order()
    chain = scenario.Chain()
    chain.advance()
    chain.send(row.payment, row.payment.crypto.due_units)
    chain.look(row.payment)
    return row


def dropped() -> Order:
    row = scenario.order()
    chain = scenario.Chain()
    chain.advance()
    transfer = chain.send(row.payment, row.payment.crypto.due_units)
    chain.look(row.payment)
    chain.drop(transfer)
    chain.advance()
    chain.look(row.payment)
    return row


def partial() -> Order:
    row = scenario.order()
    chain = scenario.Chain()
    chain.advance()
    chain.send(row.payment, row.payment.crypto.due_units - 5_000_000)
    chain.look(row.payment)
    return row


def wrong_asset() -> Order:
    row = scenario.order()
    chain = scenario.Chain()
    chain.advance()
    chain.look(row.payment, native=25_500_000_000_000_000)
    outbox.drain()
    return row


def wrong_network() -> Order:
    row = scenario.order()
    PaymentView.objects.filter(payment=row.payment).update(flags=["wrong_network"], others=_ANOTHER_CHAIN)
    return row


def checking() -> Order:
    row = scenario.order()
    expire_clock(row)
    return row


# The order goes no further.


def _confirmed_unpaid(row: Order) -> scenario.Chain:
    expire_clock(row)
    chain = scenario.Chain()
    chain.advance(to=clock.now(), blocks=3)
    chain.look(row.payment)
    outbox.drain()
    row.refresh_from_db()
    assert row.status == "expired"
    return chain


def expired() -> Order:
    row = scenario.order()
    _confirmed_unpaid(row)
    return row


def cancelled() -> Order:
    row = scenario.order()
    cancel_now(row)
    return row


def cancel_now(row: Order) -> None:
    with transaction.atomic():
        cancel(order_id=row.public_id, actor="buyer")
    outbox.drain()


def _paid_late(row: Order, chain: scenario.Chain) -> None:
    chain.send(row.payment, row.payment.crypto.due_units)
    chain.advance(to=clock.now(), blocks=3)
    chain.look(row.payment)
    sweep_offers()
    outbox.drain()


def late_offered() -> Order:
    """Late money, a lot is kept for the choice."""
    row = scenario.order()
    _paid_late(row, _confirmed_unpaid(row))
    return row


def no_capacity() -> Order:
    """Late money, and somebody else has the cards."""
    row = scenario.order(scenario.quote(lot="h100-sxm-80x8"))
    chain = _confirmed_unpaid(row)
    scenario.order(scenario.quote(lot="h100-sxm-80x8"))
    _paid_late(row, chain)
    return row
