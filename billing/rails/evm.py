"""An EVM chain as the payment watcher sees it: headers, balances at named blocks, transfers, addresses.

Everything is read at explicit heights whose header was served with it, never by tag, never at `pending`.
Several endpoints check each other: where they disagree, or one is silent, nothing is concluded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta

from billing.networks import Asset, Network, Settle
from billing.rails import decode
from billing.rails.errors import ChainDisagrees, ChainMismatch, ChainMoved, ChainUnreadable
from billing.rails.facts import AddressState, Header, Holdings, Position, Round, TransferLog
from billing.rails.logs import RECIPIENTS_PER_CALL, LogReader, Piece, RawLog, block_call, chunks
from billing.rails.price_sources import Quote, read_feed
from billing.rails.reads import Reads, Spot
from billing.rails.rpc import MAX_BATCH, TIMEOUT_SECONDS, JsonRpc, result_of
from billing.rails.verify import verify_multicall, verify_token

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
                    verify_token(endpoint, asset, asset.contract, head)
            if self.network.multicall is not None:
                verify_multicall(endpoint, self.network.multicall, head)

    def head(self) -> Header:
        return self._head_of(self._rpc)

    def header(self, number: int) -> Header:
        """The header at that height; ChainUnreadable where the node does not have it (ahead of its head)."""
        return decode.header(self._rpc.call(*block_call(number)), number=number)

    def settled(self) -> Header:
        """The newest block that counts as settled by the network's rule, agreed by all endpoints."""
        return self.position().of(self.network.settle)

    def position(self, *, from_block: int = 0) -> Position:
        """Head and settled blocks by every rule of the network; all endpoints agree about the settled ones.

        `from_block` is a height that was seen before: a node whose head is below it lags, it is not believed.
        """
        head = self.head()
        if head.number < from_block:
            raise ChainUnreadable(f"the node is at block {head.number}, block {from_block} was seen before")
        settled = {rule: self._settled_below(head, rule) for rule in self.network.rules}
        for other in self._endpoints[1:]:
            self._agrees(other, head, settled.values())
        return Position(head=head, settled=settled)

    def headers(self, numbers: Sequence[int]) -> dict[int, Header]:
        """The headers at those heights; ChainUnreadable where the node does not have one."""
        found: dict[int, Header] = {}
        for group in chunks(sorted(set(numbers)), MAX_BATCH):
            answers = self._rpc.batch([block_call(number) for number in group])
            for number, answer in zip(group, answers, strict=True):
                found[number] = decode.header(result_of(answer), number=number)
        return found

    def holdings(
        self, position: Position, *, rule: Settle, addresses: Sequence[str], contracts: Sequence[str]
    ) -> Holdings:
        """Balances at the head and at the block that is settled by `rule`, of each contract (empty: native).

        Raises ChainMoved if either block changed meanwhile (ask again), ChainUnreadable for everything else.
        """
        wanted = list(dict.fromkeys(addresses))
        if len(wanted) > ADDRESSES_PER_ROUND:
            raise ValueError(f"A round holds at most {ADDRESSES_PER_ROUND} addresses, not {len(wanted)}.")
        spot = Spot(head=position.head, settled=position.of(rule))
        reads = self._reads(self._rpc, spot)
        at_head, at_settled = (
            {each: reads.balances(wanted, contract=each or None, at=header) for each in contracts}
            for header in (spot.head, spot.settled)
        )
        for other in self._endpoints[1:]:
            second = self._reads(other, spot)
            for each in contracts:
                if second.balances(wanted, contract=each or None, at=spot.settled) != at_settled[each]:
                    raise ChainDisagrees("endpoints disagree about a settled balance")
        reads.still()
        return Holdings(head=spot.head, settled=spot.settled, at_head=at_head, at_settled=at_settled)

    def native_balance(self, address: str, number: int) -> int:
        """What an address held at one height. The caller compares the head's hash afterwards."""
        return decode.quantity(self._rpc.call("eth_getBalance", [address, hex(number)]))

    def price(self, feed: str) -> Quote:
        """What a price feed on this chain says now, through the first endpoint."""
        return read_feed(self._rpc, feed, at=self.head())

    def round(self, *, asset: Asset, addresses: Sequence[str], from_block: int = 0) -> Round:
        """Balances of `asset` and of the native coin at the head and at the settled block.

        `from_block` is a height that was seen before: a node whose head is below it lags, it is not believed.
        Raises ChainMoved if either block changed meanwhile (ask again), ChainUnreadable for everything else.
        """
        own = asset.contract or ""
        held = self.holdings(
            self.position(from_block=from_block),
            rule=self.network.settle,
            addresses=addresses,
            contracts=list(dict.fromkeys(["", own])),
        )
        return Round(
            head=held.head,
            settled=held.settled,
            latest_balances=held.at_head[own],
            settled_balances=held.at_settled[own],
            native_latest=held.at_head[""],
            native_settled=held.at_settled[""],
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
        top = self.header(to_block)
        reader = LogReader(self._rpc, contracts=[asset.contract])
        found: list[RawLog] = []
        for group in chunks(list(dict.fromkeys(recipients)), RECIPIENTS_PER_CALL):
            for piece in reader.pieces(start=from_block, top=top, recipients=group):
                found += piece.logs
        return reader.complete(found, top=top)

    def log_pieces(self, *, start: int, top: Header) -> Iterator[Piece]:
        """Transfers of every token of the file to anybody, in ranges up to `top`: what this costs depends on the
        blocks and not on how many addresses we wait at."""
        return LogReader(self._rpc, contracts=self.network.contracts).pieces(start=start, top=top)

    def complete(self, logs: Sequence[RawLog], *, top: Header) -> list[TransferLog]:
        """Those logs with their place in the transaction and the time of their block."""
        return LogReader(self._rpc, contracts=self.network.contracts).complete(logs, top=top)

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

    def _head_of(self, endpoint: JsonRpc) -> Header:
        chain_id, block = endpoint.batch([("eth_chainId", []), block_call("latest")])
        found = decode.quantity(result_of(chain_id))
        if found != self.network.chain_id:
            raise ChainMismatch(
                f"{endpoint.host} serves chain {found}, the networks file says {self.network.chain_id}"
            )
        return decode.header(result_of(block))

    def _settled_below(self, head: Header, rule: Settle) -> Header:
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

    def _agrees(self, other: JsonRpc, own: Header, settled: Iterable[Header]) -> None:
        head = self._head_of(other)
        tolerance = max(HEAD_TOLERANCE_BLOCKS, int(HEAD_TOLERANCE_SECONDS / self.network.block_seconds))
        if abs(head.number - own.number) > tolerance:
            raise ChainUnreadable(f"endpoints disagree about the head: {own.number} and {head.number}")
        expected = {header.number: header for header in settled}
        answers = other.batch([block_call(number) for number in expected])
        for header, answer in zip(expected.values(), answers, strict=True):
            if decode.header(result_of(answer), number=header.number).hash != header.hash:
                raise ChainDisagrees(f"endpoints disagree about block {header.number}")

    def _reads(self, endpoint: JsonRpc, spot: Spot) -> Reads:
        return Reads(endpoint, spot, multicall=self.network.multicall, knows_head=endpoint is self._rpc)
