"""Refunds proved on a real chain, and the books compared with it."""

from datetime import timedelta
from pathlib import Path

import pytest
import time_machine
from django.core.management import call_command
from django.db import connection, transaction

from billing.models import (
    BalanceReading,
    LedgerEntry,
    LedgerTransaction,
    PaymentView,
    Refund,
    RefundMovement,
)
from billing.services.fill_pool import fill_pool
from billing.services.money_decisions import refund_by_hand
from billing.services.recompute import recompute
from billing.services.reconcile import reconcile
from billing.services.refund import open_refund
from billing.services.refund_destination import confirm_destination
from billing.services.send_refund import mark_sent
from billing.services.verify_refund import due_ids, verify_refund
from billing.services.watch import watch_network
from core import clock, outbox
from core.models import Decision, OutgoingMail
from orders.models import Order
from tests import scenario
from tests.billing import money
from tests.billing.told import told
from tests.chain.lab import FINALITY, ChainLab

pytestmark = [pytest.mark.django_db, pytest.mark.chain]
PART = 4_500_000


@pytest.fixture
def networks(chain_lab: ChainLab, tmp_path: Path, settings: object) -> Path:
    file = tmp_path / "networks.toml"
    file.write_text(
        "[networks.local]\n"
        'name = "Anchor test chain"\nchain_id = 31337\n'
        f'rpc_urls = ["{chain_lab.anvil.url}"]\n'
        'block_seconds = 2\ntest = true\nsettle = { mode = "finalized" }\n'
        "[[networks.local.assets]]\n"
        f'symbol = "USDC"\nname = "USD Coin"\ncontract = "{chain_lab.usdc}"\ndecimals = 6\nprice = "1"\n'
    )
    settings.EVM_NETWORKS_FILE = str(file)  # type: ignore[attr-defined]
    return file


@pytest.fixture
def order(networks: Path, chain_lab: ChainLab) -> Order:
    """An order that is paid with 30.00 more than it costs."""
    scenario.open_shop(offered=False)
    assert watch_network("local")
    fill_pool()
    order = scenario.order()
    crypto = order.payment.crypto
    chain_lab.pay(crypto.address, crypto.due_units + 30_000_000)
    look(chain_lab)
    order.refresh_from_db()
    assert order.status == "paid"
    return order


def look(lab: ChainLab) -> None:
    lab.mine(FINALITY)
    assert watch_network("local")
    outbox.drain()


@pytest.fixture
def refund(order: Order) -> Refund:
    """4.50 that are to be sent to an address of the buyer's."""
    row = refund_by_hand(payment=order.payment, actor="anna", reason="part of the excess", amount="4.50")
    assert row is not None
    confirm_destination(order_id=order.public_id, refund_id=row.pk, destination=money.DESTINATION)
    return Refund.objects.get(pk=row.pk)


def send(
    lab: ChainLab, row: Refund, units: int = PART, *, to: str = money.DESTINATION, token: str = ""
) -> None:
    """Staff send from a wallet of their own and enter the hash."""
    tx_hash = lab.pay(to, units, token=token or None)
    mark_sent(refund_id=row.pk, actor="anna", reason="sent", transaction_hash=tx_hash)


def verified(row: Refund) -> str:
    Refund.objects.filter(pk=row.pk).update(next_at=clock.system_now())
    verify_refund(row.pk)
    row.refresh_from_db()
    return row.status


def test_a_refund_is_done_when_its_block_is_settled_and_not_before(
    refund: Refund, order: Order, chain_lab: ChainLab
) -> None:
    send(chain_lab, refund)
    assert verified(refund) == "sent"
    assert refund.last_error == "in a block that can still change"
    assert due_ids() == []
    chain_lab.mine(FINALITY)
    assert verified(refund) == "verified"
    movement = RefundMovement.objects.get()
    assert (movement.refund, movement.units, movement.tx_hash) == (refund, PART, refund.tx_hash)
    assert told(order, "refund.") == [
        "refund.address_needed",
        "refund.due",
        "refund.sent",
        "refund.verified",
    ]
    assert not verify_refund(refund.pk)
    assert OutgoingMail.objects.filter(key=f"refund:{refund.pk}:verified").count() == 1
    money.check_books()
    books = money.balances(order)
    assert books["refunds_paid", "local:USDC"] == -PART
    assert ("refunds_due", "local:USDC") not in books
    assert reconcile(looks=1) == []


