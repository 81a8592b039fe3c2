"""What the shop earned and will earn of what is sold, by day, accelerator and term; read from the books and terms.

An order's price without tax, options included, is spread evenly over the days of its term, and each of these days
counts on the date (UTC) on which it begins. A day that is over is in the books (`earned`); one that runs or is ahead
is `to_come`, as things stand now. `given_back` is what the books took off revenue on that date, without tax: refunds
of what had paid, and credits. An order that was cancelled, failed or lost its money earns nothing, on no day.
Write-offs and the gain or loss of coins against the selling currency are not part of it.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import NamedTuple

from django.conf import settings
from django.db.models import Sum
from django.db.models.functions import TruncDate

from billing import ledger
from billing.card_amounts import to_amount
from billing.lifecycle import PaymentStatus
from billing.models import LedgerEntry
from billing.order_facts import TOOK_MONEY
from billing.terms import Term, day_shares, net_minor
from core import clock
from fleet import selectors as fleet
from fleet.models import Hold, Lease
from fleet.periods import term_begins
from orders.lifecycle import OrderStatus
from orders.models import Order


class Sale(NamedTuple):
    """A date, the key of an accelerator and the days of a term."""

    day: date
    accelerator_id: int
    days: int


@dataclass(frozen=True)
class RevenueRow:
    """Amounts in the selling currency, without tax."""

    day: date
    accelerator_id: int
    days: int
    earned: Decimal
    to_come: Decimal
    given_back: Decimal

    @property
    def net(self) -> Decimal:
        """What is left."""
        return self.earned + self.to_come - self.given_back


def revenue(*, from_day: date, to_day: date) -> list[RevenueRow]:
    """Rows of the dates [from_day, to_day), by date, accelerator and term; those without an amount are left out.

    Six queries, however many orders.
    """
    earned = _earned(from_day, to_day)
    given_back = _given_back(from_day, to_day)
    to_come = _to_come(from_day, to_day)
    currency = settings.CURRENCY
    return [
        RevenueRow(
            *sale,
            earned=to_amount(earned[sale], currency),
            to_come=to_amount(to_come[sale], currency),
            given_back=to_amount(given_back[sale], currency),
        )
        for sale in sorted({*earned, *given_back, *to_come})
        if earned[sale] or given_back[sale] or to_come[sale]
    ]


def _earned(from_day: date, to_day: date) -> Counter[Sale]:
    rows = (
        LedgerEntry.objects.filter(
            account=ledger.EARNED, asset=settings.CURRENCY, day__gte=from_day, day__lt=to_day
        )
        .order_by()
        .values_list("day", "order__quote__lot__accelerator", "order__quote__days")
        .annotate(sum=Sum("units"))
    )
    return Counter({Sale(day, accelerator, days): -int(units) for day, accelerator, days, units in rows})


def _given_back(from_day: date, to_day: date) -> Counter[Sale]:
    """On the date of the booking: a refund when it fell due, a credit when it was granted."""
    rows = (
        LedgerEntry.objects.filter(
            account=ledger.CREDITS,
            asset=settings.CURRENCY,
            transaction__at__gte=clock.midnight(from_day),
            transaction__at__lt=clock.midnight(to_day),
        )
        .order_by()
        .annotate(booked_on=TruncDate("transaction__at", tzinfo=UTC))
        .values_list("booked_on", "order__quote__lot__accelerator", "order__quote__days")
        .annotate(sum=Sum("units"))
    )
    return Counter({Sale(day, accelerator, days): int(units) for day, accelerator, days, units in rows})


def _to_come(from_day: date, to_day: date) -> Counter[Sale]:
    """Days of terms that are paid and not in the books yet."""
    orders = _running()
    booked = _booked(orders)
    terms = _terms(orders)
    found: Counter[Sale] = Counter()
    for order in orders:
        term = terms.get(order.pk)
        if term is None:
            continue
        left = Counter(booked[order.pk])
        for day, amount in planned_days(net_minor(order.quote), term):
            left[day] += amount
        for day, amount in left.items():
            if from_day <= day < to_day and amount:
                found[Sale(day, order.quote.lot.accelerator_id, order.quote.days)] += amount
    return found


def planned_days(net: int, term: Term) -> list[tuple[date, int]]:
    """All of a price over the days of its term; where it ended early, what is left falls on the date of the end."""
    until = min(term.ended_at or term.ends, term.ends)
    days = day_shares(net, term, until=until)
    rest = net - sum(amount for _, amount in days)
    return [*days, (until.date(), rest)] if rest else days


def _running() -> list[Order]:
    """Paid and not ended: what has ended is in the books as a whole."""
    return list(
        Order.objects.filter(
            status__in=TOOK_MONEY - {OrderStatus.ENDED},
            payment__view__status=PaymentStatus.SETTLED,
            quote__currency=settings.CURRENCY,
        )
        .select_related("quote__lot", "extends")
        .order_by("pk")
    )


def _booked(orders: Iterable[Order]) -> dict[int, Counter[date]]:
    """By order and day what is in the books, as they have it: revenue is negative."""
    found: dict[int, Counter[date]] = defaultdict(Counter)
    rows = LedgerEntry.objects.filter(order__in=orders, account=ledger.EARNED, day__isnull=False).order_by()
    for order_id, day, units in rows.values_list("order", "day").annotate(sum=Sum("units")):
        if order_id is not None and day is not None:
            found[order_id][day] += int(units)
    return found


def _terms(orders: Iterable[Order]) -> dict[int, Term]:
    """The term of each as it is or is planned; without those that will not be delivered. Two queries."""
    orders = list(orders)
    leases = fleet.leases_of_orders({(order.extends or order).public_id for order in orders})
    refs = [order.public_id for order in orders if order.extends_id is not None]
    longer = {hold.ref: hold for hold in Hold.objects.filter(ref__in=refs)}
    found = {}
    for order in orders:
        lease = leases.get((order.extends or order).public_id)
        if lease is None:
            continue
        begins = _begins(lease) if order.extends_id is None else _goes_on(longer.get(order.public_id))
        if begins is not None:
            found[order.pk] = Term(begins, order.quote.days, lease.hold.card_count, lease.ending_at)
    return found


def _begins(lease: Lease) -> datetime | None:
    """When the first term began, or will at the earliest."""
    return term_begins(
        ready_at=lease.ready_at,
        starts_at=lease.hold.starts_at,
        is_over=lease.failed_at is not None or lease.ending_at is not None,
        now=clock.now(),
    )


def _goes_on(hold: Hold | None) -> datetime | None:
    return None if hold is None or hold.released_at is not None else hold.starts_at
