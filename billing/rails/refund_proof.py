"""What one transaction paid to whom in one asset, read from its receipt: the proof of a refund. Worker only."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from billing.addresses import checksum_address
from billing.networks import Network
from billing.rails import decode
from billing.rails.errors import ChainMoved, ChainUnreadable
from billing.rails.evm import Chain
from billing.rails.rpc import JsonRpc

# The native coin has no log; this place is beyond any log of a block, so that it collides with none.
NATIVE_ORDINAL = 2_000_000_000


@dataclass(frozen=True)
class Outgoing:
    """One movement of the asset inside the transaction."""

    ordinal: int
    recipient: str
    units: int


@dataclass(frozen=True)
class Proof:
    """`settled`: its block can no longer change by the network's rule. `reverted`: it moved nothing."""

    block_number: int
    block_hash: str
    block_time: datetime
    settled: bool
    reverted: bool
    movements: tuple[Outgoing, ...]


def read_proof(network: Network, tx_hash: str, *, contract: str) -> Proof | None:
    """The transaction as the chain has it now, or None where no block holds it. `contract` empty: the native coin,
    of which only the transaction's own value is seen, not what contracts pass on.

    Every endpoint of the network has to show the same. Raises ChainError.
    """
    found = [_read(JsonRpc(url), tx_hash, contract) for url in network.rpc_urls]
    first = found[0]
    if any(other != first for other in found[1:]):
        raise ChainUnreadable("endpoints disagree about a transaction")
    if first is None:
        return None
    number, block_hash, reverted, movements = first
    chain = Chain(network)
    settled = chain.settled()
    header = chain.header(number)
    if header.hash != block_hash:
        raise ChainMoved("the block of the transaction changed while it was read")
    return Proof(
        block_number=number,
        block_hash=block_hash,
        block_time=header.time,
        settled=number <= settled.number,
        reverted=reverted,
        movements=movements,
    )


def _read(rpc: JsonRpc, tx_hash: str, contract: str) -> tuple[int, str, bool, tuple[Outgoing, ...]] | None:
    receipt = rpc.call("eth_getTransactionReceipt", [tx_hash])
    if receipt is None:
        return None
    if not isinstance(receipt, dict) or not isinstance(receipt.get("logs"), list):
        raise ChainUnreadable("a receipt has no usable form")
    if decode.word(receipt.get("transactionHash")) != tx_hash:
        raise ChainUnreadable("the node answered with another transaction")
    reverted = decode.quantity(receipt.get("status")) != 1
    movements: tuple[Outgoing, ...] = ()
    if not reverted:
        movements = _of_token(receipt["logs"], contract) if contract else _of_coin(rpc, tx_hash)
    return (
        decode.quantity(receipt.get("blockNumber")),
        decode.word(receipt.get("blockHash")),
        reverted,
        movements,
    )


def _of_token(logs: list[Any], contract: str) -> tuple[Outgoing, ...]:
    return tuple(
        found for ordinal, row in enumerate(logs) if (found := _outgoing(row, contract, ordinal)) is not None
    )


def _outgoing(row: Any, contract: str, ordinal: int) -> Outgoing | None:
    topics, amount = (row.get("topics"), row.get("data")) if isinstance(row, dict) else (None, None)
    if not isinstance(topics, list) or not isinstance(amount, str):
        raise ChainUnreadable("a log has no usable form")
    # Four topics are an NFT; another contract says what it likes.
    if str(row.get("address")).lower() != contract.lower() or len(topics) != 3 or len(amount) != 66:
        return None
    if decode.word(topics[0]) != decode.TRANSFER_TOPIC:
        return None
    recipient = decode.raw_address(decode.word(topics[2]))
    units = decode.quantity(amount)
    if recipient is None or units == 0:
        return None
    return Outgoing(ordinal=ordinal, recipient=checksum_address(recipient), units=units)


def _of_coin(rpc: JsonRpc, tx_hash: str) -> tuple[Outgoing, ...]:
    sent = rpc.call("eth_getTransactionByHash", [tx_hash])
    if not isinstance(sent, dict):
        raise ChainMoved("a transaction went away while it was read")
    recipient, units = sent.get("to"), decode.quantity(sent.get("value"))
    if not isinstance(recipient, str) or not units:
        return ()
    word = decode.word("0x" + decode.address_word(recipient))
    return (Outgoing(ordinal=NATIVE_ORDINAL, recipient=checksum_address("0x" + word[26:]), units=units),)
