"""What the stored chain facts of one payment say, read for the computation: its own asset, and all else that came."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from billing import offers
from billing.compute import Money
from billing.models import BalanceReading, PaymentRequest, Transfer, TransferSighting

HEAD = BalanceReading.Kind.HEAD
SETTLED = BalanceReading.Kind.SETTLED

# Far above what block times and server clocks differ by, far below the age of a pool check (24 h).
BLOCK_TIME_SLACK = timedelta(minutes=10)


@dataclass(frozen=True)
class OtherMoney:
    """Money at the order's address that is not what was asked for. It pays nothing by itself (C06, C36).

    `units` are seen at the head; `settled_units` of them are final, and only these go back or are accepted.
    """

    network: str
    chain_id: int
    asset: str
    contract: str
    decimals: int
    units: int
    settled_units: int
    is_here: bool

    def as_json(self) -> dict[str, Any]:
        """For PaymentView.others: base units as text, as everywhere in JSON."""
        return {
            "network": self.network,
            "chain_id": self.chain_id,
            "asset": self.asset,
            "contract": self.contract,
            "decimals": self.decimals,
            "units": str(self.units),
            "settled_units": str(self.settled_units),
            "is_final": self.units == self.settled_units,
        }


@dataclass(frozen=True)
class ChainMoney:
    """The chain facts of a payment; `settled_number` is the newest settled block that was looked at."""

    transfers: tuple[Money, ...] = ()
    head_balance: int | None = None
    head_number: int | None = None
    settled_balance: int | None = None
    settled_number: int | None = None
    settled_time: datetime | None = None
    peak_balance: int = 0
    peak_number: int | None = None
    dropped: bool = False
    others: tuple[OtherMoney, ...] = ()


def chain_money(payment: PaymentRequest) -> ChainMoney:
    """Read the facts. A payment without an address has none. Four queries."""
    if not payment.takes_crypto:
        return ChainMoney()
    crypto = payment.crypto
    latest = latest_readings([payment])
    head = latest.get((payment.pk, crypto.chain_id, HEAD, crypto.contract))
    settled = latest.get((payment.pk, crypto.chain_id, SETTLED, crypto.contract))
    peaks = _peaks(payment)
    peak = peaks.get((crypto.chain_id, crypto.contract))
    return ChainMoney(
        transfers=tuple(
            Money(units=row.units, block_number=row.block_number, block_time=row.block_time)
            for row in counted_transfers(payment)
        ),
        head_balance=head.units if head else None,
        head_number=head.block_number if head else None,
        settled_balance=settled.units if settled else None,
        settled_number=settled.block_number if settled else None,
        settled_time=settled.block_time if settled else None,
        peak_balance=peak.units if peak else 0,
        peak_number=peak.block_number if peak else None,
        dropped=TransferSighting.objects.filter(transfer__payment=payment, in_chain=False).exists(),
        others=tuple(_others(payment, latest.values(), peaks)),
    )


# (payment, chain id, kind, contract) -> the newest reading
Readings = dict[tuple[int, int, str, str], BalanceReading]


def latest_readings(payments: Iterable[PaymentRequest]) -> Readings:
    """The newest reading of each kind of these payments. One query."""
    key = ("payment_id", "chain_id", "kind", "asset_contract")
    rows = (
        BalanceReading.objects.filter(payment__in=[payment.pk for payment in payments])
        .order_by(*key, "-id")
        .distinct(*key)
    )
    return {(row.payment_id, row.chain_id, row.kind, row.asset_contract): row for row in rows}


def counted_transfers(payment: PaymentRequest) -> list[Transfer]:
    """Transfers of the asked asset on the asked network that are part of the chain, without what was there before
    the order: that is somebody else's (C17)."""
    crypto = payment.crypto
    return list(
        Transfer.objects.in_chain().filter(
            payment=payment,
            chain_id=crypto.chain_id,
            asset_contract=crypto.contract,
            block_number__gte=crypto.from_block,
            block_time__gte=payment.opened_at - BLOCK_TIME_SLACK,
        )
    )


def _peaks(payment: PaymentRequest) -> dict[tuple[int, str], BalanceReading]:
    """The largest settled balance of each asset that was ever read; of equal ones the newest."""
    key = ("chain_id", "asset_contract")
    rows = BalanceReading.objects.filter(payment=payment, kind=SETTLED)
    found = rows.order_by(*key, "-units", "-block_number").distinct(*key)
    return {(row.chain_id, row.asset_contract): row for row in found}


def _others(
    payment: PaymentRequest, readings: Iterable[BalanceReading], peaks: dict[tuple[int, str], BalanceReading]
) -> Iterable[OtherMoney]:
    """By the balance at the head; what was settled once and then moved out stays received."""
    by_chain = {network.chain_id: network for network in offers.networks().values()}
    own = (payment.crypto.chain_id, payment.crypto.contract)
    for row in readings:
        place = (row.chain_id, row.asset_contract)
        settled = peaks[place].units if place in peaks else 0
        units = max(row.units, settled)
        if row.kind != HEAD or place == own or units == 0:
            continue
        network = by_chain.get(row.chain_id)
        asset = network.asset_of(row.asset_contract) if network else None
        yield OtherMoney(
            network=network.slug if network else str(row.chain_id),
            chain_id=row.chain_id,
            asset=asset.symbol if asset else row.asset_contract or (network.native_symbol if network else ""),
            contract=row.asset_contract,
            decimals=asset.decimals if asset else 0 if row.asset_contract else 18,
            units=units,
            settled_units=settled,
            is_here=row.chain_id == payment.crypto.chain_id,
        )
