"""Balances at named blocks decide: who received, which asset, how settled; is an address fresh."""

from __future__ import annotations

from datetime import timedelta

import pytest

from billing.networks import Settle
from billing.rails.errors import ChainUnreadable
from tests.chain.lab import DUE, FINALITY, ChainLab

pytestmark = pytest.mark.chain
ETH = 10**18


def test_money_is_seen_at_the_head_and_settled_only_below_finality(chain_lab: ChainLab) -> None:
    address = chain_lab.address(1)
    chain, asset = chain_lab.chain(), chain_lab.asset()
    chain_lab.pay(address, DUE)

    seen = chain.round(asset=asset, addresses=[address])
    assert (seen.latest_balances[address], seen.settled_balances[address]) == (DUE, 0)
    assert seen.head.number - seen.settled.number == 64

    chain_lab.mine(FINALITY)
    settled = chain.round(asset=asset, addresses=[address], from_block=seen.head.number)
    assert settled.settled_balances == {address: DUE}
    assert settled.settled == chain.header(settled.settled.number)
    assert settled.settled.hash == settled.settled.hash.lower()
    assert settled.settled.time.utcoffset() == timedelta(0)


def test_c16_the_recipient_decides_and_no_other_address_profits(chain_lab: ChainLab) -> None:
    paid, other = chain_lab.address(1), chain_lab.address(2)
    tx_hash = chain_lab.pay(paid, DUE)
    chain = chain_lab.chain()

    seen = chain.round(asset=chain_lab.asset(), addresses=[paid, other])
    assert seen.latest_balances == {paid: DUE, other: 0}
    logs = chain.transfers(
        asset=chain_lab.asset(), recipients=[paid, other], from_block=0, to_block=seen.head.number
    )
    assert [(log.tx_hash, log.recipient, log.units) for log in logs] == [(tx_hash, paid, DUE)]


def test_waiting_money_is_not_seen(chain_lab: ChainLab) -> None:
    """The tag `pending` would already show it (C34)."""
    address = chain_lab.address(1)
    with chain_lab.mining_off():
        chain_lab.pay(address, DUE)
        pending = chain_lab.anvil.rpc("eth_getTransactionCount", chain_lab.payer, "pending")
        mined = chain_lab.anvil.rpc("eth_getTransactionCount", chain_lab.payer, "latest")
        assert int(pending, 16) == int(mined, 16) + 1  # it does wait
        seen = chain_lab.chain().round(asset=chain_lab.asset(), addresses=[address])
        assert seen.latest_balances == {address: 0}


def test_other_assets_stay_apart(chain_lab: ChainLab) -> None:
    """C06 and C36: native coin and another token never count as the asset asked for, and are found."""
    address = chain_lab.address(1)
    chain_lab.pay_native(address, 25 * ETH)
    chain_lab.send("SilentToken", chain_lab.usdt, "transfer", address, DUE)
    chain = chain_lab.chain()

    seen = chain.round(asset=chain_lab.asset(), addresses=[address])
    assert seen.latest_balances == {address: 0}
    assert seen.native_latest == {address: 25 * ETH}
    assert seen.native_settled == {address: 0}
    assert chain.check_address(address).token_units == {"USDC": 0, "USDT": DUE}


def test_a_native_asset_is_judged_by_balance_even_from_an_internal_call(chain_lab: ChainLab) -> None:
    address = chain_lab.address(1)
    native = chain_lab.asset()
    native = type(native)(symbol="ETH", name="Ether", contract=None, decimals=18, price=None)
    chain_lab.send("Wallet", chain_lab.wallet, "pay", address, 10**16)
    chain_lab.send("Wallet", chain_lab.wallet, "payThenUndo", address, 10**16)
    chain = chain_lab.chain()

    seen = chain.round(asset=native, addresses=[address])
    assert seen.latest_balances == {address: 10**16}
    assert chain.transfers(asset=native, recipients=[address], from_block=0, to_block=seen.head.number) == []


def test_c25_a_token_that_takes_a_fee_shows_in_balance_and_log(chain_lab: ChainLab) -> None:
    address = chain_lab.address(1)
    chain_lab.pay(address, DUE, token=chain_lab.fee)
    chain, asset = chain_lab.chain(), chain_lab.asset(chain_lab.fee, symbol="FEE")

    seen = chain.round(asset=asset, addresses=[address])
    logs = chain.transfers(asset=asset, recipients=[address], from_block=0, to_block=seen.head.number)
    assert (seen.latest_balances[address], logs[0].units) == (25_245_000, DUE)


