"""Transfer logs as evidence: several in one transaction, look-alikes left out, long ranges caught up."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from billing.rails import logs
from billing.rails.errors import ChainUnreadable
from billing.rails.lab import call_data
from tests.chain.endpoints import FaultyEndpoint, Forward, NodeError, Raw, Rule
from tests.chain.lab import DUE, ChainLab

pytestmark = pytest.mark.chain
MakeEndpoint = Callable[[Rule], FaultyEndpoint]


def test_c20_one_transaction_with_several_payments(chain_lab: ChainLab) -> None:
    a, b, stranger = chain_lab.address(1), chain_lab.address(2), chain_lab.address(3)
    recipients, units = [a, b, stranger, a], [10_000_000, DUE, 1, 15_500_000]
    tx_hash = chain_lab.send("Wallet", chain_lab.wallet, "tokenMulti", chain_lab.usdc, recipients, units)
    chain, asset = chain_lab.chain(), chain_lab.asset()
    head = chain.head()

    found = chain.transfers(asset=asset, recipients=[a, b], from_block=head.number, to_block=head.number)
    assert [(log.ordinal_in_tx, log.recipient, log.units) for log in found] == [
        (0, a, 10_000_000),
        (1, b, DUE),
        (3, a, 15_500_000),
    ]
    assert {(log.tx_hash, log.sender, log.block_hash, log.block_time) for log in found} == {
        (tx_hash, chain_lab.wallet, head.hash, head.time)
    }
    # The key of a transfer may not depend on who is asked about.
    alone = chain.transfers(asset=asset, recipients=[b], from_block=head.number, to_block=head.number)
    assert [log.ordinal_in_tx for log in alone] == [1]


def test_c20_the_ordinal_survives_another_place_in_the_block(chain_lab: ChainLab) -> None:
    """Mined again behind another transaction, the log's index in the block changes, its ordinal does not."""
    address = chain_lab.address(1)
    chain, asset = chain_lab.chain(), chain_lab.asset()
    tx_hash = chain_lab.send(
        "Wallet", chain_lab.wallet, "tokenMulti", chain_lab.usdc, [chain_lab.address(2), address], [1, DUE],
        sender=chain_lab.payer,
    )  # fmt: skip
    [before] = _all(chain_lab, [address])
    index_before = int(chain_lab.receipt(tx_hash)["logs"][1]["logIndex"], 16)
    raw = chain_lab.anvil.rpc("eth_getRawTransactionByHash", tx_hash)
    first = {
        "from": chain_lab.stranger,
        "to": chain_lab.nft,
        "data": call_data("Nft", "give", chain_lab.address(5), 1),
    }
    chain_lab.reorg(1, [[first, 0], [raw, 0]])

    [after] = _all(chain_lab, [address])
    receipt = chain_lab.receipt(tx_hash)
    assert int(receipt["logs"][1]["logIndex"], 16) == index_before + 1  # the ground of this test
    assert after.block_hash != before.block_hash
    assert (after.tx_hash, after.ordinal_in_tx) == (before.tx_hash, before.ordinal_in_tx) == (tx_hash, 1)
    assert chain.round(asset=asset, addresses=[address]).latest_balances == {address: DUE}


def test_c24_fake_token_empty_transfer_and_nft_are_no_money(chain_lab: ChainLab) -> None:
    address = chain_lab.address(1)
    chain_lab.send("FakeToken", chain_lab.fake, "fake", chain_lab.payer, address, 10**12)
    chain_lab.send("TestToken", chain_lab.usdc, "transferFrom", chain_lab.payer, address, 0)
    chain_lab.send("Nft", chain_lab.nft, "give", address, 7)
    query = {"fromBlock": "0x0", "toBlock": "latest", "topics": [None, None, _topic(address)]}
    shouted = chain_lab.anvil.rpc("eth_getLogs", query)
    assert len(shouted) == 3  # all three did happen

    assert _all(chain_lab, [address]) == []
    nft = chain_lab.asset(chain_lab.nft, symbol="NFT")  # even where somebody configures the NFT as an asset
    head = chain_lab.head().number
    assert chain_lab.chain().transfers(asset=nft, recipients=[address], from_block=0, to_block=head) == []
    seen = chain_lab.chain().round(asset=chain_lab.asset(), addresses=[address])
    assert seen.latest_balances == {address: 0}


