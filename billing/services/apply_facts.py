"""Write what a look at a chain found for one payment, and recompute it under the lock on its order."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from django.db import connection

from billing import locks
from billing.chain_facts import BLOCK_TIME_SLACK, HEAD, SETTLED, Readings, latest_readings
from billing.models import BalanceReading, PaymentRequest, Transfer, TransferSighting
from billing.rails.facts import Header, Holdings, TransferLog
from billing.services.recompute import recompute
from core import clock


@dataclass
class Found:
    """What one look found for one payment: transfers whose block left the chain, and new ones."""

    gone: list[Transfer] = field(default_factory=list)
    logs: list[TransferLog] = field(default_factory=list)


@dataclass(frozen=True)
class _Reading:
    kind: str
    contract: str
    header: Header
    units: int


def is_news(
    payment: PaymentRequest,
    chain_id: int,
    held: Holdings,
    found: Found,
    last: Readings,
    transfers: Iterable[Transfer],
) -> bool:
    """Whether this look says anything that is not written yet; asked without a lock, so that most payments of
    most rounds cost no transaction."""
    rows = list(transfers)
    return bool(
        found.gone
        or found.logs
        or any(
            _says_something(payment, chain_id, reading, last, rows) for reading in _readings(payment, held)
        )
    )


def apply(payment: PaymentRequest, chain_id: int, held: Holdings, found: Found) -> None:
    """Append the facts and recompute. Locks the order, then the view; must run in a transaction. Repeatable."""
    _require_transaction()
    locks.payment_for_update(payment.order.public_id)
    changed = [_mark_gone(row) for row in found.gone]
    changed += [note(payment, chain_id, entry) for entry in found.logs]
    last = latest_readings([payment])
    transfers = list(Transfer.objects.in_chain().filter(payment=payment, chain_id=chain_id))
    for reading in _readings(payment, held):
        if _says_something(payment, chain_id, reading, last, transfers):
            _write(payment, chain_id, reading)
            changed.append(True)
    if any(changed):
        at_home = chain_id == payment.chain_id
        block = (held.head.number, held.head.time) if at_home else None
        recompute(order_id=payment.order.public_id, block=block)


def note_logs(payment: PaymentRequest, chain_id: int, logs: Iterable[TransferLog]) -> None:
    """Append transfers ahead of the balances that this round reads next. Locks the order; must run in a
    transaction. Repeatable. A worker that is killed in between leaves transfers that no settled reading covers:
    the next round looks at their payments first."""
    _require_transaction()
    locks.payment_for_update(payment.order.public_id)
    for entry in logs:
        note(payment, chain_id, entry)


def note(payment: PaymentRequest, chain_id: int, entry: TransferLog) -> bool:
    """A new transfer, or one whose block came back after it had left the chain; False for neither."""
    if is_older_than_order(payment, chain_id, entry):
        return False
    place = {"tx_hash": entry.tx_hash, "ordinal": entry.ordinal_in_tx}
    if not entry.tx_hash:
        place = {"tx_hash": "", "payment": payment, "asset_contract": entry.contract}
    row, created = Transfer.objects.get_or_create(
        chain_id=chain_id,
        block_hash=entry.block_hash,
        **place,
        defaults={
            "payment": payment,
            "asset_contract": entry.contract,
            "ordinal": entry.ordinal_in_tx,
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


def is_older_than_order(payment: PaymentRequest, chain_id: int, entry: TransferLog) -> bool:
    """Money that was there before the order is somebody else's (C17)."""
    early_block = chain_id == payment.chain_id and entry.block_number < payment.crypto.from_block
    return early_block or entry.block_time < payment.opened_at - BLOCK_TIME_SLACK


def head_changed(payment: PaymentRequest, chain_id: int, contract: str, units: int, last: Readings) -> bool:
    """Whether the balance at the head differs from the one that was written last."""
    known = last.get((payment.pk, chain_id, HEAD, contract))
    return units != (known.units if known is not None else 0)


def _require_transaction() -> None:
    if not connection.in_atomic_block:
        raise RuntimeError("Facts are written in one transaction with the state that they make.")


def _readings(payment: PaymentRequest, held: Holdings) -> list[_Reading]:
    address = payment.crypto.address
    found = []
    for contract in held.at_head:
        found.append(_Reading(HEAD, contract, held.head, held.at_head[contract][address]))
        found.append(_Reading(SETTLED, contract, held.settled, held.at_settled[contract][address]))
    return found


def _says_something(
    payment: PaymentRequest, chain_id: int, reading: _Reading, last: Readings, transfers: Iterable[Transfer]
) -> bool:
    """A newer block with another sum (nothing read yet counts as none), the first that covers a transfer, or the
    first settled one past the expiry. What was always empty leaves no row."""
    known = last.get((payment.pk, chain_id, reading.kind, reading.contract))
    number = known.block_number if known is not None else -1
    if reading.header.number < number:
        return False  # a worker that was overtaken: an older block says nothing about now
    if reading.units != (known.units if known is not None else 0):
        return True
    if any(
        number < row.block_number <= reading.header.number
        for row in transfers
        if row.asset_contract == reading.contract
    ):
        return True
    if reading.kind != SETTLED or (chain_id, reading.contract) != (payment.chain_id, payment.asset_contract):
        return False
    first = known is None or known.block_time < payment.expires_at
    return first and payment.expires_at <= reading.header.time


def _mark_gone(row: Transfer) -> bool:
    if not Transfer.objects.in_chain().filter(pk=row.pk).exists():
        return False
    TransferSighting.objects.create(transfer=row, in_chain=False, found_at=clock.now())
    return True


def _write(payment: PaymentRequest, chain_id: int, reading: _Reading) -> None:
    BalanceReading.objects.create(
        payment=payment,
        chain_id=chain_id,
        asset_contract=reading.contract,
        kind=reading.kind,
        block_number=reading.header.number,
        block_hash=reading.header.hash,
        block_time=reading.header.time,
        units=reading.units,
        read_at=clock.now(),
    )