def test_a_token_younger_than_the_settled_block_counts_zero_there(chain_lab: ChainLab) -> None:
    token = chain_lab.deploy("TestToken", "USD Coin", "USDC", 6, DUE)
    address = chain_lab.address(1)
    chain_lab.send("TestToken", token, "transfer", address, DUE)
    seen = chain_lab.chain().round(asset=chain_lab.asset(token), addresses=[address])
    assert (seen.latest_balances[address], seen.settled_balances[address]) == (DUE, 0)


def test_an_address_without_a_contract_is_not_a_token(chain_lab: ChainLab) -> None:
    with pytest.raises(ChainUnreadable):
        chain_lab.chain().round(asset=chain_lab.asset(chain_lab.address(9)), addresses=[chain_lab.address(1)])


def test_many_addresses_need_more_than_one_batch(chain_lab: ChainLab) -> None:
    addresses = [chain_lab.address(index) for index in range(230)]
    chain_lab.pay(addresses[0], 1)
    chain_lab.pay(addresses[229], 7)
    seen = chain_lab.chain().round(asset=chain_lab.asset(), addresses=addresses)
    assert {a: u for a, u in seen.latest_balances.items() if u} == {addresses[0]: 1, addresses[229]: 7}
    assert len(seen.native_settled) == 230
    with pytest.raises(ValueError, match="at most 500"):
        chain_lab.chain().round(
            asset=chain_lab.asset(), addresses=[chain_lab.address(index) for index in range(501)]
        )


def test_a_round_without_addresses_tells_where_the_chain_stands(chain_lab: ChainLab) -> None:
    seen = chain_lab.chain().round(asset=chain_lab.asset(), addresses=[])
    assert (seen.head, seen.latest_balances) == (chain_lab.head(), {})
    assert seen.settled == chain_lab.chain().settled()


def test_a_confirmations_rule_counts_the_head_as_the_first(chain_lab: ChainLab) -> None:
    chain_lab.mine(3)
    head = chain_lab.head().number
    for value, expected in ((1, head), (12, head - 11), (10**6, 0)):
        settled = chain_lab.chain(settle=Settle(mode="confirmations", value=value)).settled()
        assert settled.number == expected


def test_an_age_rule_goes_by_block_time_alone(chain_lab: ChainLab) -> None:
    chain = chain_lab.chain(settle=Settle(mode="age", value=60))
    chain_lab.mine(1)
    old = chain.head()
    chain_lab.set_next_time(old.time + timedelta(seconds=59))
    chain_lab.mine(1)
    assert chain.settled().number < old.number
    chain_lab.set_next_time(old.time + timedelta(seconds=60))
    chain_lab.mine(1)
    assert chain.settled() == old
    assert chain_lab.chain(settle=Settle(mode="age", value=10**6)).settled().number == 0


def test_c17_an_address_with_a_history_is_reported(chain_lab: ChainLab) -> None:
    fresh, token, native = chain_lab.address(1), chain_lab.address(2), chain_lab.address(3)
    chain_lab.pay(token, 1)
    chain_lab.pay_native(native, 1)
    asked = [fresh, token, native, chain_lab.rich[0], chain_lab.stranger, chain_lab.wallet]
    chain_lab.transact({"from": chain_lab.stranger, "to": chain_lab.deployer, "value": "0x0"})

    states = chain_lab.chain().check_addresses(asked)
    assert [states[a].clean for a in asked] == [True, False, False, False, False, False]
    assert states[token].token_units == {"USDC": 1, "USDT": 0}
    assert states[native].native_units == 1
    assert states[chain_lab.rich[0]].native_units == 10_000 * ETH
    assert states[chain_lab.stranger].nonce == 1
    assert states[chain_lab.wallet].code_size > 0
    assert states[fresh].at == chain_lab.head()


def test_c17_an_emptied_address_still_has_its_nonce(chain_lab: ChainLab) -> None:
    chain_lab.anvil.rpc("anvil_setBalance", chain_lab.stranger, "0x0")
    chain_lab.anvil.rpc("anvil_setNonce", chain_lab.stranger, "0x5")
    state = chain_lab.chain().check_address(chain_lab.stranger, [chain_lab.asset()])
    assert (state.native_units, state.nonce, state.clean) == (0, 5, False)