def test_a_node_that_ignores_the_filter_is_not_believed(chain_lab: ChainLab, endpoint: MakeEndpoint) -> None:
    address = chain_lab.address(1)
    chain_lab.send("FakeToken", chain_lab.fake, "fake", chain_lab.payer, address, 10**12)
    chain_lab.send("Nft", chain_lab.nft, "give", address, 7)
    chain_lab.pay(chain_lab.address(2), 5)
    chain_lab.pay(address, DUE)

    def everything(method: str, params: list[Any], forward: Forward) -> Any:
        if method == "eth_getLogs":
            params = [{key: params[0][key] for key in ("fromBlock", "toBlock")}]
        return forward(method, *params)

    assert [log.units for log in _all(chain_lab, [address], endpoint(everything).url)] == [DUE]


def test_a_transfer_with_a_fourth_topic_is_no_money(chain_lab: ChainLab, endpoint: MakeEndpoint) -> None:
    """An ERC-721 whose event carries 32 bytes of data as well."""
    address = chain_lab.address(1)
    chain_lab.pay(address, DUE)

    def with_id(method: str, params: list[Any], forward: Forward) -> Any:
        answer = forward(method, *params)
        if method == "eth_getLogs":
            answer = [{**row, "topics": [*row["topics"], "0x" + "07" * 32]} for row in answer]
        return answer

    assert _all(chain_lab, [address], endpoint(with_id).url) == []
    assert len(_all(chain_lab, [address], endpoint(lambda m, p, f: f(m, *p)).url)) == 1


def test_c30_a_night_is_caught_up_in_one_pass_with_times_of_the_blocks(
    chain_lab: ChainLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logs, "BLOCKS_PER_CALL", 100)
    address = chain_lab.address(1)
    start = chain_lab.head()
    chain_lab.set_next_time(start.time + timedelta(minutes=10))
    chain_lab.pay(address, DUE)
    chain_lab.mine(450)
    chain_lab.pay(address, 1)

    first, last = _all(chain_lab, [address], from_block=start.number)
    assert (first.units, first.block_time) == (DUE, start.time + timedelta(minutes=10))
    assert (last.units, last.block_number) == (1, chain_lab.head().number)


@pytest.mark.parametrize("refusal", ["error", "http-400", "http-413"])
def test_c30_a_refused_range_is_halved(chain_lab: ChainLab, endpoint: MakeEndpoint, refusal: str) -> None:
    address = chain_lab.address(1)
    start = chain_lab.head().number
    chain_lab.pay(address, 1)
    chain_lab.mine(120)
    chain_lab.pay(address, 2)

    def at_most_ten(method: str, params: list[Any], forward: Forward) -> Any:
        if method == "eth_getLogs" and int(params[0]["toBlock"], 16) - int(params[0]["fromBlock"], 16) >= 10:
            if refusal == "error":
                raise NodeError(-32005, "query returned more than 10000 results")
            raise Raw(int(refusal[-3:]), b"range too large")
        return forward(method, *params)

    found = _all(chain_lab, [address], endpoint(at_most_ten).url, from_block=start)
    assert [log.units for log in found] == [1, 2]


def test_a_node_that_refuses_every_range_ends_in_one_error(
    chain_lab: ChainLab, endpoint: MakeEndpoint
) -> None:
    def never(method: str, params: list[Any], forward: Forward) -> Any:
        if method == "eth_getLogs":
            raise NodeError(-32601, "logs are not served\nhere" + "!" * 1000)
        return forward(method, *params)

    refusing = endpoint(never)
    with pytest.raises(ChainUnreadable) as caught:
        _all(chain_lab, [chain_lab.address(1)], refusing.url)
    assert len(caught.value.reason) <= 160
    assert "\n" not in caught.value.reason
    assert len(refusing.requests) < 20  # the halving ends


def test_a_scan_that_takes_too_long_ends(chain_lab: ChainLab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "SCAN_SECONDS", -1.0)
    with pytest.raises(ChainUnreadable, match="was not read within"):
        _all(chain_lab, [chain_lab.address(1)])


def test_nothing_is_asked_for_an_empty_range_or_nobody(chain_lab: ChainLab) -> None:
    chain, asset = chain_lab.chain("http://127.0.0.1:9"), chain_lab.asset()
    assert chain.transfers(asset=asset, recipients=[], from_block=0, to_block=5) == []
    assert chain.transfers(asset=asset, recipients=[chain_lab.address(1)], from_block=6, to_block=5) == []


def _all(chain_lab: ChainLab, recipients: list[str], *urls: str, from_block: int = 0) -> list[Any]:
    chain = chain_lab.chain(*urls)
    return list(
        chain.transfers(
            asset=chain_lab.asset(),
            recipients=recipients,
            from_block=from_block,
            to_block=chain.head().number,
        )
    )


def _topic(address: str) -> str:
    return "0x" + address[2:].lower().rjust(64, "0")
