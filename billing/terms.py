"""The time that an order has paid for: its own term, also where it makes the lease of another order longer."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta

from billing.amounts import split_evenly
from billing.card_amounts import to_minor
from core import clock
from fleet import selectors as fleet
from fleet.models import Hold, Lease
from fleet.periods import DAY_SECONDS
from orders.lifecycle import OrderStatus
from orders.models import Order, Quote

DAY = timedelta(seconds=DAY_SECONDS)


@dataclass(frozen=True)
class Term:
    """What one order paid for. `ended_at` is when access closed, None while it is open."""

    begins: datetime
    days: int
    cards: int
    ended_at: datetime | None

    @property
    def ends(self) -> datetime:
        return self.begins + self.days * DAY


def term_of(order: Order) -> Term | None:
    """The order's own term, or None before access has opened (an extension: before it has joined)."""
    base = order.extends or order
    lease = fleet.lease_of_order(base.public_id)
    if lease is None or lease.ready_at is None:
        return None
    begins = _begins(order, lease)
    if begins is None:
        return None
    return Term(
        begins=begins,
        days=order.quote.days,
        cards=lease.hold.card_count,
        ended_at=lease.ending_at,
    )


def _begins(order: Order, lease: Lease) -> datetime | None:
    if order.extends_id is None:
        first = lease.ready_at
        chosen = lease.hold.starts_at
        return max(first, chosen) if first and chosen else first
    # An extension begins where the lease ended before it.
    return Hold.objects.filter(ref=order.public_id).values_list("starts_at", flat=True).first()


def terms_of_lease(order_ref: str) -> list[tuple[Order, Term]]:
    """The order of a lease and its extensions that were paid, with their terms, earliest first."""
    orders = [
        *Order.objects.filter(public_id=order_ref).select_related("quote", "quote__lot", "extends"),
        *Order.objects.filter(
            extends__public_id=order_ref, status__in=[OrderStatus.ACTIVE, OrderStatus.ENDED]
        ).select_related("quote", "quote__lot", "extends"),
    ]
    found = [(order, term) for order in orders if (term := term_of(order)) is not None]
    return sorted(found, key=lambda pair: pair[1].begins)


def net_minor(quote: Quote) -> int:
    """The price of a quote without its tax, in minor units of its currency."""
    return to_minor(quote.total, quote.currency) - to_minor(quote.tax, quote.currency)


def day_shares(net: int, term: Term, *, until: datetime) -> list[tuple[date, int]]:
    """The share of each whole day of the term that is over at `until`, on the date on which that day begins."""
    shares = split_evenly(net, term.days)
    whole = max(0, min(term.days, (until - term.begins) // DAY))
    return [((term.begins + number * DAY).date(), shares[number]) for number in range(whole)]


def earned_days(order: Order) -> list[tuple[date, int]]:
    """What each whole day of the term has earned by now, in minor units without tax; all of it once it is over."""
    term = term_of(order)
    if term is None:
        return []
    net = net_minor(order.quote)
    earned = day_shares(net, term, until=min(clock.now(), term.ended_at or term.ends, term.ends))
    rest = net - sum(amount for _, amount in earned)
    if order.status == OrderStatus.ENDED and rest:
        # Ended early: what is not given back was earned with the end.
        earned.append(((term.ended_at or term.ends).date(), rest))
    return earned
