"""The worker's look at a real local chain, from the pool to the settled order; reorgs, outages, lies."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import time_machine
from bip_utils import Bip39SeedGenerator, Bip44, Bip44Coins

from billing import offers, pool
from billing.models import ChainState, DepositAddress, PaymentView, Transfer, TransferSighting
from billing.services import watch
from billing.services.demo_pay import request_demo_transfer
from billing.services.fill_pool import fill_pool
from billing.services.send_demo_transfer import send_demo_transfer
from billing.services.watch import watch_network
from core import clock, outbox
from core.models import Decision, Event
from fleet.models import Lease
from orders.lifecycle import OrderStatus
from orders.models import Order
from tests import scenario
from tests.chain.endpoints import FaultyEndpoint, Forward, NodeError, Rule
from tests.chain.lab import FINALITY, ChainLab

pytestmark = [pytest.mark.django_db, pytest.mark.chain]


@pytest.fixture
def networks(chain_lab: ChainLab, tmp_path: Path, settings: object) -> Callable[..., None]:
    """Writes the networks file for this chain, or for an endpoint in front of it."""

    def write(url: str = "", *, decimals: int = 6) -> None:
        file = tmp_path / "networks.toml"
        file.write_text(
            "[networks.local]\n"
            'name = "Anchor test chain"\nchain_id = 31337\n'
            f'rpc_urls = ["{url or chain_lab.anvil.url}"]\n'
            'block_seconds = 2\ntest = true\nsettle = { mode = "finalized" }\n'
            "[[networks.local.assets]]\n"
            'symbol = "USDC"\nname = "USD Coin"\n'
            f'contract = "{chain_lab.usdc}"\ndecimals = {decimals}\nprice = "1"\n'
        )
        settings.EVM_NETWORKS_FILE = str(file)  # type: ignore[attr-defined]

    write()
    return write


@pytest.fixture
def order(networks: Callable[..., None]) -> Order:
    """An order on the chain as it is after the worker's first rounds."""
    scenario.open_shop(offered=False)
    assert watch_network("local")
    fill_pool()
    return scenario.order()


def view_of(order: Order) -> PaymentView:
    return PaymentView.objects.get(payment=order.payment)


def settle(lab: ChainLab) -> None:
    lab.mine(FINALITY)
    assert watch_network("local")
    outbox.drain()


def told(order: Order) -> list[str]:
    return list(
        Event.objects.filter(order_ref=order.public_id, name__startswith="payment.").values_list(
            "name", flat=True
        )
    )


def test_first_rounds_offer_the_network_and_fill_the_pool(networks: Callable[..., None]) -> None:
    assert offers.crypto_offers() == []
    assert watch_network("local")
    fill_pool()
    assert [offer.asset.symbol for offer in offers.crypto_offers()] == ["USDC"]
    assert pool.ready_count(network="local") == DepositAddress.objects.count() > 0


def test_a_transfer_is_seen_then_settled(order: Order, chain_lab: ChainLab) -> None:
    chain_lab.pay(order.payment.crypto.address, order.payment.crypto.due_units)
    assert watch_network("local")
    assert view_of(order).status == "seen"
    assert watch_network("local")
    settle(chain_lab)
    order.refresh_from_db()
    assert (view_of(order).status, order.status) == ("settled", OrderStatus.PAID)
    assert told(order) == ["payment.seen", "payment.settled"]
    assert Transfer.objects.get().sender == chain_lab.payer
    assert Lease.objects.count() == 1


def test_rounds_over_unchanged_facts_write_nothing(order: Order, chain_lab: ChainLab) -> None:
    chain_lab.pay(order.payment.crypto.address, 1_000_000)
    settle(chain_lab)
    before = (Transfer.objects.count(), Event.objects.count(), order.payment.readings.count())
    for _ in range(3):
        chain_lab.mine()
        assert watch_network("local")
    assert (Transfer.objects.count(), Event.objects.count(), order.payment.readings.count()) == before


def test_c26_dropped_by_a_reorg_and_paid_again(order: Order, chain_lab: ChainLab) -> None:
    address = order.payment.crypto.address
    chain_lab.pay(address, order.payment.crypto.due_units)
    assert watch_network("local")
    chain_lab.reorg(1)
    assert watch_network("local")
    assert (view_of(order).status, view_of(order).flags) == ("awaiting", ["dropped"])
    assert list(TransferSighting.objects.values_list("in_chain", flat=True)) == [False]
    chain_lab.pay(address, order.payment.crypto.due_units)
    assert watch_network("local")
    settle(chain_lab)
    assert view_of(order).status == "settled"
    assert told(order) == ["payment.seen", "payment.dropped", "payment.seen", "payment.settled"]


def test_c26_double_spend_elsewhere(order: Order, chain_lab: ChainLab) -> None:
    chain_lab.pay(order.payment.crypto.address, order.payment.crypto.due_units)
    assert watch_network("local")
    chain_lab.reorg(1)
    chain_lab.pay(chain_lab.stranger, order.payment.crypto.due_units)
    settle(chain_lab)
    assert view_of(order).status == "awaiting"
    assert not Lease.objects.exists()


