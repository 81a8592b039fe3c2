"""In which phase an order is for its buyer: one word from order, payment and lease, by the clock."""

from enum import StrEnum

from billing.lifecycle import PaymentFlag, PaymentStatus
from billing.selectors import PaymentState
from core import clock
from fleet.lifecycle import TEARDOWN_STATES, LeaseStatus
from fleet.models import Lease
from orders.lifecycle import OrderStatus
from orders.models import Order


class Phase(StrEnum):
    PAYING = "paying"
    PARTIAL = "partial"
    SEEN = "seen"
    FINAL = "final"
    CHECKING = "checking"
    PREPARING = "preparing"
    LATE = "late"
    SUSPENDED = "suspended"
    ACTIVE = "active"
    ENDING = "ending"
    ENDED = "ended"
    EXPIRED = "expired"
    NO_CAPACITY = "no_capacity"
    CANCELLED = "cancelled"
    FAILED = "failed"


OPEN_TO_MONEY = frozenset({Phase.PAYING, Phase.PARTIAL})
# Phases in which something is about to change by itself.
MOVING = frozenset(
    {Phase.PAYING, Phase.PARTIAL, Phase.SEEN, Phase.FINAL, Phase.CHECKING, Phase.PREPARING, Phase.LATE}
)
# The order goes no further; money may still go back.
CLOSED = frozenset({Phase.EXPIRED, Phase.NO_CAPACITY, Phase.CANCELLED, Phase.FAILED})
SLOW = frozenset({Phase.SUSPENDED, Phase.ACTIVE, Phase.ENDING, Phase.EXPIRED, Phase.CANCELLED})

_OVER = {
    OrderStatus.ENDED: Phase.ENDED,
    OrderStatus.CANCELLED: Phase.CANCELLED,
    OrderStatus.FAILED: Phase.FAILED,
}


def phase_of(order: Order, payment: PaymentState | None, lease: Lease | None) -> Phase:
    """The phase now. The payment's state is already judged by the clock."""
    if order.status in _OVER:
        return _OVER[OrderStatus(order.status)]
    if order.status == OrderStatus.AWAITING_PAYMENT:
        return _before_payment(payment)
    if order.status == OrderStatus.EXPIRED:
        settled = payment is not None and payment.status == PaymentStatus.SETTLED
        return Phase.NO_CAPACITY if settled else Phase.EXPIRED
    if lease is not None and lease.status == LeaseStatus.SUSPENDED:
        return Phase.SUSPENDED
    if order.status == OrderStatus.ACTIVE:
        return Phase.ENDING if _is_over(lease) else Phase.ACTIVE
    return Phase.LATE if lease is not None and lease.late_at is not None else Phase.PREPARING


def _before_payment(payment: PaymentState | None) -> Phase:
    if payment is None:
        return Phase.PAYING
    if payment.status == PaymentStatus.SETTLED:
        return Phase.FINAL
    if payment.status == PaymentStatus.SEEN:
        return Phase.SEEN
    if payment.status == PaymentStatus.EXPIRED:
        return Phase.CHECKING
    return Phase.PARTIAL if PaymentFlag.PARTIAL in payment.flags else Phase.PAYING


def _is_over(lease: Lease | None) -> bool:
    if lease is None:
        return False
    ended = lease.ends_at is not None and clock.now() >= lease.ends_at
    return ended or lease.status in TEARDOWN_STATES
