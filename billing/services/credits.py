"""Credits: what outages of the fleet's record are worth, stored once each; their sum is a refund at the end."""

from datetime import timedelta
from decimal import Decimal
from fractions import Fraction

from django.db import connection
from django.db.models import Sum

from billing import locks
from billing.early_end_amount import paid_for_lots
from billing.models import Credit, Refund
from billing.services.refund import refund_amount
from billing.terms import Term, terms_of_lease
from core import clock, events
from core.money import quantize
from fleet import selectors as fleet
from fleet.models import Outage
from orders.models import Order

MINUTE = timedelta(minutes=1)


def credit_outages(*, order_ref: str) -> int:
    """Store a credit for each outage of a lease that is over and has none yet; how many were stored.

    Locks the orders that the outages fell into, the first one first. Each started minute of each card x the paid price
    of a card-minute, taxes included, without options; all credits of an order together never more than was paid for
    it. Repeatable: an outage is credited once.
    """
    if not connection.in_atomic_block:
        raise RuntimeError("Credits are stored in the transaction of their cause.")
    outages = list(fleet.outages_of_order(order_ref))
    known = set(
        Credit.objects.filter(outage_id__in=[row.pk for row in outages]).values_list("outage_id", flat=True)
    )
    terms = terms_of_lease(order_ref)
    stored = 0
    for row in sorted(outages, key=lambda row: row.pk):
        if row.pk in known or not terms:
            continue
        order, term = _term_at(terms, row)
        locks.payment_for_update(order.public_id)
        stored += _store(order, term, row)
    return stored


def credits_back(*, order_id: str) -> list[Refund]:
    """The lease is over: the sum of an order's credits falls due. Locks order and payment. Repeatable by its key."""
    found = locks.payment_for_update(order_id)
    if found is None:
        return []
    return refund_amount(*found, amount=credited(found[0]), key="credit", reason=Refund.Reason.CREDIT)


def credited(order: Order) -> Decimal:
    """The sum of an order's credits so far."""
    return Credit.objects.filter(order=order).aggregate(sum=Sum("amount"))["sum"] or Decimal("0.00")


def price_of_card_minute(order: Order, term: Term) -> Fraction:
    """The paid price of one card for one minute; exact, in the order's currency."""
    return paid_for_lots(order.quote) / (term.cards * term.days * 24 * 60)


def started_minutes(row: Outage) -> int:
    """A minute that has begun counts whole. An outage that is not over counts nothing yet."""
    if row.ended_at is None or row.ended_at <= row.began_at:
        return 0
    return -((row.began_at - row.ended_at) // MINUTE)


def _store(order: Order, term: Term, row: Outage) -> int:
    minutes = started_minutes(row)
    if minutes == 0 or row.ended_at is None:
        return 0
    rows = Credit.objects.filter(order=order)
    before = rows.aggregate(sum=Sum("minutes"))["sum"] or 0
    # Rounded as a sum, so that many short outages neither gain nor lose a cent each.
    exact = price_of_card_minute(order, term) * (before + minutes)
    total = min(quantize(Decimal((exact * 200 + 1) // 2) / 100), order.quote.total)
    amount = max(total - credited(order), Decimal("0.00"))
    credit = Credit.objects.create(
        order=order,
        outage_id=row.pk,
        cause=row.cause,
        began_at=row.began_at,
        ended_at=row.ended_at,
        minutes=minutes,
        amount=amount,
        currency=order.quote.currency,
        at=clock.now(),
    )
    events.emit(
        name="credit.due",
        subject=f"credit:{credit.pk}",
        order_ref=order.public_id,
        payload={
            "amount": f"{amount:.2f}",
            "currency": credit.currency,
            "minutes": minutes,
            "cause": row.cause,
        },
    )
    return 1


def _term_at(terms: list[tuple[Order, Term]], row: Outage) -> tuple[Order, Term]:
    """The order whose time it was; what lies before all of them (late delivery) belongs to the first."""
    found = terms[0]
    for pair in terms:
        if pair[1].begins <= row.began_at:
            found = pair
    return found
