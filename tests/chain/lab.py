"""The contracts of the lab on a chain of the test's own, and what people and attackers do with them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from decimal import Decimal
from typing import Any

from anchorgpu.services.anvil import Anvil
from billing.addresses import Xpub, checksum_address
from billing.networks import Asset, Network, Settle
from billing.rails.evm import Chain
from billing.rails.facts import Header
from billing.rails.lab import call_data, creation_data

DUE = 25_500_000  # 25.50 USDC, the sum of the payment cases
FINALITY = 65  # anvil's `finalized` is 64 blocks behind its head
SUPPLY = 10**18
SECOND_CHAIN_ID = 31338
# Account 0' of a phrase that nobody uses; its first addresses are empty on every chain of the tests.
XPUB = (
    "xpub6Bh6Cg7bvjFdW6VEAaZmsyhZh86WdJ9Kr5aqqY5LN7UFLpxTrxsiys213UCu8MAYjcq5JhF7jzZXvruGfWfPbx"
    "qsByNNhwWaNQRuhP3JcC3"
)


class ChainLab:
    """One anvil with all lab contracts deployed by its first account; the second account is the payer."""

    def __init__(self, anvil: Anvil) -> None:
        self.anvil = anvil
        self.mines_at_once = True
        self.blocks_made = 0
        accounts = [checksum_address(account) for account in anvil.rpc("eth_accounts")]
        self.deployer, self.payer, self.stranger, *self.rich = accounts
        self.usdc = self.deploy("TestToken", "USD Coin", "USDC", 6, SUPPLY)
        self.usdt = self.deploy("SilentToken", 6, SUPPLY)
        self.fee = self.deploy("FeeToken", SUPPLY)
        self.fake = self.deploy("FakeToken")
        self.wallet = self.deploy("Wallet")
        self.nft = self.deploy("Nft")
        self.feed = self.deploy("PriceFeed", 8, "ETH / USD", 2_000 * 10**8)
        self.second_feed = self.deploy("PriceFeed", 18, "ETH / USD", 2_010 * 10**18)
        self.multicall = self.deploy("Multicall")
        self.send("TestToken", self.usdc, "mint", self.payer, SUPPLY)
        self.send("TestToken", self.usdc, "mint", self.wallet, SUPPLY)
        self.send("FeeToken", self.fee, "mint", self.payer, SUPPLY)
        self.transact({"from": self.payer, "to": self.wallet, "value": hex(10**18)})
        self.mine(FINALITY)
        self._addresses = Xpub(XPUB)

    # the chain as the product sees it

    def asset(self, contract: str | None = None, *, symbol: str = "USDC") -> Asset:
        return Asset(symbol=symbol, name="test", contract=contract or self.usdc, decimals=6, price=Decimal(1))

    def network(
        self,
        *,
        urls: Sequence[str] = (),
        settle: Settle | None = None,
        chain_id: int = 31337,
        multicall: str | None = None,
    ) -> Network:
        return Network(
            slug="local",
            name="Anchor test chain",
            chain_id=chain_id,
            rpc_urls=tuple(urls) or (self.anvil.url,),
            settle=settle or Settle(mode="finalized"),
            block_seconds=2.0,
            assets=(self.asset(), self.asset(self.usdt, symbol="USDT")),
            test=True,
            multicall=multicall,
        )

    def chain(self, *urls: str, settle: Settle | None = None, timeout_seconds: float = 5.0) -> Chain:
        return Chain(self.network(urls=urls, settle=settle), timeout_seconds=timeout_seconds)

    def address(self, index: int) -> str:
        return self._addresses.derive(index)

    # what people do

    def pay(self, address: str, units: int, *, token: str | None = None) -> str:
        """A plain transfer by the payer; returns the hash."""
        return self.send("TestToken", token or self.usdc, "transfer", address, units, sender=self.payer)

    def transfer_data(self, address: str, units: int) -> str:
        """Data of a token transfer, for transactions that a test makes up itself."""
        return call_data("TestToken", "transfer", address, units)

    def pay_native(self, address: str, wei: int) -> str:
        return self.transact({"from": self.payer, "to": address, "value": hex(wei)})

    def deploy(self, contract: str, *arguments: Any) -> str:
        tx_hash = self.transact({"from": self.deployer, "data": creation_data(contract, *arguments)})
        return checksum_address(self.receipt(tx_hash)["contractAddress"])

    def send(
        self, contract: str, address: str, function: str, *arguments: Any, sender: str | None = None
    ) -> str:
        data = call_data(contract, function, *arguments)
        return self.transact({"from": sender or self.deployer, "to": address, "data": data})

    def transact(self, transaction: dict[str, str]) -> str:
        """Sends and, unless mining is off, waits for the block: the node answers before it is made."""
        tx_hash = str(self.anvil.rpc("eth_sendTransaction", transaction))
        self.blocks_made += 1
        if self.mines_at_once:
            self.receipt(tx_hash)
        return tx_hash

    def receipt(self, tx_hash: str) -> dict[str, Any]:
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline:
            found = self.anvil.rpc("eth_getTransactionReceipt", tx_hash)
            if found is not None:
                return dict(found)
            time.sleep(0.002)
        raise AssertionError(f"transaction {tx_hash} was not mined")

    def say_price(self, feed: str, answer: int, at: datetime) -> None:
        """What a price feed answers from now on."""
        self.send("PriceFeed", feed, "set", answer, int(at.timestamp()))

    # what the chain does

    def mine(self, blocks: int = 1) -> None:
        self.anvil.mine(blocks)
        self.blocks_made += blocks

    @contextmanager
    def mining_off(self) -> Iterator[None]:
        """Transactions wait in the pool; at the end they are mined."""
        self.anvil.rpc("evm_setAutomine", False)
        self.mines_at_once = False
        try:
            yield
        finally:
            self.mine()
            self.mines_at_once = True
            self.anvil.rpc("evm_setAutomine", True)

    def reorg(self, depth: int, replacements: Sequence[Any] = ()) -> None:
        """Replaces the last blocks; their transactions are gone unless they are given again."""
        self.anvil.rpc("anvil_reorg", depth, list(replacements))

    def set_next_time(self, moment: datetime) -> None:
        self.anvil.rpc("evm_setNextBlockTimestamp", int(moment.timestamp()))

    def head(self) -> Header:
        return self.chain().head()


def network_table(
    lab: ChainLab,
    slug: str = "local",
    *,
    urls: Sequence[str] = (),
    settle: str = 'mode = "finalized"',
    tiers: str = "",
    usdt: bool = False,
    native: bool = False,
    multicall: bool = False,
) -> str:
    """A table of the networks file for this chain, or for endpoints in front of it."""
    lines = [
        f"[networks.{slug}]",
        f'name = "Chain {slug}"',
        f"chain_id = {lab.anvil.chain_id}",
        f"rpc_urls = {list(urls) or [lab.anvil.url]}".replace("'", '"'),
        "block_seconds = 2",
        "test = true",
        'explorer = "https://explorer.example"',
        f"settle = {{ {settle} }}",
    ]
    lines += [f'multicall = "{lab.multicall}"'] if multicall else []
    lines += [line.replace("SLUG", slug) for line in tiers.splitlines()]
    assets = [f'symbol = "USDC"\nname = "USD Coin"\ncontract = "{lab.usdc}"\ndecimals = 6']
    if usdt:
        assets.append(f'symbol = "USDT"\nname = "Tether USD"\ncontract = "{lab.usdt}"\ndecimals = 6')
    if native:
        sources = f'feed = "{lab.feed}"\nsecond = {{ feed = "{lab.second_feed}" }}'
        assets.append(f'symbol = "ETH"\nname = "Ether"\ndecimals = 18\n{sources}')
    lines += [f"[[networks.{slug}.assets]]\n{asset}" for asset in assets]
    return "\n".join(lines) + "\n"
