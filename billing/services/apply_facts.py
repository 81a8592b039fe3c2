"""Write what a look at a chain found for one payment, and recompute it under the lock on its order."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from django.db import connection

from billing import locks
from billing.models import BalanceReading, PaymentRequest, Transfer, TransferSighting
from billing.rails.facts import Header, Round, TransferLog
from billing.services.recompute import recompute
from core import clock

HEAD = BalanceReading.Kind.HEAD
SETTLED = BalanceReading.Kind.SETTLED

# (payment, kind, contract) -> the newest reading
Readings = Mapping[tuple[int, str, str], BalanceReading]


@dataclass
class Found:
    """What one look found for one payment: transfers whose block left the chain, and logs."""

    gone: list[Transfer] = field(default_factory=list)
    logs: list[TransferLog] = field(default_factory=list)


@dataclass(frozen=True)
class _Reading:
    kind: str
    contract: str
    header: Header
    units: int


def latest_readings(payments: Iterable[PaymentRequest]) -> Readings:
    """The newest reading of each kind of these payments. One query."""
    rows = (
        BalanceReading.objects.filter(payment__in=[payment.pk for payment in payments])
        .order_by("payment_id", "kind", "asset_contract", "-id")
        .distinct("payment_id", "kind", "asset_contract")
    )
    return {(row.payment_id, row.kind, row.asset_contract): row for row in rows}


def is_news(
    payment: PaymentRequest, seen: Round, found: Found, last: Readings, transfers: Iterable[Transfer]
) -> bool:
    """Whether this look says anything that is not written yet; asked without a lock, so that most payments of
    most rounds cost no transaction."""
    rows = list(transfers)
    return bool(
        found.gone
        or found.logs
        or any(_says_something(payment, reading, last, rows) for reading in _readings(payment, seen))
    )


def head_changed(payment: PaymentRequest, units: int, last: Readings) -> bool:
    """Whether the balance at the head differs from the one that was written last."""
    known = last.get((payment.pk, HEAD, payment.asset_contract))
    return known is None or known.units != units


def apply(payment: PaymentRequest, seen: Round, found: Found) -> None:
    """Append the facts and recompute. Locks the order, then the view; must run in a transaction. Repeatable."""
    if not connection.in_atomic_block:
        raise RuntimeError("Facts are written in one transaction with the state that they make.")
    locks.payment_for_update(payment.order.public_id)
    changed = [_mark_gone(row) for row in found.gone]
    changed += [_note(payment, entry) for entry in found.logs]
    last = latest_readings([payment])
    transfers = list(Transfer.objects.in_chain().filter(payment=payment))
    for reading in _readings(payment, seen):
        if _says_something(payment, reading, last, transfers):
            _write(payment, reading)
            changed.append(True)
    if any(changed):
        recompute(order_id=payment.order.public_id, block=(seen.head.number, seen.head.time))


def _readings(payment: PaymentRequest, seen: Round) -> tuple[_Reading, ...]:
    address = payment.crypto.address
    return (
        _Reading(HEAD, payment.asset_contract, seen.head, seen.latest_balances[address]),
        _Reading(SETTLED, payment.asset_contract, seen.settled, seen.settled_balances[address]),
        _Reading(HEAD, "", seen.head, seen.native_latest[address]),
    )


def _says_something(
    payment: PaymentRequest, reading: _Reading, last: Readings, transfers: Iterable[Transfer]
) -> bool:
    """A newer block with another sum, the first settled look past the expiry, or the first that covers a transfer."""
    known = last.get((payment.pk, reading.kind, reading.contract))
    if known is not None and reading.header.number < known.block_number:
        return False  # a worker that was overtaken: an older block says nothing about now
    if known is None or known.units != reading.units:
        return True
    if reading.kind != SETTLED:
        return False
    return known.block_time < payment.expires_at <= reading.header.time or any(
        known.block_number < row.block_number <= reading.header.number for row in transfers
    )


def _mark_gone(row: Transfer) -> bool:
    if not Transfer.objects.in_chain().filter(pk=row.pk).exists():
        return False
    TransferSighting.objects.create(transfer=row, in_chain=False, found_at=clock.now())
    return True


def _note(payment: PaymentRequest, entry: TransferLog) -> bool:
    """A new transfer, or one whose block came back after it had left the chain."""
    row, created = Transfer.objects.get_or_create(
        chain_id=payment.crypto.chain_id,
        tx_hash=entry.tx_hash,
        ordinal=entry.ordinal_in_tx,
        block_hash=entry.block_hash,
        defaults={
            "payment": payment,
            "asset_contract": payment.asset_contract,
            "block_number": entry.block_number,
            "block_time": entry.block_time,
            "sender": entry.sender,
            "units": entry.units,
            "found_at": clock.now(),
        },
    )
    if created:
        return True
    if Transfer.objects.in_chain().filter(pk=row.pk).exists():
        return False
    TransferSighting.objects.create(transfer=row, in_chain=True, found_at=clock.now())
    return True


def _write(payment: PaymentRequest, reading: _Reading) -> None:
    BalanceReading.objects.create(
        payment=payment,
        chain_id=payment.crypto.chain_id,
        asset_contract=reading.contract,
        kind=reading.kind,
        block_number=reading.header.number,
        block_hash=reading.header.hash,
        block_time=reading.header.time,
        units=reading.units,
        read_at=clock.now(),
    )
