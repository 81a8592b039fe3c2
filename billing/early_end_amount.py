"""What comes back when a buyer ends a lease early: whole unused days at half of the paid price of a day."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction

from catalog.pricing import KIND_LOT, KIND_TAX
from core.money import quantize
from fleet.extensions import joined_refs
from fleet.models import Lease
from fleet.periods import DAY_SECONDS
from orders.lifecycle import OrderStatus
from orders.models import Order, Quote

# Policy table, "cancel": after the start, whole unused days at 50 %.
SHARE = Fraction(1, 2)
_DELIVERED = frozenset({OrderStatus.ACTIVE, OrderStatus.ENDED})


@dataclass(frozen=True)
class EarlyEndPart:
    """The share of one order: the first one, or an extension. `amount` is never more than was paid for it."""

    order_id: str
    days: int
    amount: Decimal


@dataclass(frozen=True)
class EarlyEnd:
    """`unused_days` are whole days of 24 hours between `ended_at` and the end of the term."""

    ended_at: datetime
    unused_days: int
    amount: Decimal
    currency: str
    parts: tuple[EarlyEndPart, ...]


def early_end_amount(
    first: Order, lease: Lease, *, at: datetime, extensions: Iterable[Order] | None = None
) -> EarlyEnd:
    """The sum for a lease that ends at `at`, before `lease.ends_at`. Two queries, none where `extensions` are all of
    the first order with their quotes: then those count that have heard that they are part of the term.

    Days are taken off from the end: of the last extension first. The paid price of a day is that of the lots with
    their tax, without options, divided by the days of its order; each part is rounded half up to the cent, once.
    """
    if lease.ends_at is None:
        raise ValueError("This lease has no term.")
    left = max(0, int((lease.ends_at - at) // timedelta(seconds=DAY_SECONDS)))
    unused = left
    parts = []
    for order in _latest_first(first, lease, extensions):
        days = min(left, order.quote.days)
        if days == 0:
            continue
        left -= days
        parts.append(EarlyEndPart(order_id=order.public_id, days=days, amount=_amount(order.quote, days)))
    return EarlyEnd(
        ended_at=at,
        unused_days=unused - left,
        amount=sum((part.amount for part in parts), Decimal("0.00")),
        currency=first.quote.currency,
        parts=tuple(parts),
    )


def paid_for_lots(quote: Quote) -> Fraction:
    """The lots' share of the total: their line with the tax on it, whether prices contain the tax or not."""
    sums = [Fraction(Decimal(line["amount"])) for line in quote.lines if line["kind"] != KIND_TAX]
    lots = [Fraction(Decimal(line["amount"])) for line in quote.lines if line["kind"] == KIND_LOT]
    whole = sum(sums, Fraction(0))
    return Fraction(quote.total) * sum(lots, Fraction(0)) / whole if whole else Fraction(0)


def _latest_first(first: Order, lease: Lease, extensions: Iterable[Order] | None) -> list[Order]:
    """The orders whose time is part of the term, the last one first."""
    if extensions is None:
        of_term = first.extensions.select_related("quote").filter(public_id__in=joined_refs(lease.pk))
        joined = list(of_term.filter(status__in=_DELIVERED | {OrderStatus.PAID}))
    else:
        joined = [order for order in extensions if order.status in _DELIVERED]
    return [*sorted(joined, key=lambda order: order.pk, reverse=True), first]


def _amount(quote: Quote, days: int) -> Decimal:
    exact = paid_for_lots(quote) * SHARE * days / quote.days
    # Half up in whole cents; a day's price can have no end as a decimal.
    cents = (exact * 200 + 1) // 2
    return min(quantize(Decimal(cents) / 100), quote.total)
