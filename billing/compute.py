"""What a payment's state is, given the facts. Pure: the same facts give the same answer, in any order of arrival.

The balance of the order's own address at a settled block decides; transfers say when the money came (DESIGN rule
7, docs/payments.md).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from billing.lifecycle import PaymentFlag, PaymentStatus


@dataclass(frozen=True)
class Money:
    """A transfer that is part of the chain now: base units and the time of its block."""

    units: int
    block_number: int
    block_time: datetime


@dataclass(frozen=True)
class Facts:
    """Everything known of one payment. Balances are None where none was read yet; `native` is another asset's.

    `peak_balance` is the largest balance that was ever read at a settled block.
    """

    due_units: int
    expires_at: datetime
    transfers: Sequence[Money]
    head_balance: int | None
    settled_balance: int | None
    peak_balance: int
    settled_number: int | None
    settled_time: datetime | None
    native_units: int
    dropped: bool
    was_settled: bool


@dataclass(frozen=True)
class Computed:
    """The answer. `unpaid_confirmed`: a settled block at or after the expiry shows the sum not covered on time."""

    status: str
    flags: tuple[str, ...]
    received_units: int
    settled_units: int
    on_time_units: int
    unpaid_confirmed: bool


def compute(facts: Facts) -> Computed:
    """The state of a payment from its facts."""
    settled_transfers = [
        money
        for money in facts.transfers
        if facts.settled_number is not None and money.block_number <= facts.settled_number
    ]
    head_sum = sum(money.units for money in facts.transfers)
    settled_sum = sum(money.units for money in settled_transfers)
    # Moved out after it had arrived (collected by the operator, or sent back): every transfer is still part of the
    # chain and the balance once held them all. What was received stays received.
    swept = (facts.settled_balance or 0) < settled_sum <= facts.peak_balance
    # Else the smaller of balance and log sum: a token may take a fee on the way, an event alone proves nothing.
    received = head_sum if swept else min(head_sum, facts.head_balance or 0)
    settled = settled_sum if swept else min(settled_sum, facts.settled_balance or 0)
    # Money that a reorg took back may come again later than the hold: once settled, no deadline is left.
    deadline = facts.expires_at if not facts.was_settled else None
    on_time_seen = min(received, _by(facts.transfers, deadline))
    on_time = min(settled, _by(settled_transfers, deadline))
    confirmed_unpaid = (
        facts.settled_time is not None
        and facts.settled_time >= facts.expires_at
        and on_time < facts.due_units
    )
    return Computed(
        status=_status(facts, on_time_seen, on_time, confirmed_unpaid),
        flags=_flags(facts, received=received, head_sum=head_sum, settled_sum=settled_sum, swept=swept),
        received_units=received,
        settled_units=settled,
        on_time_units=on_time,
        unpaid_confirmed=confirmed_unpaid,
    )


def _by(transfers: Sequence[Money], deadline: datetime | None) -> int:
    """Lateness is judged by block time, never by when we noticed."""
    return sum(money.units for money in transfers if deadline is None or money.block_time <= deadline)


def _status(facts: Facts, on_time_seen: int, on_time: int, confirmed_unpaid: bool) -> str:
    if on_time >= facts.due_units:
        return PaymentStatus.SETTLED
    if facts.was_settled:
        return PaymentStatus.REVERSED
    if confirmed_unpaid:
        return PaymentStatus.EXPIRED
    if on_time_seen >= facts.due_units:
        return PaymentStatus.SEEN
    return PaymentStatus.AWAITING


def _flags(facts: Facts, *, received: int, head_sum: int, settled_sum: int, swept: bool) -> tuple[str, ...]:
    flags = {
        PaymentFlag.PARTIAL: 0 < received < facts.due_units,
        PaymentFlag.OVER: received > facts.due_units,
        PaymentFlag.LATE: not facts.was_settled
        and any(money.block_time > facts.expires_at for money in facts.transfers),
        PaymentFlag.WRONG_ASSET: facts.native_units > 0,
        PaymentFlag.SWEPT: swept,
        PaymentFlag.DROPPED: facts.dropped and received < facts.due_units,
        PaymentFlag.DISAGREE: not swept
        and (
            (facts.head_balance is not None and facts.head_balance != head_sum)
            or (facts.settled_balance is not None and facts.settled_balance != settled_sum)
        ),
    }
    return tuple(str(flag) for flag, present in flags.items() if present)