def test_c26_settled_money_taken_back_reverses_it(order: Order, chain_lab: ChainLab) -> None:
    chain_lab.pay(order.payment.crypto.address, order.payment.crypto.due_units)
    settle(chain_lab)
    chain_lab.reorg(FINALITY + 1)
    assert watch_network("local")
    outbox.drain()
    assert view_of(order).status == "reversed"
    assert Lease.objects.get().status == "suspended"
    assert Decision.objects.filter(kind="payment_reversed", closed_at=None).count() == 1


def test_c24_fakes_and_empty_transfers_are_nothing(order: Order, chain_lab: ChainLab) -> None:
    address = order.payment.crypto.address
    chain_lab.send("FakeToken", chain_lab.fake, "fake", chain_lab.stranger, address, 10**12)
    chain_lab.send("TestToken", chain_lab.usdc, "transferFrom", chain_lab.payer, address, 0)
    chain_lab.send("Nft", chain_lab.nft, "give", address, 7)
    settle(chain_lab)
    view = view_of(order)
    assert (view.status, view.flags, view.received_units) == ("awaiting", [], 0)
    assert not Transfer.objects.exists()
    assert not Decision.objects.exists()


def test_c06_native_coin_is_found_as_the_wrong_asset(order: Order, chain_lab: ChainLab) -> None:
    chain_lab.pay_native(order.payment.crypto.address, 25_500_000)
    settle(chain_lab)
    assert view_of(order).flags == ["wrong_asset"]
    assert Decision.objects.get().kind == "payment_wrong_asset"


def test_c20_one_transaction_pays_two_orders(order: Order, chain_lab: ChainLab) -> None:
    other = scenario.order()
    first, second = order.payment, other.payment
    to = [first.crypto.address, second.crypto.address, chain_lab.stranger, first.crypto.address]
    part = first.due_units // 3
    chain_lab.send(
        "Wallet",
        chain_lab.wallet,
        "tokenMulti",
        chain_lab.usdc,
        to,
        [part, second.due_units, 5, first.due_units - part],
    )
    settle(chain_lab)
    assert {view_of(order).status, view_of(other).status} == {"settled"}
    assert Transfer.objects.filter(payment=first).count() == 2


def test_c10_c30_money_on_time_found_after_a_night(order: Order, chain_lab: ChainLab) -> None:
    chain_lab.set_next_time(order.payment.expires_at - timedelta(minutes=1))
    chain_lab.pay(order.payment.crypto.address, order.payment.crypto.due_units)
    with time_machine.travel(order.payment.expires_at + timedelta(minutes=50), tick=True):
        chain_lab.set_next_time(clock.now())
        chain_lab.mine(FINALITY)
        assert watch_network("local")
        outbox.drain()
    order.refresh_from_db()
    assert (view_of(order).status, order.status) == ("settled", OrderStatus.PAID)
    assert "payment.expired" not in told(order)


def test_unpaid_is_declared_by_a_settled_block_past_the_expiry(order: Order, chain_lab: ChainLab) -> None:
    with time_machine.travel(order.payment.expires_at + timedelta(minutes=1), tick=True):
        chain_lab.set_next_time(clock.now())
        chain_lab.mine()
        assert watch_network("local")
        assert view_of(order).status == "awaiting"
        settle(chain_lab)
    order.refresh_from_db()
    assert (view_of(order).status, order.status) == ("expired", OrderStatus.EXPIRED)


def test_an_unreachable_chain_declares_nothing_and_is_not_offered(
    order: Order, networks: Callable[..., None]
) -> None:
    networks("http://127.0.0.1:9")
    with time_machine.travel(order.payment.expires_at + timedelta(hours=5), tick=True):
        assert not watch_network("local")
    state = ChainState.objects.get()
    assert not state.offered
    assert state.problem
    assert view_of(order).status == "awaiting"


def test_c28_an_endpoint_without_logs_loses_nothing(
    order: Order,
    chain_lab: ChainLab,
    networks: Callable[..., None],
    endpoint: Callable[[Rule], FaultyEndpoint],
) -> None:
    chain_lab.pay(order.payment.crypto.address, order.payment.crypto.due_units)

    def without_logs(method: str, params: list[Any], forward: Forward) -> Any:
        return [] if method == "eth_getLogs" else forward(method, *params)

    networks(endpoint(without_logs).url)
    chain_lab.mine(FINALITY)
    assert watch_network("local")
    assert (view_of(order).status, view_of(order).flags) == ("awaiting", ["disagree"])
    networks()
    settle(chain_lab)
    assert view_of(order).status == "settled"


def test_a_network_that_differs_from_the_file_is_not_offered(networks: Callable[..., None]) -> None:
    networks(decimals=18)
    assert not watch_network("local")
    assert not ChainState.objects.get().offered
    assert Decision.objects.get().kind == "network_not_offered"
    networks()
    assert watch_network("local")
    assert Decision.objects.get().closed_at is not None


