"""Token transfers from eth_getLogs: evidence to show, while the balance decides.

A range counts only if the same answer also carries the header of its last block: an endpoint that lags behind
the head would otherwise say "no transfer" about blocks that it has not seen.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from billing.addresses import checksum_address
from billing.rails import decode
from billing.rails.errors import ChainMoved, ChainUnreadable, RpcRefused, RpcTooLarge
from billing.rails.facts import Header, TransferLog
from billing.rails.rpc import Call, JsonRpc, result_of

RECIPIENTS_PER_CALL = 500  # a node answers this many in a few milliseconds; some refuse 1,000
BLOCKS_PER_CALL = 2_000  # accepted by most endpoints; halved where refused
RECEIPTS_PER_CALL = 20  # the receipt of a batch payout may hold thousands of logs
HEADERS_PER_CALL = 100
# For one piece, below the time limit of a caller's claim: it ends before another may start.
SCAN_SECONDS = 30.0

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RawLog:
    """A transfer above zero before its place in the transaction and the time of its block are known.

    `contract` as in the networks file, `recipient` in lower case: most belong to strangers, and a checksum is dear.
    """

    contract: str
    tx_hash: str
    log_index: int
    block_number: int
    block_hash: str
    sender: str
    recipient: str
    units: int


@dataclass(frozen=True)
class Piece:
    """What one closed range of blocks holds; `end` is the header of its last block, served with the logs."""

    start: int
    end: Header
    logs: list[RawLog]


class LogReader:
    """Reads Transfer logs of some tokens, to some recipients or to all."""

    def __init__(self, rpc: JsonRpc, *, contracts: Sequence[str]) -> None:
        self._rpc = rpc
        self._contracts = {contract.lower(): contract for contract in contracts}
        self._deadline = 0.0

    def pieces(self, *, start: int, top: Header, recipients: Sequence[str] | None = None) -> Iterator[Piece]:
        """Ranges in order up to `top`. One that the endpoint refuses is halved, later ones grow again.

        Raises ChainMoved where `top` changed meanwhile.
        """
        span = BLOCKS_PER_CALL
        while start <= top.number:
            self._begin()
            piece, span = self._piece(start, top, span, recipients)
            yield piece
            start, span = piece.end.number + 1, min(span * 2, BLOCKS_PER_CALL)

    def _piece(
        self, start: int, top: Header, span: int, recipients: Sequence[str] | None
    ) -> tuple[Piece, int]:
        while True:
            end = min(start + span - 1, top.number)
            try:
                return self._range(start, end, top, recipients), span
            except (RpcRefused, RpcTooLarge):
                if end == start:
                    raise
                span = (end - start + 1) // 2

    def _range(self, start: int, end: int, top: Header, recipients: Sequence[str] | None) -> Piece:
        topics: list[Any] = [decode.TRANSFER_TOPIC]
        if recipients is not None:
            topics += [None, ["0x" + decode.address_word(address) for address in recipients]]
        query = {
            "fromBlock": hex(start),
            "toBlock": hex(end),
            "address": list(self._contracts.values()),
            "topics": topics,
        }
        calls = [block_call(end), ("eth_getLogs", [query])]
        if end != top.number:
            calls.append(block_call(top.number))
        block, answer, *tops = self._batch(calls)
        header = decode.header(result_of(block), number=end)
        same_block(decode.header(result_of(tops[0]), number=top.number) if tops else header, top)
        rows = result_of(answer)
        if not isinstance(rows, list):
            raise ChainUnreadable("the list of logs has no usable form")
        wanted = None if recipients is None else {address.lower() for address in recipients}
        parsed = (self._parsed(row, wanted, start, end) for row in rows)
        return Piece(start=start, end=header, logs=[log for log in parsed if log is not None])

    def _parsed(self, row: Any, recipients: set[str] | None, start: int, end: int) -> RawLog | None:
        """None for what is no payment: other contract, four topics (NFT), no amount, amount zero, removed."""
        topics, amount = (row.get("topics"), row.get("data")) if isinstance(row, dict) else (None, None)
        if not isinstance(topics, list) or not isinstance(amount, str):
            raise ChainUnreadable("a log has no usable form")
        if len(topics) != 3 or len(amount) != 66 or row.get("removed") is True:
            return None
        contract = self._contracts.get(str(row.get("address")).lower())
        if contract is None or decode.word(topics[0]) != decode.TRANSFER_TOPIC:
            return None
        sender = decode.raw_address(decode.word(topics[1]))
        recipient = decode.raw_address(decode.word(topics[2]))
        units = decode.quantity(amount)
        if units == 0 or sender is None or recipient is None:
            return None
        if recipients is not None and recipient not in recipients:
            return None
        block_number = decode.quantity(row.get("blockNumber"))
        if not start <= block_number <= end:
            raise ChainUnreadable("a log lies outside the range that was asked")
        return RawLog(
            contract=contract,
            tx_hash=decode.word(row.get("transactionHash")),
            log_index=decode.quantity(row.get("logIndex")),
            block_number=block_number,
            block_hash=decode.word(row.get("blockHash")),
            sender=sender,
            recipient=recipient,
            units=units,
        )

    def complete(self, found: Sequence[RawLog], *, top: Header) -> list[TransferLog]:
        """The same transfers, oldest first, each with its place in its transaction and the time of its block.

        Raises ChainMoved if one of their blocks, or `top`, changed meanwhile.
        """
        self._begin()
        logs = sorted(found, key=lambda log: (log.block_number, log.log_index))
        ordinals = self._ordinals({log.tx_hash: log.block_hash for log in logs})
        headers = self._headers({log.block_number: log.block_hash for log in logs}, top)
        try:
            return [
                TransferLog(
                    contract=log.contract,
                    tx_hash=log.tx_hash,
                    ordinal_in_tx=ordinals[log.tx_hash, log.log_index],
                    block_number=log.block_number,
                    block_hash=log.block_hash,
                    block_time=headers[log.block_number].time,
                    sender=checksum_address(log.sender),
                    recipient=checksum_address(log.recipient),
                    units=log.units,
                )
                for log in logs
            ]
        except KeyError as error:
            raise ChainMoved("a log is not in the receipt of its transaction") from error

    def _headers(self, hashes: dict[int, str], top: Header) -> dict[int, Header]:
        """Headers of the blocks with logs and, always, of the last block of the range, re-read at the end."""
        expected = {**hashes, top.number: top.hash}
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

    def _begin(self) -> None:
        self._deadline = time.monotonic() + SCAN_SECONDS

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
