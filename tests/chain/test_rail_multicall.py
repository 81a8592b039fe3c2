"""Many balances in one call give what reads one by one give, with far fewer calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from billing.networks import Settle
from billing.rails import decode
from billing.rails.errors import ChainError, ChainMismatch, ChainMoved, ChainUnreadable
from billing.rails.evm import Chain
from billing.rails.lab import call_data
from tests.chain.endpoints import FaultyEndpoint, Forward, NodeError, Rule
from tests.chain.lab import FINALITY, ChainLab

pytestmark = pytest.mark.chain
MakeEndpoint = Callable[[Rule], FaultyEndpoint]


def _through(method: str, params: list[Any], forward: Forward) -> Any:
    return forward(method, *params)


def test_selectors_are_those_of_the_contract(chain_lab: ChainLab) -> None:
    assert call_data("Multicall", "aggregate3", []).startswith(decode.AGGREGATE3)
    assert call_data("Multicall", "getEthBalance", chain_lab.payer).startswith(decode.GET_ETH_BALANCE)


def test_both_ways_of_reading_agree_and_one_is_cheaper(chain_lab: ChainLab, endpoint: MakeEndpoint) -> None:
    addresses = [chain_lab.address(index) for index in range(320)]
    for index in (0, 149, 150, 319):
        chain_lab.pay(addresses[index], index + 1)
        chain_lab.pay_native(addresses[index], index + 10)
    chain_lab.mine(FINALITY)
    chain_lab.pay(addresses[5], 5)
    single, many = endpoint(_through), endpoint(_through)
    asset = chain_lab.asset()

    one_by_one = Chain(chain_lab.network(urls=[single.url])).round(asset=asset, addresses=addresses)
    together = Chain(chain_lab.network(urls=[many.url], multicall=chain_lab.multicall)).round(
        asset=asset, addresses=addresses
    )
    assert together == one_by_one
    assert together.settled_balances[addresses[319]] == 320
    assert together.native_settled[addresses[149]] == 159
    assert (together.latest_balances[addresses[5]], together.settled_balances[addresses[5]]) == (5, 0)
    assert sum(map(len, many.requests)) < sum(map(len, single.requests)) / 20


def test_a_settled_block_before_the_contracts_is_read_one_by_one(chain_lab: ChainLab) -> None:
    multicall = chain_lab.deploy("Multicall")
    token = chain_lab.deploy("TestToken", "USD Coin", "USDC", 6, 10)
    address = chain_lab.address(1)
    chain_lab.send("TestToken", token, "transfer", address, 10)
    chain = Chain(chain_lab.network(multicall=multicall))
    seen = chain.round(asset=chain_lab.asset(token), addresses=[address, chain_lab.payer])
    assert (seen.latest_balances[address], seen.settled_balances[address]) == (10, 0)
    assert seen.native_settled[chain_lab.payer] > 0


def test_a_node_that_refuses_large_calls_is_read_one_by_one(
    chain_lab: ChainLab, endpoint: MakeEndpoint
) -> None:
    address = chain_lab.address(1)
    chain_lab.pay(address, 3)

    def no_large_calls(method: str, params: list[Any], forward: Forward) -> Any:
        if method == "eth_call" and params[0]["to"] == chain_lab.multicall:
            raise NodeError(-32000, "out of gas")
        return forward(method, *params)

    chain = Chain(chain_lab.network(urls=[endpoint(no_large_calls).url], multicall=chain_lab.multicall))
    assert chain.round(asset=chain_lab.asset(), addresses=[address]).latest_balances == {address: 3}


@pytest.mark.parametrize("answer", ["0x12", "0x" + "00" * 32, "0x" + "ff" * 96, None, "nonsense"])
def test_an_answer_in_another_form_is_unreadable(
    chain_lab: ChainLab, endpoint: MakeEndpoint, answer: str | None
) -> None:
    def odd(method: str, params: list[Any], forward: Forward) -> Any:
        return answer if method == "eth_call" else forward(method, *params)

    chain = Chain(chain_lab.network(urls=[endpoint(odd).url], multicall=chain_lab.multicall))
    with pytest.raises(ChainUnreadable):
        chain.round(asset=chain_lab.asset(), addresses=[chain_lab.address(1)])


def test_a_contract_without_balances_is_not_read_as_zero(chain_lab: ChainLab) -> None:
    chain = Chain(
        chain_lab.network(multicall=chain_lab.multicall, settle=Settle(mode="confirmations", value=1))
    )
    for contract in (chain_lab.nft, chain_lab.address(9)):
        with pytest.raises(ChainError):
            chain.round(asset=chain_lab.asset(contract), addresses=[chain_lab.address(1)])


def test_a_reorg_inside_a_round_voids_it_here_too(chain_lab: ChainLab, endpoint: MakeEndpoint) -> None:
    chain_lab.pay(chain_lab.address(1), 3)
    once = [True]

    def changing(method: str, params: list[Any], forward: Forward) -> Any:
        if method == "eth_call" and once:
            once.pop()
            chain_lab.reorg(1)
        return forward(method, *params)

    chain = Chain(chain_lab.network(urls=[endpoint(changing).url], multicall=chain_lab.multicall))
    with pytest.raises(ChainMoved):
        chain.round(asset=chain_lab.asset(), addresses=[chain_lab.address(1)])


def test_what_is_no_multicall_is_a_mismatch(chain_lab: ChainLab) -> None:
    Chain(chain_lab.network(multicall=chain_lab.multicall)).verify()
    for contract in (chain_lab.usdc, chain_lab.wallet, chain_lab.fake, chain_lab.address(9)):
        with pytest.raises(ChainMismatch, match="not a Multicall"):
            Chain(chain_lab.network(multicall=contract)).verify()
