"""Token transfers to our addresses from eth_getLogs: evidence to show, while the balance decides.

A range counts only if the same answer also carries the header of its last block: an endpoint that lags behind
the head would otherwise say "no transfer" about blocks that it has not seen.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from billing.rails import decode
from billing.rails.errors import ChainMoved, ChainUnreadable, RpcRefused, RpcTooLarge
from billing.rails.facts import Header, TransferLog
from billing.rails.rpc import Call, JsonRpc, result_of

RECIPIENTS_PER_CALL = 500  # a node answers this many in a few milliseconds; some refuse 1,000
BLOCKS_PER_CALL = 2_000  # accepted by most endpoints; halved where refused
RECEIPTS_PER_CALL = 20  # the receipt of a batch payout may hold thousands of logs
HEADERS_PER_CALL = 100
SCAN_SECONDS = 30.0  # below the time limit of a caller's claim: a call has to end before another may start

T = TypeVar("T")


@dataclass(frozen=True)
class _Found:
    """A matching log before its place in the transaction and the time of its block are known."""

    tx_hash: str
    log_index: int
    block_number: int
    block_hash: str
    sender: str
    recipient: str
    units: int


class TransferScan:
    """Reads one token's transfers to some recipients in a closed range of blocks."""

    def __init__(self, rpc: JsonRpc, *, contract: str, top: Header) -> None:
        self._rpc = rpc
        self._contract = contract
        self._top = top
        self._deadline = time.monotonic() + SCAN_SECONDS

    def read(self, *, recipients: Sequence[str], from_block: int) -> list[TransferLog]:
        """Transfers above zero, oldest first. Raises ChainMoved if a block changed while reading."""
        found: list[_Found] = []
        for group in chunks(list(dict.fromkeys(recipients)), RECIPIENTS_PER_CALL):
            found += self._group(group, from_block)
        found.sort(key=lambda log: (log.block_number, log.log_index))
        ordinals = self._ordinals({log.tx_hash: log.block_hash for log in found})
        headers = self._headers({log.block_number: log.block_hash for log in found})
        try:
            return [
                TransferLog(
                    tx_hash=log.tx_hash,
                    ordinal_in_tx=ordinals[log.tx_hash, log.log_index],
                    block_number=log.block_number,
                    block_hash=log.block_hash,
                    block_time=headers[log.block_number].time,
                    sender=log.sender,
                    recipient=log.recipient,
                    units=log.units,
                )
                for log in found
            ]
        except KeyError as error:
            raise ChainMoved("a log is not in the receipt of its transaction") from error

    def _group(self, recipients: list[str], from_block: int) -> list[_Found]:
        found: list[_Found] = []
        start, span = from_block, BLOCKS_PER_CALL
        while start <= self._top.number:
            end = min(start + span - 1, self._top.number)
            try:
                logs = self._range(recipients, start, end)
            except (RpcRefused, RpcTooLarge):
                if end == start:
                    raise
                span = (end - start + 1) // 2
                continue
            found += (log for log in logs if log is not None)
            start = end + 1
        return found

    def _range(self, recipients: list[str], start: int, end: int) -> list[_Found | None]:
        topics = [
            decode.TRANSFER_TOPIC,
            None,
            ["0x" + decode.address_word(address) for address in recipients],
        ]
        query = {"fromBlock": hex(start), "toBlock": hex(end), "address": [self._contract], "topics": topics}
        top, answer = self._batch([block_call(self._top.number), ("eth_getLogs", [query])])
        same_block(decode.header(result_of(top), number=self._top.number), self._top)
        rows = result_of(answer)
        if not isinstance(rows, list):
            raise ChainUnreadable("the list of logs has no usable form")
        return [self._parsed(row, set(recipients), start, end) for row in rows]

    def _parsed(self, row: Any, recipients: set[str], start: int, end: int) -> _Found | None:
        """None for what is no payment: other contract, four topics (NFT), no amount, amount zero, removed."""
        topics, amount = (row.get("topics"), row.get("data")) if isinstance(row, dict) else (None, None)
        if not isinstance(topics, list) or not isinstance(amount, str):
            raise ChainUnreadable("a log has no usable form")
        if len(topics) != 3 or len(amount) != 66 or row.get("removed") is True:
            return None
        if (
            str(row.get("address")).lower() != self._contract.lower()
            or decode.word(topics[0]) != decode.TRANSFER_TOPIC
        ):
            return None
        sender = decode.address_in_word(decode.word(topics[1]))
        recipient = decode.address_in_word(decode.word(topics[2]))
        units = decode.quantity(amount)
        if units == 0 or sender is None or recipient not in recipients:
            return None
        block_number = decode.quantity(row.get("blockNumber"))
        if not start <= block_number <= end:
            raise ChainUnreadable("a log lies outside the range that was asked")
        return _Found(
            tx_hash=decode.word(row.get("transactionHash")),
            log_index=decode.quantity(row.get("logIndex")),
            block_number=block_number,
            block_hash=decode.word(row.get("blockHash")),
            sender=sender,
            recipient=recipient,
            units=units,
        )

    def _headers(self, hashes: dict[int, str]) -> dict[int, Header]:
        """Headers of the blocks with logs and, always, of the last block of the range, re-read at the end."""
        expected = {**hashes, self._top.number: self._top.hash}
        headers: dict[int, Header] = {}
        for group in chunks(sorted(expected), HEADERS_PER_CALL):
            for number, response in zip(group, self._batch([block_call(n) for n in group]), strict=True):
                headers[number] = decode.header(result_of(response), number=number)
                if headers[number].hash != expected[number]:
                    raise ChainMoved(f"block {number} changed while its logs were read")
        return headers

    def _ordinals(self, transactions: dict[str, str]) -> dict[tuple[str, int], int]:
        """Place of each log among all logs of its transaction.

        The index within the block changes when the transaction is mined again, and a place among the matching
        logs would depend on which recipients were asked for; the place in the receipt does neither.
        """
        ordinals: dict[tuple[str, int], int] = {}
        for group in chunks(sorted(transactions), RECEIPTS_PER_CALL):
            calls: list[Call] = [("eth_getTransactionReceipt", [tx_hash]) for tx_hash in group]
            for tx_hash, response in zip(group, self._batch(calls), strict=True):
                receipt = result_of(response)
                if receipt is None:
                    raise ChainMoved(f"transaction {tx_hash} went away while it was read")
                if not isinstance(receipt, dict) or not isinstance(receipt.get("logs"), list):
                    raise ChainUnreadable("a receipt has no usable form")
                if decode.word(receipt.get("blockHash")) != transactions[tx_hash]:
                    raise ChainMoved(f"transaction {tx_hash} moved to another block while it was read")
                for ordinal, row in enumerate(receipt["logs"]):
                    index = row.get("logIndex") if isinstance(row, dict) else None
                    ordinals[tx_hash, decode.quantity(index)] = ordinal
        return ordinals

    def _batch(self, calls: list[Call]) -> list[dict[str, Any]]:
        if time.monotonic() > self._deadline:
            raise ChainUnreadable(f"the range was not read within {SCAN_SECONDS:.0f} seconds")
        return self._rpc.batch(calls)


def block_call(number: int | str) -> Call:
    """The header of a block by height or tag, without its transactions."""
    return ("eth_getBlockByNumber", [number if isinstance(number, str) else hex(number), False])


def same_block(found: Header, expected: Header) -> None:
    if found.hash != expected.hash:
        raise ChainMoved(f"block {expected.number} changed while it was read")


def chunks(items: list[T], size: int) -> Iterator[list[T]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]
