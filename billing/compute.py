"""What a payment's state is, given the facts. Pure: the same facts give the same answer, in any order of arrival.

On chain the balance of the order's own address at a settled block decides; transfers say when the money came
(DESIGN rule 7, docs/payments.md). By bank card the processor's word does. Either in full pays the order.
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
    """Everything known of one payment.

    `due_units` is None where no address was issued: then every other chain fact is empty. Balances are None where
    none was read yet and belong to the blocks `head_number` and `settled_number`; `peak_balance` is the largest
    that was ever read at a settled block, `peak_number`. `time_is_up` is the product clock's word, for what no block
    can tell.
    `card_pending`: a delayed card payment is on its way; `card_open`: a session may still be paid, so that nobody
    may call the order unpaid.
    """

    due_units: int | None
    expires_at: datetime
    transfers: Sequence[Money]
    head_balance: int | None
    head_number: int | None
    settled_balance: int | None
    peak_balance: int
    settled_number: int | None
    settled_time: datetime | None
    wrong_asset: bool
    wrong_network: bool
    dropped: bool
    was_settled: bool
    peak_number: int | None = None
    time_is_up: bool = False
    amount_minor: int = 0
    card_paid_minor: int = 0
    card_pending: bool = False
    card_open: bool = False
    accepted_by_hand: bool = False
    screening_hold: bool = False

    @property
    def card_covers(self) -> bool:
        return self.card_paid_minor >= self.amount_minor > 0


@dataclass(frozen=True)
class Computed:
    """The answer. `on_time_units` is what came by `expires_at`; `unpaid_confirmed`: a settled block at or after the
    expiry shows the sum not covered, and no card session may pay it any more."""

    status: str
    flags: tuple[str, ...]
    received_units: int
    settled_units: int
    on_time_units: int
    unpaid_confirmed: bool


@dataclass(frozen=True)
class _Chain:
    """The crypto part in sums. `counted` ignores the deadline once the payment was settled."""

    received: int = 0
    settled: int = 0
    on_time: int = 0
    counted_seen: int = 0
    counted: int = 0
    swept: bool = False
    disagrees: bool = False
    unexplained: int = 0


def compute(facts: Facts) -> Computed:
    """The state of a payment from its facts."""
    chain = _chain(facts)
    unpaid = _is_unpaid(facts, chain)
    return Computed(
        status=_status(facts, chain, unpaid),
        flags=_flags(facts, chain),
        received_units=chain.received,
        settled_units=chain.settled,
        on_time_units=chain.on_time,
        unpaid_confirmed=unpaid,
    )


def _chain(facts: Facts) -> _Chain:
    final = _up_to(facts.transfers, facts.settled_number)
    head_sum = sum(money.units for money in facts.transfers)
    settled_sum = sum(money.units for money in final)
    # The smaller of balance and log sum: a token may take a fee on the way, an event alone proves nothing. But what
    # was moved out after it had arrived (collected by the operator, or sent back) stays received.
    moved_on = _moved_on(facts, settled_sum)
    received = max(
        min(head_sum, facts.head_balance or 0), _beside(facts, moved_on, head_sum, facts.head_balance)
    )
    settled = max(
        min(settled_sum, facts.settled_balance or 0),
        _beside(facts, moved_on, settled_sum, facts.settled_balance),
    )
    is_leaving = _is_leaving(facts, settled_sum)
    if is_leaving:
        received = max(received, settled)
    swept = moved_on > 0
    # Money that a reorg took back may come again later than the hold: once settled, no deadline is left.
    deadline = facts.expires_at if not facts.was_settled else None
    return _Chain(
        received=received,
        settled=settled,
        on_time=min(settled, _by(final, facts.expires_at)),
        counted_seen=min(received, _by(facts.transfers, deadline)),
        counted=min(settled, _by(final, deadline)),
        swept=swept,
        disagrees=not swept and not is_leaving and _disagrees(facts, settled_sum),
        unexplained=max(0, (facts.settled_balance or 0) - settled_sum),
    )


def _is_leaving(facts: Facts, settled_sum: int) -> bool:
    """Final money, every transfer of it known, that the head no longer shows: it was moved out, and the block that
    did it is not settled yet. No reorg above the settled block can take it back."""
    if facts.settled_balance is None or facts.head_balance is None:
        return False
    return facts.head_balance < facts.settled_balance == settled_sum


def _moved_on(facts: Facts, settled_sum: int) -> int:
    """What an address held at its fullest and holds no more, of transfers that are all still part of the chain; 0
    where nothing was moved out."""
    balance = facts.settled_balance or 0
    if balance < settled_sum <= facts.peak_balance:
        return settled_sum
    before = sum(money.units for money in _up_to(facts.transfers, facts.peak_number))
    after = settled_sum - before
    # Money that came after the address was emptied stands for itself in the balance.
    is_moved = balance < facts.peak_balance and before + min(after, balance) > min(settled_sum, balance)
    return before if is_moved and before <= facts.peak_balance else 0


def _beside(facts: Facts, moved_on: int, total: int, balance: int | None) -> int:
    """With what was moved on: that, and of later transfers what the balance shows."""
    return moved_on + min(total - moved_on, balance or 0) if moved_on else 0


def _disagrees(facts: Facts, settled_sum: int) -> bool:
    """Each balance against the transfers up to its own block: a newer one is not in it yet."""
    if facts.settled_balance is not None and facts.settled_balance != settled_sum:
        return True
    known = sum(money.units for money in _up_to(facts.transfers, facts.head_number))
    return facts.head_balance is not None and facts.head_balance != known


def _up_to(transfers: Sequence[Money], number: int | None) -> list[Money]:
    return [money for money in transfers if number is not None and money.block_number <= number]


def _by(transfers: Sequence[Money], deadline: datetime | None) -> int:
    """Lateness is judged by block time, never by when we noticed."""
    return sum(money.units for money in transfers if deadline is None or money.block_time <= deadline)


def _covers(facts: Facts, units: int) -> bool:
    return facts.due_units is not None and units >= facts.due_units


def _is_unpaid(facts: Facts, chain: _Chain) -> bool:
    if facts.card_covers or facts.card_pending or facts.card_open:
        return False
    if facts.due_units is None:
        return facts.time_is_up
    return (
        facts.settled_time is not None
        and facts.settled_time >= facts.expires_at
        # A balance without its transfers may have come on time: nobody calls that unpaid (C28).
        and not _covers(facts, chain.counted + chain.unexplained)
    )


def _is_held(facts: Facts) -> bool:
    """A hit of the screening stops money that has not paid yet; what has paid is a matter for people."""
    return facts.screening_hold and not facts.was_settled


def _status(facts: Facts, chain: _Chain, unpaid: bool) -> str:
    on_chain = _covers(facts, chain.counted) and not _is_held(facts)
    if on_chain or facts.card_covers or facts.accepted_by_hand:
        return PaymentStatus.SETTLED
    if facts.was_settled:
        return PaymentStatus.REVERSED
    if unpaid:
        return PaymentStatus.EXPIRED
    if _covers(facts, chain.counted_seen) or facts.card_pending:
        return PaymentStatus.SEEN
    return PaymentStatus.AWAITING


def _flags(facts: Facts, chain: _Chain) -> tuple[str, ...]:
    due = facts.due_units or 0
    flags = {
        PaymentFlag.PARTIAL: 0 < chain.received < due and not facts.card_covers,
        PaymentFlag.OVER: _is_over(facts, chain),
        PaymentFlag.LATE: (facts.accepted_by_hand or not facts.was_settled)
        and any(money.block_time > facts.expires_at for money in facts.transfers),
        PaymentFlag.WRONG_ASSET: facts.wrong_asset,
        PaymentFlag.WRONG_NETWORK: facts.wrong_network,
        PaymentFlag.SWEPT: chain.swept,
        PaymentFlag.DROPPED: facts.dropped and chain.received < due,
        PaymentFlag.DISAGREE: chain.disagrees,
        PaymentFlag.SCREENING: _is_held(facts),
        PaymentFlag.BY_HAND: facts.accepted_by_hand,
    }
    return tuple(str(flag) for flag, present in flags.items() if present)


def _is_over(facts: Facts, chain: _Chain) -> bool:
    """More than asked on one way of paying, or anything beside a way that has paid in full."""
    if facts.due_units is not None and chain.received > facts.due_units:
        return True
    if facts.card_paid_minor > facts.amount_minor:
        return True
    both = chain.received > 0 and facts.card_paid_minor > 0
    return both and (facts.card_covers or _covers(facts, chain.received))
