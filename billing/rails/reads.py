"""Reads at named blocks through one endpoint: balances one by one, or many in one call by Multicall.

Every answer carries the headers that it belongs to, which must not have changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from eth_abi.abi import decode as abi_decode
from eth_abi.abi import encode as abi_encode
from eth_abi.exceptions import DecodingError

from billing.rails import decode
from billing.rails.errors import ChainUnreadable, RpcRefused
from billing.rails.facts import Header
from billing.rails.logs import block_call, chunks, same_block
from billing.rails.rpc import MAX_BATCH, Call, JsonRpc, result_of

ADDRESSES_PER_AGGREGATE = 150  # at some 30,000 gas for a balance far below what nodes allow for one call


@dataclass(frozen=True)
class Spot:
    """The two headers that one round of reads belongs to."""

    head: Header
    settled: Header


class Reads:
    """One endpoint in one round. Raises ChainMoved as soon as a header of the round has changed."""

    def __init__(self, rpc: JsonRpc, spot: Spot, *, multicall: str | None, knows_head: bool = True) -> None:
        self._rpc = rpc
        self._spot = spot
        self._multicall = multicall
        # A second endpoint may not have reached the head of the first yet; the settled block it must have.
        self._anchors = [spot.settled, spot.head] if knows_head else [spot.settled]

    def balances(self, addresses: Sequence[str], *, contract: str | None, at: Header) -> dict[str, int]:
        """Balances by address of a token, or of the native coin where `contract` is None."""
        wanted = list(addresses)
        if not wanted:
            return {}
        answers = self._aggregated(wanted, contract, at) or self._singly(wanted, contract, at)
        balances: dict[str, int] = {}
        for address, answer in zip(wanted, answers, strict=True):
            # The contract is younger than the settled block: nobody held anything there.
            is_before_token = answer == "0x" and at.number < self._spot.head.number
            balances[address] = 0 if is_before_token else decode.quantity(answer)
        return balances

    def raw(self, calls: Sequence[Call]) -> list[Any]:
        """Results of any calls, in batches."""
        anchors = [block_call(header.number) for header in self._anchors]
        results: list[Any] = []
        for group in list(chunks(list(calls), MAX_BATCH - len(anchors))) or [[]]:
            answers = self._rpc.batch([*anchors, *group])
            for header, answer in zip(self._anchors, answers, strict=False):
                same_block(decode.header(result_of(answer), number=header.number), header)
            results += [result_of(answer) for answer in answers[len(anchors) :]]
        return results

    def still(self) -> None:
        """A last look: what was read in between belongs to these blocks, or to nothing."""
        self.raw([])

    def _singly(self, addresses: list[str], contract: str | None, at: Header) -> list[str]:
        height = hex(at.number)
        if contract is None:
            return self.raw([("eth_getBalance", [address, height]) for address in addresses])
        data = [decode.BALANCE_OF + decode.address_word(address) for address in addresses]
        answers = self.raw([contract_call(contract, item, at) for item in data])
        return [answer if answer == "0x" else decode.word(answer) for answer in answers]

    def _aggregated(self, addresses: list[str], contract: str | None, at: Header) -> list[str]:
        """Empty where there is no Multicall, or not yet at that height, or the node refuses it."""
        if self._multicall is None:
            return []
        selector = decode.GET_ETH_BALANCE if contract is None else decode.BALANCE_OF
        target = contract or self._multicall
        groups = list(chunks(addresses, ADDRESSES_PER_AGGREGATE))
        calls = [
            contract_call(
                self._multicall,
                aggregate_data([(target, selector + decode.address_word(address)) for address in group]),
                at,
            )
            for group in groups
        ]
        try:
            answers = self.raw(calls)
        except RpcRefused:
            return []
        if "0x" in answers:
            return []
        return [
            balance
            for group, answer in zip(groups, answers, strict=True)
            for balance in aggregate_results(answer, len(group))
        ]


def contract_call(contract: str, data: str, at: Header) -> Call:
    return ("eth_call", [{"to": contract, "data": data}, hex(at.number)])


def aggregate_data(calls: Sequence[tuple[str, str]]) -> str:
    """Data of aggregate3 for (target, data) pairs, each of which may fail alone."""
    rows = [(target, True, bytes.fromhex(data[2:])) for target, data in calls]
    return decode.AGGREGATE3 + abi_encode(["(address,bool,bytes)[]"], [rows]).hex()


def aggregate_results(answer: Any, expected: int) -> list[str]:
    """One ABI word per call, or 0x where the target is no contract."""
    try:
        [rows] = abi_decode(["(bool,bytes)[]"], bytes.fromhex(decode.data(answer)[2:]))
    except (DecodingError, OverflowError, ValueError) as error:
        raise ChainUnreadable("the Multicall contract answers in another form") from error
    if len(rows) != expected or not all(success and len(data) in (0, 32) for success, data in rows):
        raise ChainUnreadable("the Multicall contract did not answer for every address")
    return ["0x" + data.hex() for _success, data in rows]
