"""The local test chain (31337 and no other): its test USDC, the demo buyer's wallet and its clock.

No key lives here: deployer and buyer are accounts that the local node has unlocked. Needs no Django settings,
as the demo prepares the chain before the settings can load.
"""

from __future__ import annotations

import os
import tempfile
import time
from datetime import datetime
from pathlib import Path
from typing import Any

from eth_utils.crypto import keccak

from billing.addresses import checksum_address
from billing.networks import Asset, Network, parse_networks
from billing.rails import decode
from billing.rails.errors import ChainError, ChainUnreadable, RpcRefused
from billing.rails.lab import call_data, creation_data
from billing.rails.logs import block_call, chunks
from billing.rails.reads import aggregate_data, aggregate_results
from billing.rails.rpc import MAX_BATCH, JsonRpc, result_of

CHAIN_ID = 31337
SLUG = "local"
TOKEN_NAME, TOKEN_SYMBOL, TOKEN_DECIMALS = "USD Coin", "USDC", 6
BUYER_UNITS = 1_000_000 * 10**TOKEN_DECIMALS
BLOCK_SECONDS = 2
FINALITY_BLOCKS = 3  # with one slot per epoch `finalized` is two blocks behind the head
MINED_SECONDS = 15.0  # the node mines at once or every two seconds; more means that it is stuck
SCAN_BACK_BLOCKS = 10_000  # over five hours: a payment is tried again within minutes
MAX_DEPLOYER_NONCES = 64  # the deployer does little else, so what it created is among the first

_DEPLOYER, _BUYER = 0, 1  # places among the node's unlocked accounts


class LocalChainError(ChainError):
    """What the demo's chain cannot do; one sentence."""


def prepare(rpc_url: str, networks_file: str | Path) -> None:
    """Deploys or finds the test USDC, tops up the demo buyer, writes the networks file. May be repeated."""
    rpc = _connect(rpc_url)
    token, multicall = _contracts(rpc, Path(networks_file))
    missing = BUYER_UNITS - _balance(rpc, token, _account(rpc, _BUYER))
    if missing > 0:
        data = call_data("TestToken", "mint", _account(rpc, _BUYER), missing)
        _mined(rpc, _send(rpc, {"from": _account(rpc, _DEPLOYER), "to": token, "data": data}))
    # A node that was started again from its state file has no history: without new blocks the settled state,
    # two blocks back, could not be read and the network would not be offered.
    rpc.call("anvil_mine", [hex(FINALITY_BLOCKS)])
    _write(Path(networks_file), networks_toml(rpc_url, token, multicall))


def networks_toml(rpc_url: str, token: str, multicall: str) -> str:
    """The networks file of the demo."""
    return f"""# Written by the demo: the local test chain. Nothing on it has any value.
[networks.{SLUG}]
name = "Anchor test chain"
chain_id = {CHAIN_ID}
rpc_urls = ["{rpc_url}"]
block_seconds = {BLOCK_SECONDS}
multicall = "{multicall}"
test = true

[networks.{SLUG}.settle]
mode = "finalized"

[[networks.{SLUG}.assets]]
symbol = "{TOKEN_SYMBOL}"
name = "{TOKEN_NAME}"
contract = "{token}"
decimals = {TOKEN_DECIMALS}
price = "1"
"""


def next_nonce(rpc_url: str) -> int:
    """The buyer's next free nonce, waiting transactions included. The caller stores it before it sends."""
    rpc = _connect(rpc_url)
    return decode.quantity(rpc.call("eth_getTransactionCount", [_account(rpc, _BUYER), "pending"]))


def buyer_address(rpc_url: str) -> str:
    return _account(_connect(rpc_url), _BUYER)


def buyer_balance(rpc_url: str, asset: Asset) -> int:
    """What the demo buyer holds of the asset, in base units."""
    rpc = _connect(rpc_url)
    buyer = _account(rpc, _BUYER)
    if asset.contract is None:
        return decode.quantity(rpc.call("eth_getBalance", [buyer, "latest"]))
    return _balance(rpc, asset.contract, buyer)