def test_c17_an_address_that_was_used_is_never_given_out(
    networks: Callable[..., None], chain_lab: ChainLab
) -> None:
    used = pool.xpub().derive(0)
    chain_lab.pay_native(used, 1)
    scenario.open_shop(offered=False)
    assert watch_network("local")
    fill_pool()
    assert DepositAddress.objects.get(address=used).status == "skipped"
    assert scenario.order().payment.crypto.deposit.index == 1


def test_c17_the_seed_of_the_chain_itself_gives_no_rich_address_to_an_order(
    networks: Callable[..., None], chain_lab: ChainLab, settings: object
) -> None:
    """The account whose first ten addresses hold the coins of the local chain from its first block on."""
    seed = Bip39SeedGenerator("test " * 11 + "junk").Generate()
    account = Bip44.FromSeed(seed, Bip44Coins.ETHEREUM).Purpose().Coin().Account(0)
    settings.DEPOSIT_XPUB = account.PublicKey().ToExtended()  # type: ignore[attr-defined]
    assert pool.xpub().derive(1) == chain_lab.payer
    scenario.open_shop(offered=False)
    assert watch_network("local")
    fill_pool()
    fill_pool()
    skipped = DepositAddress.objects.filter(status="skipped").values_list("index", flat=True)
    assert sorted(skipped) == list(range(10))
    assert Decision.objects.filter(kind="address_with_history", closed_at=None).count() == 10
    payment = scenario.order().payment
    assert payment.crypto.deposit.index == 10
    assert watch_network("local")
    assert PaymentView.objects.get(payment=payment).received_units == 0


def test_c30_a_look_that_broke_is_taken_again(
    order: Order,
    chain_lab: ChainLab,
    networks: Callable[..., None],
    endpoint: Callable[[Rule], FaultyEndpoint],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No block is passed over: neither where our own code raised nor where the node broke off in the middle."""
    chain_lab.pay(order.payment.crypto.address, order.payment.crypto.due_units)

    def broken(*_arguments: object) -> None:
        raise RuntimeError("an odd row")

    with monkeypatch.context() as patched:
        patched.setattr(watch, "apply", broken)
        assert watch_network("local")
    chain_lab.mine(5)

    def breaks_off(method: str, params: list[Any], forward: Forward) -> Any:
        if method == "eth_getLogs":
            raise NodeError(-32000, "out of memory")
        return forward(method, *params)

    networks(endpoint(breaks_off).url)
    assert not watch_network("local")
    assert view_of(order).status == "awaiting"
    networks()
    settle(chain_lab)
    assert view_of(order).status == "settled"
    assert Transfer.objects.count() == 1


def test_the_demo_wallet_sends_a_true_transfer_once(order: Order, chain_lab: ChainLab) -> None:
    chain_lab.send("TestToken", chain_lab.usdc, "mint", chain_lab.payer, order.payment.crypto.due_units)
    row = request_demo_transfer(order_id=order.public_id)
    assert send_demo_transfer(row.pk)
    assert not send_demo_transfer(row.pk)
    settle(chain_lab)
    assert view_of(order).status == "settled"
    assert Transfer.objects.count() == 1


def test_a_kill_between_sending_and_recording_pays_once(order: Order, chain_lab: ChainLab) -> None:
    row = request_demo_transfer(order_id=order.public_id)
    assert send_demo_transfer(row.pk)
    # The worker died before it wrote the hash: the nonce is there, the hash is not.
    type(row).objects.filter(pk=row.pk).update(tx_hash="")
    assert send_demo_transfer(row.pk)
    settle(chain_lab)
    assert view_of(order).received_units == order.payment.crypto.due_units


def test_an_order_that_was_forgotten_for_days_is_still_decided(order: Order, chain_lab: ChainLab) -> None:
    with time_machine.travel(order.payment.expires_at + timedelta(days=3), tick=True):
        chain_lab.set_next_time(clock.now())
        settle(chain_lab)
    order.refresh_from_db()
    assert (view_of(order).status, order.status) == ("expired", OrderStatus.EXPIRED)


def test_c26_one_endpoint_that_misses_a_block_once_drops_nothing(
    order: Order,
    chain_lab: ChainLab,
    networks: Callable[..., None],
    endpoint: Callable[[Rule], FaultyEndpoint],
) -> None:
    chain_lab.pay(order.payment.crypto.address, order.payment.crypto.due_units)
    assert watch_network("local")
    number = hex(Transfer.objects.get().block_number)
    lies = iter([True])

    def once_another_hash(method: str, params: list[Any], forward: Forward) -> Any:
        answer = forward(method, *params)
        if method == "eth_getBlockByNumber" and params[0] == number and next(lies, False):
            return {**answer, "hash": "0x" + "ee" * 32}
        return answer

    chain_lab.mine()
    networks(endpoint(once_another_hash).url)
    assert watch_network("local")
    assert view_of(order).status == "seen"
    assert not TransferSighting.objects.exists()
