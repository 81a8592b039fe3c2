"""A network and its assets as frozen values; read from the networks file by billing.networks."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal
from urllib.parse import urlsplit

SettleMode = Literal["finalized", "confirmations", "age"]


@dataclass(frozen=True, kw_only=True)
class Settle:
    """When a block counts as settled: its tag, a number of confirmations, or an age in seconds."""

    mode: SettleMode
    value: int = 0


@dataclass(frozen=True, kw_only=True)
class Tier:
    """A rule for amounts up to and including `up_to`, in the selling currency."""

    up_to: Decimal
    settle: Settle


@dataclass(frozen=True, kw_only=True)
class SecondPrice:
    """The source that must agree with the feed: another feed's contract, or a number in a JSON document."""

    feed: str | None = None
    url: str | None = None
    pointer: str = ""

    def name(self, slug: str) -> str:
        """Under which its readings are kept; a host and no path, which may carry a key."""
        return f"{slug}:{self.feed}" if self.url is None else f"{urlsplit(self.url).hostname}{self.pointer}"


@dataclass(frozen=True, kw_only=True)
class Asset:
    """What may be paid; contract None is the native coin, `price` is in USD (None: by `feed` and `second`, which
    must agree; without them the coin is watched and not offered).

    `offered` False: watched only, for an asset that nobody shall choose any more while its orders are watched.
    """

    symbol: str
    name: str
    contract: str | None
    decimals: int
    price: Decimal | None
    feed: str | None = None
    second: SecondPrice | None = None
    offered: bool = True


@dataclass(frozen=True, kw_only=True)
class Network:
    """One chain; `settle` is its strictest rule, for every amount that no tier covers."""

    slug: str
    name: str
    chain_id: int
    rpc_urls: tuple[str, ...]
    settle: Settle
    block_seconds: float
    assets: tuple[Asset, ...]
    tiers: tuple[Tier, ...] = ()
    explorer: str | None = None
    test: bool = False
    native_symbol: str = "ETH"
    multicall: str | None = None  # a Multicall3 contract: many balances in one call instead of one by one

    def asset(self, symbol: str) -> Asset:
        """The asset of that symbol; raises KeyError."""
        for asset in self.assets:
            if asset.symbol == symbol:
                return asset
        raise KeyError(symbol)

    def asset_of(self, contract: str) -> Asset | None:
        """The asset of that contract (empty: the native coin), or None where it is not in the file."""
        return next((asset for asset in self.assets if (asset.contract or "") == contract), None)

    @property
    def contracts(self) -> tuple[str, ...]:
        """Those of all tokens."""
        return tuple(asset.contract for asset in self.assets if asset.contract is not None)

    @property
    def rules(self) -> tuple[Settle, ...]:
        """Every settle rule in use, the strictest first."""
        return tuple(dict.fromkeys([self.settle, *(tier.settle for tier in reversed(self.tiers))]))

    def settle_for(self, amount: Decimal) -> Settle:
        """The rule for a payment of that amount in the selling currency."""
        return next((tier.settle for tier in self.tiers if amount <= tier.up_to), self.settle)