def send_token(
    rpc_url: str, network: Network, asset: Asset, recipient: str, units: int, nonce: int | None = None
) -> str:
    """Transfers from the demo buyer's wallet and returns the transaction's hash; does not wait for a block.

    Safe to repeat with the same nonce: one nonce pays at most once. Where it is used up already, the hash of
    that transaction is returned if it is this very transfer; else LocalChainError.
    """
    if network.chain_id != CHAIN_ID:
        raise LocalChainError(f"The demo wallet pays on chain {CHAIN_ID} only, not on {network.chain_id}.")
    rpc = _connect(rpc_url)
    buyer = _account(rpc, _BUYER)
    if nonce is None:
        nonce = next_nonce(rpc_url)
    if asset.contract is None:
        transaction = {"from": buyer, "to": recipient, "value": hex(units), "data": "0x"}
    else:
        data = call_data("TestToken", "transfer", recipient, units)
        transaction = {"from": buyer, "to": asset.contract, "value": "0x0", "data": data}
    known = _sent_with(rpc, buyer, nonce)
    if known is None:
        try:
            return _send(rpc, {**transaction, "nonce": hex(nonce)})
        except RpcRefused as error:
            known = _sent_with(rpc, buyer, nonce)  # another run of the same task may have been faster
            if known is None:
                raise LocalChainError(f"The demo wallet could not pay: {error.node_message}.") from error
    if not _is_same(known, transaction):
        raise LocalChainError(f"Nonce {nonce} of the demo wallet has paid something else.")
    return decode.word(known.get("hash"))


def chain_time(rpc_url: str) -> datetime:
    """The time of the newest block."""
    return decode.header(_connect(rpc_url).call(*block_call("latest"))).time


def move_time(rpc_url: str, to: datetime) -> datetime:
    """Brings the chain's clock up to `to`, mines until that is settled; never goes back. Returns the time."""
    rpc = _connect(rpc_url)
    if decode.header(rpc.call(*block_call("latest"))).time < to:
        try:
            rpc.call("evm_setNextBlockTimestamp", [int(to.timestamp())])
        except RpcRefused:
            if decode.header(rpc.call(*block_call("latest"))).time < to:  # else a block came in between
                raise
    rpc.call("anvil_mine", [hex(FINALITY_BLOCKS)])
    return decode.header(rpc.call(*block_call("latest"))).time


def _connect(rpc_url: str) -> JsonRpc:
    rpc = JsonRpc(rpc_url)
    found = decode.quantity(rpc.call("eth_chainId", []))
    if found != CHAIN_ID:
        raise LocalChainError(
            f"This is for the local test chain {CHAIN_ID} only; the node serves chain {found}."
        )
    return rpc


def _account(rpc: JsonRpc, place: int) -> str:
    accounts = rpc.call("eth_accounts", [])
    if not isinstance(accounts, list) or len(accounts) <= place:
        raise LocalChainError("The local chain has no unlocked accounts.")
    return checksum_address(str(accounts[place]))


def _contracts(rpc: JsonRpc, networks_file: Path) -> tuple[str, str]:
    """Token and Multicall of an earlier start, those of the file first, or new ones.

    Looking through what the deployer has created covers a start that was killed before the file was written.
    """
    deployer = _account(rpc, _DEPLOYER)
    used = decode.quantity(rpc.call("eth_getTransactionCount", [deployer, "latest"]))
    created = [_created_address(deployer, nonce) for nonce in range(min(used, MAX_DEPLOYER_NONCES))]
    candidates = _written(networks_file) + created
    token = next((address for address in candidates if _is_token(rpc, address)), None)
    multicall = next((address for address in candidates if _is_multicall(rpc, address)), None)
    arguments = (TOKEN_NAME, TOKEN_SYMBOL, TOKEN_DECIMALS, BUYER_UNITS)
    return token or _deploy(rpc, "TestToken", *arguments), multicall or _deploy(rpc, "Multicall")


def _written(file: Path) -> list[str]:
    try:
        network = parse_networks(file.read_text(encoding="utf-8"))[SLUG]
        found = [network.asset(TOKEN_SYMBOL).contract, network.multicall]
    except (OSError, ValueError, KeyError):  # absent, or not ours: it is written anew
        return []
    return [address for address in found if address is not None]


def _is_token(rpc: JsonRpc, address: str) -> bool:
    try:
        symbol = decode.data(rpc.call("eth_call", [{"to": address, "data": decode.SYMBOL}, "latest"]))
        decimals = decode.data(rpc.call("eth_call", [{"to": address, "data": decode.DECIMALS}, "latest"]))
    except RpcRefused:
        return False
    is_right_scale = decimals != "0x" and int(decimals, 16) == TOKEN_DECIMALS
    return is_right_scale and symbol != "0x" and decode.text(symbol) == TOKEN_SYMBOL