@pytest.mark.parametrize(
    ("units", "to", "why"),
    [
        (PART - 1, money.DESTINATION, "less"),
        (PART, money.OTHER, "to the address of the refund"),
    ],
)
def test_a_short_or_strayed_transfer_fails_and_is_sent_anew(
    refund: Refund, order: Order, chain_lab: ChainLab, units: int, to: str, why: str
) -> None:
    send(chain_lab, refund, units, to=to)
    chain_lab.mine(FINALITY)
    assert verified(refund) == "failed"
    assert why in refund.last_error
    assert money.open_decision(order, "refund_due").facts["problem"] == refund.last_error
    send(chain_lab, refund)
    chain_lab.mine(FINALITY)
    assert verified(refund) == "verified"
    assert not Decision.objects.filter(kind="refund_due", closed_at=None).exists()


def test_another_token_a_fake_and_a_reverted_call_prove_nothing(
    refund: Refund, order: Order, chain_lab: ChainLab
) -> None:
    send(chain_lab, refund, token=chain_lab.usdt)  # the payer has none: it is reverted
    chain_lab.mine(FINALITY)
    assert verified(refund) == "failed"
    assert "reverted" in refund.last_error
    fake = chain_lab.send("FakeToken", chain_lab.fake, "fake", chain_lab.payer, money.DESTINATION, PART)
    mark_sent(refund_id=refund.pk, actor="anna", reason="x", transaction_hash=fake)
    chain_lab.mine(FINALITY)
    assert verified(refund) == "failed"


def test_one_transaction_serves_two_refunds_by_two_transfers_only(
    refund: Refund, order: Order, chain_lab: ChainLab
) -> None:
    second = open_refund(order_id=order.public_id, key="b", reason="by_hand", leg="local:USDC", units=PART)
    third = open_refund(order_id=order.public_id, key="c", reason="by_hand", leg="local:USDC", units=PART)
    assert second is not None
    assert third is not None
    tx_hash = chain_lab.send(
        "Wallet",
        chain_lab.wallet,
        "tokenMulti",
        chain_lab.usdc,
        [money.OTHER, money.DESTINATION, money.DESTINATION],
        [7, PART, PART],
    )
    chain_lab.mine(FINALITY)
    for row in (refund, second, third):
        mark_sent(refund_id=row.pk, actor="anna", reason="x", transaction_hash=tx_hash)
    assert [verified(row) for row in (refund, second, third)] == ["verified", "verified", "failed"]
    assert "another refund" in third.last_error
    assert sorted(RefundMovement.objects.values_list("ordinal", flat=True)) == [1, 2]
    money.check_books()


def test_a_transfer_from_before_the_refund_proves_nothing(refund: Refund, chain_lab: ChainLab) -> None:
    """The buyer's address has had such a sum before, from whomever: an old hash is not our money."""
    old = chain_lab.pay(money.DESTINATION, PART)
    chain_lab.mine(FINALITY)
    Refund.objects.filter(pk=refund.pk).update(opened_at=clock.now() + timedelta(minutes=30))
    mark_sent(refund_id=refund.pk, actor="anna", reason="x", transaction_hash=old)
    assert verified(refund) == "failed"
    assert "older" in refund.last_error
    assert not RefundMovement.objects.exists()


def test_a_hash_that_no_block_holds_is_waited_for_then_failed(refund: Refund, chain_lab: ChainLab) -> None:
    mark_sent(refund_id=refund.pk, actor="anna", reason="x", transaction_hash="0x" + "ab" * 32)
    assert verified(refund) == "sent"
    with time_machine.travel(clock.now() + timedelta(hours=25), tick=False):
        assert verified(refund) == "failed"


def test_an_address_that_changed_while_staff_were_sending_still_counts(
    refund: Refund, order: Order, chain_lab: ChainLab
) -> None:
    confirm_destination(order_id=order.public_id, refund_id=refund.pk, destination=money.OTHER)
    send(chain_lab, refund, to=money.DESTINATION)
    chain_lab.mine(FINALITY)
    assert verified(refund) == "verified"


