"""Money as it really comes, seen from order, page and mail: short, seen late, taken back, found after a night."""

from contextlib import nullcontext
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
import time_machine
from django.test import Client

from billing.lifecycle import PaymentStatus
from billing.models import Claim, PaymentRequest
from billing.services.claim import claim
from core import clock, outbox
from core.errors import Invalid
from core.models import Decision, Event, OutgoingMail
from fleet.models import Lease
from fleet.services.sweep import release_overdue_holds
from orders.models import Order
from tests import scenario

pytestmark = pytest.mark.django_db

DUE = 25_500_000


@pytest.fixture(autouse=True)
def shop(db: None) -> None:
    scenario.open_shop()


@pytest.fixture
def order() -> Order:
    """Due are 25.50 USDC."""
    placed = scenario.order()
    outbox.drain()
    PaymentRequest.objects.filter(order=placed).update(due_units=DUE, amount=Decimal("25.50"))
    return Order.objects.get(pk=placed.pk)


def names(order: Order) -> list[str]:
    return list(Event.objects.filter(order_ref=order.public_id).order_by("id").values_list("name", flat=True))


def mails(order: Order) -> list[str]:
    keys = OutgoingMail.objects.filter(order_ref=order.public_id).order_by("id").values_list("key", flat=True)
    return [key.split(":", 2)[2] for key in keys]


def page(order: Order) -> str:
    return Client().get(f"/en/orders/{order.token}/").content.decode()


@pytest.mark.parametrize(
    ("units", "received", "missing"), [(425_000, "0.425", "25.075"), (DUE - 1, "25.499999", "0.000001")]
)
def test_c01_a_finalized_part_pays_nothing_and_the_rest_pays_once(
    order: Order, units: int, received: str, missing: str
) -> None:
    chain = scenario.Chain()
    view = scenario.pay(order, units=units, chain=chain)
    order.refresh_from_db()
    assert (view.status, view.flags, view.settled_units) == ("awaiting", ["partial"], units)
    assert order.status == "awaiting_payment"
    html = page(order)
    assert f"<h1>{missing} USDC are still missing</h1>" in html
    assert f"−{received}" in html
    assert f'data-copy="{missing}"' in html
    assert mails(order) == ["placed", f"partial:{units}"]
    assert not {"order.paid", "payment.seen", "payment.settled"} & set(names(order))
    assert not Lease.objects.exists()
    scenario.pay(order, units=DUE - units, chain=chain)
    chain.look(order.payment)
    outbox.drain()
    order.refresh_from_db()
    assert order.status == "paid"
    assert names(order).count("order.paid") == names(order).count("payment.settled") == 1
    assert mails(order).count("paid") == 1
    assert Lease.objects.count() == 1


def test_c10_finality_a_quarter_of_an_hour_after_the_expiry_is_on_time(order: Order) -> None:
    payment = order.payment
    chain = scenario.Chain()
    chain.advance(blocks=3)
    with time_machine.travel(payment.expires_at - timedelta(minutes=1), tick=False):
        chain.advance(to=clock.now())
        chain.send(payment, DUE)
        assert chain.look(payment).status == PaymentStatus.SEEN
    with time_machine.travel(payment.expires_at + timedelta(minutes=5), tick=False):
        chain.advance(to=clock.now())
        assert chain.look(payment).status == PaymentStatus.SEEN
        release_overdue_holds()
        outbox.drain()
        assert "Your transfer is seen" in page(order)
    with time_machine.travel(payment.expires_at + timedelta(minutes=15), tick=False):
        chain.advance(to=clock.now(), blocks=2)
        view = chain.look(payment)
        release_overdue_holds()
        outbox.drain()
    order.refresh_from_db()
    assert (view.status, view.flags, order.status) == ("settled", [], "paid")
    assert not {"order.expired", "order.cancelled", "payment.expired", "payment.late"} & set(names(order))


def hash_variants(tx_hash: str) -> list[tuple[str, bool]]:
    """How somebody may type a hash, and whether it is one."""
    digits = tx_hash[2:]
    return [
        (tx_hash, True),
        ("0x" + digits.upper(), True),
        (f"  {tx_hash}\t", True),
        ("0X" + digits.upper(), False),
        (digits, False),
        (f"0x {digits}", False),
        (digits[:-1], False),
        (tx_hash + "0", False),
    ]


def test_c16_whatever_is_typed_the_money_of_another_order_pays_nothing(
    order: Order, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    """Malformed text makes no claim and no hint, so no look at a node; a well-formed one is kept in one form."""
    hints: list[str] = []
    monkeypatch.setattr(outbox, "hint", lambda task, *_arguments: hints.append(task))
    other, tx_hash = scenario.order(), "0x" + "ab" * 32
    chain, start = scenario.Chain(), clock.system_now()
    chain.advance()
    chain.send(order.payment, DUE)
    for number, (typed, is_hash) in enumerate(hash_variants(tx_hash)):
        hints.clear()
        with (
            time_machine.travel(start + timedelta(seconds=20 * number), tick=False),
            django_capture_on_commit_callbacks(execute=True),
            nullcontext() if is_hash else pytest.raises(Invalid, match="invalid_hash"),
        ):
            claim(order_id=other.public_id, by="page", transaction_hash=typed)
        assert hints == (["partners.on_event", "billing.watch_network"] if is_hash else []), typed
        assert chain.look(other.payment).status == "awaiting"
        assert other.payment.view.received_units == 0
    assert set(Claim.objects.values_list("transaction_hash", flat=True)) == {tx_hash}
    assert chain.look(order.payment).status == "seen"


def test_c24_who_sent_is_never_shown(order: Order) -> None:
    """Strangers send from look-alike addresses; a page that shows senders invites to answer to one."""
    chain = scenario.Chain()
    chain.advance()
    transfer = chain.send(order.payment, 1_000_000)
    chain.look(order.payment)
    html = page(order)
    assert transfer.tx_hash in html
    assert transfer.sender.lower() not in html.lower()
    assert f'href="{transfer.tx_hash}' not in html


def test_c26_gone_before_the_expiry_waits_and_after_it_has_expired(order: Order) -> None:
    """What was seen stays in the log with its block; nobody is mailed for a block that comes and goes."""
    payment = order.payment
    chain = scenario.Chain()
    chain.advance(blocks=3)
    transfer = chain.send(payment, DUE)
    chain.look(payment)
    chain.drop(transfer)
    chain.advance()
    assert chain.look(payment).status == "awaiting"
    seen, dropped = Event.objects.filter(order_ref=order.public_id, name__startswith="payment.")
    assert (seen.name, seen.payload["block"]) == ("payment.seen", transfer.block_number)
    assert (dropped.name, dropped.payload["block"]) == ("payment.dropped", chain.number)
    assert "The block with your transfer was replaced" in page(order)
    assert mails(order) == ["placed"]
    with time_machine.travel(payment.expires_at + timedelta(minutes=1), tick=False):
        chain.advance(to=clock.now(), blocks=3)
        view = chain.look(payment)
        outbox.drain()
    order.refresh_from_db()
    assert (view.status, order.status) == ("expired", "expired")
    assert mails(order) == ["placed", "expired"]
    assert not Decision.objects.exists()
    assert not Lease.objects.exists()