def _is_multicall(rpc: JsonRpc, address: str) -> bool:
    data = decode.GET_ETH_BALANCE + decode.address_word(_account(rpc, _BUYER))
    try:
        answer = rpc.call("eth_call", [{"to": address, "data": aggregate_data([(address, data)])}, "latest"])
        return answer != "0x" and bool(int(aggregate_results(answer, 1)[0], 16))
    except (ChainUnreadable, ValueError):
        return False


def _deploy(rpc: JsonRpc, contract: str, *arguments: str | int) -> str:
    data = creation_data(contract, *arguments)
    receipt = _mined(rpc, _send(rpc, {"from": _account(rpc, _DEPLOYER), "data": data}))
    return checksum_address(str(receipt["contractAddress"]))


def _created_address(creator: str, nonce: int) -> str:
    """Where a contract lands: RLP of creator and nonce, which is one byte for the nonces that we look at."""
    digest = keccak(b"\xd6\x94" + bytes.fromhex(creator[2:]) + bytes([nonce or 0x80]))
    return checksum_address("0x" + digest[12:].hex())


def _balance(rpc: JsonRpc, token: str, holder: str) -> int:
    data = decode.BALANCE_OF + decode.address_word(holder)
    return decode.quantity(decode.word(rpc.call("eth_call", [{"to": token, "data": data}, "latest"])))


def _send(rpc: JsonRpc, transaction: dict[str, str]) -> str:
    return decode.word(rpc.call("eth_sendTransaction", [transaction]))


def _mined(rpc: JsonRpc, tx_hash: str) -> dict[str, Any]:
    deadline = time.monotonic() + MINED_SECONDS
    while time.monotonic() < deadline:
        receipt = rpc.call("eth_getTransactionReceipt", [tx_hash])
        if isinstance(receipt, dict):
            if decode.quantity(receipt.get("status")) != 1:
                raise LocalChainError(f"Transaction {tx_hash} failed on the local chain.")
            return receipt
        time.sleep(0.1)
    raise ChainUnreadable(f"transaction {tx_hash} was not mined within {MINED_SECONDS:.0f} seconds")


def _sent_with(rpc: JsonRpc, sender: str, nonce: int) -> dict[str, Any] | None:
    """The sender's transaction with that nonce, mined or waiting, or None where the nonce is free."""
    taken = decode.quantity(rpc.call("eth_getTransactionCount", [sender, "pending"]))
    if nonce >= taken:
        return None
    try:
        answer = rpc.call("eth_getTransactionBySenderAndNonce", [sender, hex(nonce)])
    except RpcRefused:  # the node looks it up in its history, which a start from the state file has not got
        answer = None
    found = dict(answer) if isinstance(answer, dict) else _in_blocks(rpc, sender, nonce)
    if found is None:
        raise LocalChainError(f"Nonce {nonce} of the demo wallet is used, but not by a payment of late.")
    return found


def _in_blocks(rpc: JsonRpc, sender: str, nonce: int) -> dict[str, Any] | None:
    """Looks through the newest blocks, backwards."""
    head = decode.header(rpc.call(*block_call("latest"))).number
    numbers = list(range(head, max(-1, head - SCAN_BACK_BLOCKS), -1))
    for group in chunks(numbers, MAX_BATCH):
        for answer in rpc.batch([("eth_getBlockByNumber", [hex(number), True]) for number in group]):
            for row in (result_of(answer) or {}).get("transactions", []):
                if str(row["from"]).lower() == sender.lower() and decode.quantity(row["nonce"]) == nonce:
                    return dict(row)
    return None


def _is_same(found: dict[str, Any], wanted: dict[str, str]) -> bool:
    return (
        str(found.get("to")).lower() == wanted["to"].lower()
        and str(found.get("input")).lower() == wanted["data"].lower()
        and decode.quantity(found.get("value")) == int(wanted["value"], 16)
    )


def _write(file: Path, text: str) -> None:
    """All or nothing, and only if it differs: the file's time tells readers whether to read again."""
    if file.exists() and file.read_text(encoding="utf-8") == text:
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            out.write(text)
        Path(temporary).replace(file)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
