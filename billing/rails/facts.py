"""What a chain said, as frozen values. Hashes are 0x and lower case, addresses EIP-55, times aware UTC."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from billing.network_types import Settle


@dataclass(frozen=True, kw_only=True)
class Header:
    number: int
    hash: str
    time: datetime


@dataclass(frozen=True, kw_only=True)
class Round:
    """Balances in base units by address, at `head` and at `settled`; all belong to these two headers."""

    head: Header
    settled: Header
    latest_balances: Mapping[str, int]
    settled_balances: Mapping[str, int]
    native_latest: Mapping[str, int]
    native_settled: Mapping[str, int]


@dataclass(frozen=True, kw_only=True)
class Position:
    """Where a chain stands: its head, and the newest settled block by each rule of the network."""

    head: Header
    settled: Mapping[Settle, Header]

    def of(self, rule: Settle) -> Header:
        return self.settled[rule]


@dataclass(frozen=True, kw_only=True)
class Holdings:
    """Base units by contract (empty: the native coin) and address, at `head` and at one `settled` block."""

    head: Header
    settled: Header
    at_head: Mapping[str, Mapping[str, int]]
    at_settled: Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, kw_only=True)
class TransferLog:
    """One token transfer; (chain id, tx_hash, ordinal_in_tx) is its key and survives re-mining."""

    contract: str
    tx_hash: str
    ordinal_in_tx: int
    block_number: int
    block_hash: str
    block_time: datetime
    sender: str
    recipient: str
    units: int


@dataclass(frozen=True, kw_only=True)
class AddressState:
    """What an address carries at block `at`; `token_units` by symbol of the asset."""

    at: Header
    native_units: int
    token_units: Mapping[str, int]
    nonce: int
    code_size: int

    @property
    def clean(self) -> bool:
        """True where nobody has used the address: only then may it be given to an order (C17)."""
        used = self.native_units or self.nonce or self.code_size or any(self.token_units.values())
        return not used
