"""An EVM chain as the payment watcher sees it: headers, balances at named blocks, transfers, addresses.

Everything is read at explicit heights whose header was served with it, never by tag, never at `pending`.
Several endpoints check each other: where they disagree, or one is silent, nothing is concluded.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from billing.networks import Asset, Network
from billing.rails import decode
from billing.rails.errors import ChainMismatch, ChainMoved, ChainUnreadable, RpcRefused
from billing.rails.facts import AddressState, Header, Round, TransferLog
from billing.rails.logs import TransferScan, block_call
from billing.rails.reads import Reads, Spot, aggregate_data, aggregate_results, contract_call
from billing.rails.rpc import TIMEOUT_SECONDS, JsonRpc, result_of

ADDRESSES_PER_ROUND = 500  # at most 2,000 reads; more are several rounds of the caller
HEAD_TOLERANCE_SECONDS = 60  # endpoints behind balancers trail each other by seconds, not by a minute
HEAD_TOLERANCE_BLOCKS = 5


class Chain:
    """One network. Make it in the worker, after the fork; cheap to make, not to be shared between threads."""

    def __init__(self, network: Network, *, timeout_seconds: float = TIMEOUT_SECONDS) -> None:
        self.network = network
        self._endpoints = tuple(JsonRpc(url, timeout_seconds=timeout_seconds) for url in network.rpc_urls)
        self._rpc = self._endpoints[0]

    def verify(self) -> None:
        """Raises ChainMismatch where chain id, decimals or symbols differ from the file, at any endpoint."""
        for endpoint in self._endpoints:
            head = self._head_of(endpoint)
            for asset in self.network.assets:
                if asset.contract is not None:
                    _verify_token(endpoint, asset, asset.contract, head)
            if self.network.multicall is not None:
                _verify_multicall(endpoint, self.network.multicall, head)

    def head(self) -> Header:
        return self._head_of(self._rpc)

    def header(self, number: int) -> Header:
        """The header at that height; ChainUnreadable where the node does not have it (ahead of its head)."""
        return decode.header(self._rpc.call(*block_call(number)), number=number)

    def settled(self) -> Header:
        """The newest block that counts as settled by the network's rule, agreed by all endpoints."""
        return self._spot().settled

    def round(self, *, asset: Asset, addresses: Sequence[str], from_block: int = 0) -> Round:
        """Balances of `asset` and of the native coin at the head and at the settled block.

        `from_block` is a height that was seen before: a node whose head is below it lags, it is not believed.
        Raises ChainMoved if either block changed meanwhile (ask again), ChainUnreadable for everything else.
        """
        wanted = list(dict.fromkeys(addresses))
        if len(wanted) > ADDRESSES_PER_ROUND:
            raise ValueError(f"A round holds at most {ADDRESSES_PER_ROUND} addresses, not {len(wanted)}.")
        spot = self._spot()
        if spot.head.number < from_block:
            raise ChainUnreadable(
                f"the node is at block {spot.head.number}, block {from_block} was seen before"
            )
        reads = self._reads(self._rpc, spot)
        native_latest = reads.balances(wanted, contract=None, at=spot.head)
        native_settled = reads.balances(wanted, contract=None, at=spot.settled)
        latest, settled = native_latest, native_settled
        if asset.contract is not None:
            latest = reads.balances(wanted, contract=asset.contract, at=spot.head)
            settled = reads.balances(wanted, contract=asset.contract, at=spot.settled)
        for other in self._endpoints[1:]:
            again = self._reads(other, spot).balances(wanted, contract=asset.contract, at=spot.settled)
            if again != settled:
                raise ChainUnreadable("endpoints disagree about a settled balance")
        reads.still()
        return Round(
            head=spot.head,
            settled=spot.settled,
            latest_balances=latest,
            settled_balances=settled,
            native_latest=native_latest,
            native_settled=native_settled,
        )

    def transfers(
        self, *, asset: Asset, recipients: Sequence[str], from_block: int, to_block: int
    ) -> list[TransferLog]:
        """Token transfers above zero to `recipients` in the closed range, oldest first.

        The native coin has no logs: its answer is empty, and the balance alone speaks. A caller that catches
        up asks for some thousand blocks at a time and saves its cursor after each.
        """
        if asset.contract is None or not recipients or from_block > to_block:
            return []
        scan = TransferScan(self._rpc, contract=asset.contract, top=self.header(to_block))
        return scan.read(recipients=recipients, from_block=from_block)

    def check_address(self, address: str, assets: Sequence[Asset] | None = None) -> AddressState:
        return self.check_addresses([address], assets)[address]

    def check_addresses(
        self, addresses: Sequence[str], assets: Sequence[Asset] | None = None
    ) -> dict[str, AddressState]:
        """What each address carries at the head: balances of all (or the given) assets, nonce, code."""
        wanted = list(dict.fromkeys(addresses))
        tokens = [a for a in (self.network.assets if assets is None else assets) if a.contract is not None]
        head = self.head()
        reads = self._reads(self._rpc, Spot(head=head, settled=head))
        at = hex(head.number)
        native = reads.balances(wanted, contract=None, at=head)
        units = {asset.symbol: reads.balances(wanted, contract=asset.contract, at=head) for asset in tokens}
        nonces = reads.raw([("eth_getTransactionCount", [address, at]) for address in wanted])
        codes = reads.raw([("eth_getCode", [address, at]) for address in wanted])
        reads.still()
        return {
            address: AddressState(
                at=head,
                native_units=native[address],
                token_units={symbol: balances[address] for symbol, balances in units.items()},
                nonce=decode.quantity(nonce),
                code_size=len(decode.data(code)) // 2 - 1,
            )
            for address, nonce, code in zip(wanted, nonces, codes, strict=True)
        }

    # where we stand

    def _spot(self) -> Spot:
        head = self.head()
        settled = self._settled_below(head)
        for other in self._endpoints[1:]:
            self._agrees(other, Spot(head=head, settled=settled))
        return Spot(head=head, settled=settled)

    def _head_of(self, endpoint: JsonRpc) -> Header:
        chain_id, block = endpoint.batch([("eth_chainId", []), block_call("latest")])
        found = decode.quantity(result_of(chain_id))
        if found != self.network.chain_id:
            raise ChainMismatch(
                f"{endpoint.host} serves chain {found}, the networks file says {self.network.chain_id}"
            )
        return decode.header(result_of(block))

    def _settled_below(self, head: Header) -> Header:
        rule = self.network.settle
        if rule.mode == "confirmations":  # the head itself has one confirmation
            return self.header(max(0, head.number - rule.value + 1))
        if rule.mode == "age":
            return self._newest_older_than(head, timedelta(seconds=rule.value))
        settled = decode.header(self._rpc.call(*block_call("finalized")))
        if settled.number > head.number:
            raise ChainMoved("the finalized block is above the head: two machines behind one endpoint")
        return settled

    def _newest_older_than(self, head: Header, age: timedelta) -> Header:
        """Judged by block times alone: a stopped chain settles nothing, and no clock of ours matters."""
        limit = head.time - age
        step = int(age.total_seconds() / self.network.block_seconds) + 1
        low = self.header(max(0, head.number - step))
        while low.time > limit and low.number > 0:
            step *= 2
            low = self.header(max(0, head.number - step))
        high = head.number
        while high - low.number > 1:  # `low` is old enough (or block 0), `high` is not
            middle = self.header((low.number + high) // 2)
            if middle.time <= limit:
                low = middle
            else:
                high = middle.number
        return low

    def _agrees(self, other: JsonRpc, spot: Spot) -> None:
        head = self._head_of(other)
        tolerance = max(HEAD_TOLERANCE_BLOCKS, int(HEAD_TOLERANCE_SECONDS / self.network.block_seconds))
        if abs(head.number - spot.head.number) > tolerance:
            raise ChainUnreadable(f"endpoints disagree about the head: {spot.head.number} and {head.number}")
        settled = decode.header(other.call(*block_call(spot.settled.number)), number=spot.settled.number)
        if settled.hash != spot.settled.hash:
            raise ChainUnreadable(f"endpoints disagree about block {settled.number}")

    def _reads(self, endpoint: JsonRpc, spot: Spot) -> Reads:
        return Reads(endpoint, spot, multicall=self.network.multicall, knows_head=endpoint is self._rpc)


def _verify_token(endpoint: JsonRpc, asset: Asset, contract: str, head: Header) -> None:
    where = f"{asset.symbol} at {contract}"
    try:
        answers = endpoint.batch(
            [contract_call(contract, data, head) for data in (decode.DECIMALS, decode.SYMBOL)]
        )
        decimals, symbol = (decode.data(result_of(answer)) for answer in answers)
    except RpcRefused as error:
        if _is_revert(error):
            raise ChainMismatch(f"{where}: the contract is not a token") from error
        raise
    if decimals == "0x" or symbol == "0x":
        raise ChainMismatch(f"{where}: there is no token contract")
    if int(decimals, 16) != asset.decimals:
        raise ChainMismatch(
            f"{where} has {int(decimals, 16)} decimals, the networks file says {asset.decimals}"
        )
    found = decode.text(symbol)
    if found != asset.symbol:
        raise ChainMismatch(f"{where} calls itself {found!r}")


def _verify_multicall(endpoint: JsonRpc, contract: str, head: Header) -> None:
    """Asks it for a balance that the node knows as well."""
    try:
        answer = endpoint.call(
            *contract_call(
                contract,
                aggregate_data([(contract, decode.GET_ETH_BALANCE + decode.address_word(contract))]),
                head,
            )
        )
        [found] = aggregate_results(answer, 1)
    except ChainUnreadable as error:
        if isinstance(error, RpcRefused) and not _is_revert(error):
            raise
        raise ChainMismatch(f"{contract} is not a Multicall contract") from error
    if decode.quantity(found) != decode.quantity(
        endpoint.call("eth_getBalance", [contract, hex(head.number)])
    ):
        raise ChainMismatch(f"{contract} is not a Multicall contract")


def _is_revert(error: RpcRefused) -> bool:
    return error.code == 3 or "revert" in error.node_message.lower()
