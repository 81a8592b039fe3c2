"""Refunds that no person has to decide: an order that is over without delivery, and what was paid twice."""

from billing.card_amounts import to_minor
from billing.counted import acceptance_of, counted_parts
from billing.legs import Leg, left_on, legs_of, main_code
from billing.lifecycle import PaymentFlag, PaymentStatus
from billing.models import PaymentView, Rail, Refund
from billing.services import screen
from billing.services.refund import open_locked
from fleet import selectors as fleet
from orders.lifecycle import OrderStatus
from orders.models import Order

# The end_reason of a lease whose money was taken back by its chain and did not return in time.
REVERSED = "reversed"
# The end_reason of a late lease whose buyer did not wait.
GIVEN_UP = "given_up"


def give_back(order: Order, view: PaymentView) -> list[Refund]:
    """Open what is due by rule. For an order and a view that the caller has locked and saved; repeatable.

    Only money that is final, and never past a question that staff have to answer first: a hit of the screening, a
    payment that its chain took back.
    """
    if PaymentFlag.SCREENING in view.flags or view.status == PaymentStatus.REVERSED:
        return []
    if order.status in (OrderStatus.CANCELLED, OrderStatus.FAILED):
        is_cancelled = order.status == OrderStatus.CANCELLED
        reason = Refund.Reason.CANCELLED if is_cancelled else _why_failed(order)
        # Where all of it goes back already, nobody is asked about it.
        if reason is None or not _is_anything_left(view) or screen.stops(order, view):
            return []
        return all_back(order, view, reason=reason)
    if view.status == PaymentStatus.SETTLED:
        return _paid_twice(order, view)
    return []


def _is_anything_left(view: PaymentView) -> bool:
    refunds = list(Refund.objects.filter(payment=view.payment))
    return any(left_on(leg, refunds) > 0 for leg in legs_of(view))


def all_back(
    order: Order, view: PaymentView, *, reason: str, actor: str = "system", note: str = ""
) -> list[Refund]:
    """All that is left on every leg. Money that comes later makes a refund of its own."""
    opened = []
    for leg in legs_of(view):
        already = sum(row.units for row in Refund.objects.filter(payment=view.payment) if leg.carries(row))
        key = f"all:{leg.code}:{already}"[:80]
        row = open_locked(order, view, leg, key=key, reason=reason, actor=actor, note=note)
        opened += [row] if row is not None else []
    return opened


def _why_failed(order: Order) -> str | None:
    """None where nothing is due by rule: the money was taken back by its chain, so nothing was received."""
    if order.extends_id is not None:
        return Refund.Reason.EXTENSION_FAILED
    lease = fleet.lease_of_order(order.public_id)
    why = lease.end_reason if lease is not None else ""
    if why == REVERSED:
        return None
    return Refund.Reason.LATE_DELIVERY if why == GIVEN_UP else Refund.Reason.NOT_DELIVERED


def _paid_twice(order: Order, view: PaymentView) -> list[Refund]:
    """A second full payment of the same order on another leg goes back by itself; parts and small sums are a
    question for staff (payment_over)."""
    legs = legs_of(view)
    if len(legs) < 2:
        return []
    refunds = list(Refund.objects.filter(payment=view.payment))
    counted = {part.leg.code for part in counted_parts(view, legs, acceptance_of(view.payment), refunds)}
    twice = [leg for leg in legs if leg.code not in counted and _is_full(leg, view)]
    if not any(left_on(leg, refunds) > 0 for leg in twice) or screen.stops(order, view):
        return []
    opened = []
    for leg in twice:
        key = f"twice:{leg.code}"[:80]
        row = open_locked(order, view, leg, key=key, reason=Refund.Reason.PAID_TWICE)
        opened += [row] if row is not None else []
    return opened


def _is_full(leg: Leg, view: PaymentView) -> bool:
    if leg.rail == Rail.BANK_CARD:
        return leg.units >= to_minor(view.payment.amount, view.payment.currency)
    return leg.code == main_code(view) and leg.units >= view.payment.crypto.due_units
