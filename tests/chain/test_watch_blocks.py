"""Blocks are read once, in order, whoever waits: the cursor, what it survives, and what a round costs."""

from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
import time_machine

from billing import news, offers
from billing.models import ChainState, DepositAddress, PaymentView, Transfer
from billing.rails import logs as rail_logs
from billing.services import read_logs
from billing.services.fill_pool import fill_pool
from billing.services.reconcile import reconcile
from billing.services.watch import watch_network
from core import clock, outbox
from core.models import Decision
from orders.lifecycle import OrderStatus
from orders.models import Order
from tests import scenario
from tests.chain.endpoints import FaultyEndpoint, Forward, NodeError, Rule
from tests.chain.lab import FINALITY, ChainLab, network_table
from tests.many_payments import open_many

pytestmark = [pytest.mark.django_db, pytest.mark.chain]
NetworksFile = Callable[..., None]
MakeEndpoint = Callable[[Rule], FaultyEndpoint]


@pytest.fixture
def order(chain_lab: ChainLab, networks_file: NetworksFile) -> Order:
    networks_file(network_table(chain_lab, multicall=True))
    scenario.open_shop(offered=False)
    assert watch_network("local")
    fill_pool()
    return scenario.order()


def view_of(order: Order) -> PaymentView:
    return PaymentView.objects.get(payment=order.payment)


def cursor() -> int:
    return ChainState.objects.get(network="local").cursor_number or 0


def nothing_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the logs alone to find what comes: no balance is read without news, none in the daily look."""
    monkeypatch.setattr(news, "SAFETY_GROUP", 0)
    ChainState.objects.update(swept_at=clock.system_now())


def pay_in_full(order: Order, lab: ChainLab) -> None:
    lab.pay(order.payment.crypto.address, order.payment.crypto.due_units)


def test_logs_alone_find_a_payment(
    order: Order, chain_lab: ChainLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing_in_turn(monkeypatch)
    pay_in_full(order, chain_lab)
    assert watch_network("local")
    assert view_of(order).status == "seen"
    assert cursor() == chain_lab.head().number
    chain_lab.mine(FINALITY)
    assert watch_network("local")
    assert view_of(order).status == "settled"


def test_logs_alone_tell_that_the_operator_has_collected(
    order: Order, chain_lab: ChainLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the round that reads the block, through the rounds that wait for it to settle, to the books."""
    nothing_in_turn(monkeypatch)
    pay_in_full(order, chain_lab)
    chain_lab.mine(FINALITY)
    assert watch_network("local")
    outbox.drain()
    assert reconcile(looks=1) == []
    collect(order, chain_lab)
    chain_lab.mine(31)  # beyond the blocks that each round reads again
    assert watch_network("local")
    chain_lab.mine(31)
    assert watch_network("local")
    view = view_of(order)
    assert (view.status, view.flags, view.received_units) == ("settled", [], order.payment.crypto.due_units)
    assert reconcile(looks=1) == []
    chain_lab.mine(31)
    assert watch_network("local")
    assert (view_of(order).status, view_of(order).flags) == ("settled", ["swept"])
    assert reconcile(looks=1) == []
    assert not Decision.objects.filter(kind="payment_disagree").exists()
    state = ChainState.objects.get(network="local")
    chain_lab.mine(FINALITY)
    assert watch_network("local")
    state.refresh_from_db()
    assert order.payment.pk not in news._leaving(offers.networks()["local"], state)


def collect(order: Order, lab: ChainLab) -> None:
    """The operator moves the money on with the key of the address, which the product does not have."""
    crypto = order.payment.crypto
    lab.anvil.rpc("anvil_setBalance", crypto.address, hex(10**18))
    lab.anvil.rpc("anvil_impersonateAccount", crypto.address)
    lab.send("TestToken", lab.usdc, "transfer", lab.stranger, crypto.due_units, sender=crypto.address)
    lab.anvil.rpc("anvil_setBalance", crypto.address, "0x0")


def test_calls_of_a_round_do_not_depend_on_how_many_wait(
    order: Order, chain_lab: ChainLab, networks_file: NetworksFile, endpoint: MakeEndpoint
) -> None:
    counted = endpoint(lambda method, params, forward: forward(method, *params))
    networks_file(network_table(chain_lab, urls=[counted.url], multicall=True))
    ChainState.objects.update(swept_at=clock.system_now())
    open_many(order, news.SAFETY_GROUP - 1)

    def calls() -> Counter[str]:
        chain_lab.mine()
        counted.requests.clear()
        assert watch_network("local")
        return Counter(method for request in counted.requests for method in request)

    assert watch_network("local")
    few = calls()
    open_many(order, 500)
    assert PaymentView.objects.filter(status="awaiting").count() == 500 + news.SAFETY_GROUP
    assert calls() == few
    assert few["eth_getLogs"] == 1


