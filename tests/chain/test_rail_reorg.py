"""What was seen may vanish (C26): hashes change, logs go, and nothing read across the change is used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from billing.rails.errors import ChainError, ChainMoved
from billing.rails.lab import call_data
from tests.chain.endpoints import FaultyEndpoint, Forward, Rule
from tests.chain.lab import DUE, ChainLab

pytestmark = pytest.mark.chain
MakeEndpoint = Callable[[Rule], FaultyEndpoint]


def test_c26_a_dropped_payment_leaves_no_trace(chain_lab: ChainLab) -> None:
    address = chain_lab.address(1)
    chain, asset = chain_lab.chain(), chain_lab.asset()
    chain_lab.pay(address, DUE)
    before = chain.round(asset=asset, addresses=[address])
    assert before.latest_balances == {address: DUE}

    chain_lab.reorg(1)
    after = chain.round(asset=asset, addresses=[address], from_block=before.head.number)
    assert after.head.number == before.head.number
    assert after.head.hash != before.head.hash
    assert chain.header(before.head.number).hash == after.head.hash
    assert after.latest_balances == {address: 0}
    assert _transfers(chain_lab, address) == []


def test_c26_a_double_spend_counts_where_it_went(chain_lab: ChainLab) -> None:
    address, elsewhere = chain_lab.address(1), chain_lab.address(2)
    nonce = chain_lab.anvil.rpc("eth_getTransactionCount", chain_lab.payer, "latest")
    chain_lab.pay(address, DUE)
    other = call_data("TestToken", "transfer", elsewhere, DUE)
    chain_lab.reorg(1, [[{"from": chain_lab.payer, "to": chain_lab.usdc, "data": other, "nonce": nonce}, 0]])

    seen = chain_lab.chain().round(asset=chain_lab.asset(), addresses=[address, elsewhere])
    assert seen.latest_balances == {address: 0, elsewhere: DUE}
    assert [log.recipient for log in _transfers(chain_lab, address, elsewhere)] == [elsewhere]


@pytest.mark.parametrize(("moment", "nth"), [("eth_getBalance", 1), ("eth_call", 1), ("eth_call", 2)])
def test_a_reorg_inside_a_round_voids_it(
    chain_lab: ChainLab, endpoint: MakeEndpoint, moment: str, nth: int
) -> None:
    """The last read of a round is the second eth_call: only the look after it can notice that."""
    address = chain_lab.address(1)
    chain_lab.pay(address, DUE)
    calls = 0

    def changing(method: str, params: list[Any], forward: Forward) -> Any:
        nonlocal calls
        if method == moment:
            calls += 1
            if calls == nth:
                chain_lab.reorg(1)
        return forward(method, *params)

    chain = chain_lab.chain(endpoint(changing).url)
    with pytest.raises(ChainMoved):
        chain.round(asset=chain_lab.asset(), addresses=[address])
    assert calls >= nth  # the chain did change in the middle
    again = chain.round(asset=chain_lab.asset(), addresses=[address])
    assert again.latest_balances == {address: 0}


def test_no_transfer_in_a_block_that_was_replaced_meanwhile_is_not_an_answer(
    chain_lab: ChainLab, endpoint: MakeEndpoint
) -> None:
    address = chain_lab.address(1)
    chain_lab.mine()
    payment = call_data("TestToken", "transfer", address, DUE)
    once = [True]

    def changing(method: str, params: list[Any], forward: Forward) -> Any:
        answer = forward(method, *params)
        if method == "eth_getLogs" and once:
            once.pop()
            chain_lab.reorg(1, [[{"from": chain_lab.payer, "to": chain_lab.usdc, "data": payment}, 0]])
        return answer

    url = endpoint(changing).url
    with pytest.raises(ChainMoved):
        _transfers(chain_lab, address, url=url)
    assert [log.units for log in _transfers(chain_lab, address, url=url)] == [DUE]


@pytest.mark.parametrize("moment", ["eth_getLogs", "eth_getTransactionReceipt"])
def test_a_reorg_while_logs_are_read_voids_them(
    chain_lab: ChainLab, endpoint: MakeEndpoint, moment: str
) -> None:
    address = chain_lab.address(1)
    chain_lab.pay(address, DUE)
    once = [True]

    def changing(method: str, params: list[Any], forward: Forward) -> Any:
        answer = forward(method, *params)
        if method == moment and once:
            once.pop()
            chain_lab.reorg(1)
        return answer

    url = endpoint(changing).url
    with pytest.raises(ChainMoved):
        _transfers(chain_lab, address, url=url)
    assert not once
    assert _transfers(chain_lab, address, url=url) == []


def test_a_shorter_chain_is_not_believed_below_what_was_seen(chain_lab: ChainLab) -> None:
    chain, asset, address = chain_lab.chain(), chain_lab.asset(), chain_lab.address(1)
    chain_lab.mine(5)
    top = chain.head().number
    chain_lab.anvil.rpc("anvil_rollback", 3)
    with pytest.raises(ChainError, match="was seen before"):
        chain.round(asset=asset, addresses=[address], from_block=top)
    assert chain.round(asset=asset, addresses=[address], from_block=top - 3).head.number == top - 3


def _transfers(chain_lab: ChainLab, *recipients: str, url: str | None = None) -> list[Any]:
    chain = chain_lab.chain(*([url] if url else []))
    head = chain.head().number
    return list(chain.transfers(asset=chain_lab.asset(), recipients=recipients, from_block=0, to_block=head))