def test_a_transaction_from_before_the_refund_proves_nothing(refund: Refund, chain_lab: ChainLab) -> None:
    """The same buyer may have been paid the same sum before, for something else."""
    send(chain_lab, refund)
    chain_lab.mine(FINALITY)
    Refund.objects.filter(pk=refund.pk).update(opened_at=refund.opened_at + timedelta(hours=1))
    assert verified(refund) == "failed"
    assert "older than the refund" in refund.last_error


def test_two_workers_verify_once(refund: Refund, chain_lab: ChainLab) -> None:
    send(chain_lab, refund)
    chain_lab.mine(FINALITY)
    Refund.objects.filter(pk=refund.pk).update(
        claim_token="00000000-0000-0000-0000-000000000001",
        claim_until=clock.system_now() + timedelta(seconds=30),
    )
    assert not verify_refund(refund.pk)
    Refund.objects.filter(pk=refund.pk).update(claim_until=clock.system_now() - timedelta(seconds=1))
    assert verify_refund(refund.pk)
    assert RefundMovement.objects.count() == 1


def test_the_command_finds_planted_differences_and_nothing_else(
    order: Order, chain_lab: ChainLab, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("reconcile", looks=1, totals=True)
    said = capsys.readouterr().out
    assert "0 differences; 1 orders" in said
    assert "deposits:local" in said
    with transaction.atomic():
        planted = LedgerTransaction.objects.create(key="planted", kind="x", order=order, at=clock.now())
        for account, units in (("deposits:local", 5), ("excess", -5)):
            LedgerEntry.objects.create(
                transaction=planted, account=account, asset="local:USDC", units=units, order=order
            )
    with pytest.raises(SystemExit) as code:
        call_command("reconcile", looks=1)
    assert code.value.code == 1
    said = capsys.readouterr().out
    assert f"local:USDC at {order.payment.crypto.address}" in said
    assert "deposits:local in local:USDC" in said


def test_money_on_chain_that_nobody_noticed_is_a_difference(order: Order, chain_lab: ChainLab) -> None:
    assert reconcile(looks=1) == []
    chain_lab.pay(order.payment.crypto.address, 11)
    assert reconcile(looks=1) == []  # not settled yet: it stands between two blocks
    chain_lab.mine(FINALITY)
    assert [row.about for row in reconcile(looks=1)] == ["chain"]
    assert watch_network("local")
    assert reconcile(looks=1) == []


def test_a_chain_that_is_silent_is_a_difference(order: Order, networks: Path) -> None:
    networks.write_text(networks.read_text().replace('rpc_urls = ["', 'rpc_urls = ["http://127.0.0.1:9/'))
    assert [(row.about, row.subject) for row in reconcile(looks=1)] == [("chain", "local")]


def test_the_books_refuse_what_does_not_balance(order: Order) -> None:
    row = LedgerTransaction.objects.create(key="bad", kind="x", at=clock.now())
    LedgerEntry.objects.create(transaction=row, account="a", asset="USD", units=5)
    LedgerEntry.objects.create(transaction=row, account="b", asset="EUR", units=-5)
    with pytest.raises(Exception, match="does not balance"), connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")


def test_the_books_are_never_edited(order: Order) -> None:
    entry = LedgerEntry.objects.filter(order=order)
    with pytest.raises(Exception, match="never changed"):
        entry.update(units=1)


def test_a_coin_by_mistake_is_read_until_it_is_final(order: Order, chain_lab: ChainLab) -> None:
    """No log tells of it, and the order is no longer open: only that it was seen and is not final yet."""
    crypto = order.payment.crypto
    chain_lab.anvil.rpc("anvil_setBalance", crypto.address, hex(10**17))
    with transaction.atomic():
        BalanceReading.objects.create(
            payment=order.payment,
            chain_id=crypto.chain_id,
            asset_contract="",
            kind=BalanceReading.Kind.HEAD,
            block_number=1,
            block_hash="0x" + "00" * 32,
            block_time=clock.now(),
            units=10**17,
            read_at=clock.now(),
        )
        recompute(order_id=order.public_id)
    [coin] = PaymentView.objects.get(payment=order.payment).others
    assert (coin["units"], coin["settled_units"], coin["is_final"]) == (str(10**17), "0", False)
    look(chain_lab)
    [coin] = PaymentView.objects.get(payment=order.payment).others
    assert (coin["settled_units"], coin["is_final"]) == (str(10**17), True)
    assert reconcile(looks=1) == []