def test_c28_logs_that_lag_are_read_again(
    order: Order,
    chain_lab: ChainLab,
    networks_file: NetworksFile,
    endpoint: MakeEndpoint,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    nothing_in_turn(monkeypatch)
    pay_in_full(order, chain_lab)
    chain_lab.mine(3)
    behind = chain_lab.head().number - 20

    def lags(method: str, params: list[Any], forward: Forward) -> Any:
        answer = forward(method, *params)
        if method == "eth_getLogs":
            return [row for row in answer if int(row["blockNumber"], 16) <= behind]
        return answer

    networks_file(network_table(chain_lab, urls=[endpoint(lags).url], multicall=True))
    assert watch_network("local")
    assert view_of(order).status == "awaiting"
    networks_file(network_table(chain_lab, multicall=True))
    assert watch_network("local")
    assert view_of(order).status == "seen"


def test_c28_a_lag_beyond_the_overlap_is_found_in_turn_and_a_whole_sum_is_not_called_unpaid(
    order: Order, chain_lab: ChainLab, networks_file: NetworksFile, endpoint: MakeEndpoint
) -> None:
    pay_in_full(order, chain_lab)

    def without_logs(method: str, params: list[Any], forward: Forward) -> Any:
        return [] if method == "eth_getLogs" else forward(method, *params)

    networks_file(network_table(chain_lab, urls=[endpoint(without_logs).url], multicall=True))
    with time_machine.travel(order.payment.expires_at + timedelta(minutes=5), tick=True):
        chain_lab.set_next_time(clock.now())
        chain_lab.mine(FINALITY)
        assert watch_network("local")
        view = view_of(order)
        assert (view.status, view.flags, view.unpaid_confirmed_at) == ("awaiting", ["disagree"], None)
        networks_file(network_table(chain_lab, multicall=True))
        assert watch_network("local")
        outbox.drain()
    order.refresh_from_db()
    assert (view_of(order).status, order.status) == ("settled", OrderStatus.PAID)


def test_c30_a_catch_up_that_breaks_off_goes_on_where_it_stopped(
    order: Order,
    chain_lab: ChainLab,
    networks_file: NetworksFile,
    endpoint: MakeEndpoint,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    nothing_in_turn(monkeypatch)
    monkeypatch.setattr(rail_logs, "BLOCKS_PER_CALL", 50)
    monkeypatch.setattr(read_logs, "OVERLAP_SECONDS", 10)
    began = cursor()
    pay_in_full(order, chain_lab)
    chain_lab.mine(400)
    asked: list[tuple[int, int]] = []

    def breaks_off(method: str, params: list[Any], forward: Forward) -> Any:
        if method == "eth_getLogs":
            span = int(params[0]["fromBlock"], 16), int(params[0]["toBlock"], 16)
            if span[0] > began + 150:
                raise NodeError(-32000, "busy")
            asked.append(span)
        return forward(method, *params)

    networks_file(network_table(chain_lab, urls=[endpoint(breaks_off).url], multicall=True))
    assert not watch_network("local")
    stopped = cursor()
    assert began < stopped < chain_lab.head().number
    assert stopped == asked[-1][1]
    assert all(later[0] == earlier[1] + 1 for earlier, later in pairwise(asked))
    # Written before the cursor moved, computed by the round that reads the balances.
    assert Transfer.objects.count() == 1
    assert view_of(order).status == "awaiting"

    networks_file(network_table(chain_lab, multicall=True))
    assert watch_network("local")
    assert cursor() == chain_lab.head().number
    assert view_of(order).status == "settled"
    assert Transfer.objects.count() == 1


def test_c30_nothing_expires_before_all_blocks_are_read(
    order: Order,
    chain_lab: ChainLab,
    networks_file: NetworksFile,
    endpoint: MakeEndpoint,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    nothing_in_turn(monkeypatch)
    chain_lab.set_next_time(order.payment.expires_at - timedelta(minutes=50))
    pay_in_full(order, chain_lab)
    with time_machine.travel(order.payment.expires_at + timedelta(hours=8), tick=True):
        chain_lab.set_next_time(clock.now())
        chain_lab.mine(FINALITY)

        def breaks_off(method: str, params: list[Any], forward: Forward) -> Any:
            if method == "eth_getLogs":
                raise NodeError(-32000, "busy")
            return forward(method, *params)

        networks_file(network_table(chain_lab, urls=[endpoint(breaks_off).url], multicall=True))
        assert not watch_network("local")
        assert view_of(order).unpaid_confirmed_at is None
        networks_file(network_table(chain_lab, multicall=True))
        assert watch_network("local")
        outbox.drain()
    order.refresh_from_db()
    assert (view_of(order).status, order.status) == ("settled", OrderStatus.PAID)


@pytest.mark.parametrize("depth", [2, FINALITY + 3])
def test_after_a_reorg_the_cursor_steps_back(
    order: Order, chain_lab: ChainLab, monkeypatch: pytest.MonkeyPatch, depth: int
) -> None:
    """Money that the new branch holds lies in blocks that were read before, of the old one."""
    nothing_in_turn(monkeypatch)
    monkeypatch.setattr(read_logs, "OVERLAP_SECONDS", 0)
    monkeypatch.setattr(read_logs, "OVERLAP_BLOCKS_AT_LEAST", 0)
    chain_lab.mine(FINALITY + 10)
    assert watch_network("local")
    data = chain_lab.transfer_data(order.payment.crypto.address, order.payment.crypto.due_units)
    chain_lab.reorg(depth, [[{"from": chain_lab.payer, "to": chain_lab.usdc, "data": data}, 0]])
    chain_lab.mine()
    assert watch_network("local")
    assert Transfer.objects.count() == 1
    assert view_of(order).received_units == order.payment.crypto.due_units


def test_without_a_step_back_the_same_reorg_loses_the_money(
    order: Order, chain_lab: ChainLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control of the test above."""
    nothing_in_turn(monkeypatch)
    monkeypatch.setattr(read_logs, "OVERLAP_SECONDS", 0)
    monkeypatch.setattr(read_logs, "OVERLAP_BLOCKS_AT_LEAST", 0)
    monkeypatch.setattr(read_logs, "_fork", lambda *_arguments: None)
    chain_lab.mine(FINALITY + 10)
    assert watch_network("local")
    data = chain_lab.transfer_data(order.payment.crypto.address, order.payment.crypto.due_units)
    chain_lab.reorg(2, [[{"from": chain_lab.payer, "to": chain_lab.usdc, "data": data}, 0]])
    chain_lab.mine()
    assert watch_network("local")
    assert not Transfer.objects.exists()


@pytest.mark.parametrize("wait", [timedelta(minutes=3), timedelta(hours=20), timedelta(days=30)])
def test_c11_c12_late_money_is_found_however_late(order: Order, chain_lab: ChainLab, wait: timedelta) -> None:
    with time_machine.travel(order.payment.expires_at + timedelta(minutes=1), tick=True):
        chain_lab.set_next_time(clock.now())
        chain_lab.mine(FINALITY)
        assert watch_network("local")
        outbox.drain()
        assert view_of(order).status == "expired"
    with time_machine.travel(order.payment.expires_at + wait, tick=True):
        chain_lab.set_next_time(clock.now())
        pay_in_full(order, chain_lab)
        chain_lab.mine(FINALITY)
        assert watch_network("local")
        view = view_of(order)
    assert (view.status, view.on_time_units) == ("expired", 0)
    assert "late" in view.flags
    assert view.received_units == order.payment.crypto.due_units


def test_c12_the_daily_look_finds_what_logs_cannot(
    order: Order, chain_lab: ChainLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A native coin at an address that nobody watches closely any more."""
    nothing_in_turn(monkeypatch)
    with time_machine.travel(order.payment.expires_at + timedelta(days=3), tick=True):
        chain_lab.set_next_time(clock.now())
        chain_lab.mine(FINALITY)
        ChainState.objects.update(swept_at=clock.system_now())
        assert watch_network("local")
        chain_lab.pay_native(order.payment.crypto.address, 7)
        assert watch_network("local")
        assert view_of(order).flags == []
    with time_machine.travel(order.payment.expires_at + timedelta(days=5), tick=True):
        assert watch_network("local")
        assert view_of(order).flags == ["wrong_asset"]


def test_c04_each_sum_stays_apart(order: Order, chain_lab: ChainLab) -> None:
    address, due = order.payment.crypto.address, order.payment.crypto.due_units
    chain_lab.pay(address, due - 15_500_000)
    assert watch_network("local")
    with time_machine.travel(order.payment.expires_at + timedelta(hours=2), tick=True):
        chain_lab.set_next_time(clock.now())
        chain_lab.pay(address, 20_000_000)
        chain_lab.mine(FINALITY)
        assert watch_network("local")
        view = view_of(order)
    assert view.status == "expired"
    assert set(view.flags) == {"late", "over"}
    assert (view.received_units - due, view.on_time_units) == (4_500_000, due - 15_500_000)


def test_a_pooled_address_is_nobodys(order: Order, chain_lab: ChainLab) -> None:
    pooled = DepositAddress.objects.filter(status="pooled").first()
    assert pooled is not None
    chain_lab.pay(pooled.address, 5)
    assert watch_network("local")
    assert not Transfer.objects.exists()
