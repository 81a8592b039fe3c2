"""Decisions about money: open the one to send a refund, close those that a refund has answered."""

from datetime import timedelta

from django.db import transaction
from django.db.models import Q

from billing import locks
from billing.counted import acceptance_of, counted_parts, excess_on
from billing.legs import Leg, left_on, legs_of
from billing.lifecycle import PaymentStatus, RefundStatus
from billing.models import PaymentView, Rail, Refund
from core import clock, decisions
from core.models import Decision
from core.money import units_to_amount
from core.sweeps import each
from fleet.selectors import lease_of_order
from orders.models import Order

# Questions about money that came; none is left once all of it goes back.
MONEY_KINDS = (
    "payment_partial",
    "payment_over",
    "payment_late",
    "payment_wrong_asset",
    "payment_wrong_network",
    "payment_screening",
)
UNVERIFIED_KIND = "refund_unverified"
ORDER_KINDS = ("order_no_capacity", "paid_after_cancel")
_WAITS_FOR_STAFF = (RefundStatus.DUE, RefundStatus.FAILED)
# A refund that staff noted and did not send comes back to their list after a day.
ASK_AGAIN_AFTER = timedelta(days=1)
# Staff have wallets and holidays; the buyer was told "within two days".
SEND_WITHIN = timedelta(days=2)


def subject_of(row: Refund) -> str:
    """The decision's subject of one refund."""
    return f"refund:{row.pk}"


def ask_to_send(row: Refund) -> None:
    """Put a refund on chain before staff, with everything they need to send it. Safe to repeat."""
    decisions.open_decision(
        kind="refund_due",
        subject=subject_of(row),
        order_ref=row.order.public_id,
        facts={
            "reason": row.reason,
            "amount": f"{units_to_amount(row.units, row.decimals):f}",
            "asset": row.asset,
            "network": row.network,
            "contract": row.asset_contract,
            "destination": row.destination,
            "problem": row.last_error,
        },
        due_at=clock.now() + SEND_WITHIN,
    )


def ask_why_unseen(row: Refund, *, why: str) -> None:
    """A refund that was sent and that no chain has shown for hours. The row is locked. Safe to repeat."""
    decisions.open_decision(
        kind=UNVERIFIED_KIND,
        subject=subject_of(row),
        order_ref=row.order.public_id,
        facts={
            "amount": f"{units_to_amount(row.units, row.decimals):f}",
            "asset": row.asset,
            "network": row.network,
            "destination": row.destination,
            "transaction_hash": row.tx_hash,
            "problem": why,
        },
    )


def close_unseen(row: Refund, *, reason: str) -> None:
    """The chain has answered, one way or the other."""
    decisions.close_open(kind=UNVERIFIED_KIND, subject=subject_of(row), reason=reason)


def close_delivery(row: Refund) -> None:
    """All that was due back has arrived: a delivery that failed is settled. The row is locked."""
    lease = lease_of_order(row.order.public_id)
    waits = Refund.objects.filter(order=row.order).exclude(status=RefundStatus.VERIFIED).exists()
    if lease is not None and not waits:
        decisions.close_open(
            kind="lease_failed", subject=f"lease:{lease.pk}", reason="The money is back at the buyer."
        )


def close_sending(row: Refund, *, reason: str) -> None:
    """Nothing is to be sent at this moment."""
    decisions.close_open(kind="refund_due", subject=subject_of(row), reason=reason)


def close_answered(order: Order, view: PaymentView) -> None:
    """What goes back leaves nothing to decide: all that arrived, or all that was too much. Four queries at most."""
    refunds, legs = list(Refund.objects.filter(payment=view.payment)), legs_of(view)
    if any(left_on(leg, refunds) > 0 for leg in legs):
        if view.status == PaymentStatus.SETTLED and not _is_too_much(view, legs, refunds):
            decisions.close_open(
                kind="payment_over",
                subject=f"payment:{view.payment_id}",
                reason="what was too much goes back to the buyer",
            )
        return
    for kind in MONEY_KINDS:
        decisions.close_open(
            kind=kind, subject=f"payment:{view.payment_id}", reason="all of it goes back to the buyer"
        )
    for kind in ORDER_KINDS:
        decisions.close_open(
            kind=kind, subject=f"order:{order.pk}", reason="all of it goes back to the buyer"
        )


def _is_too_much(view: PaymentView, legs: list[Leg], refunds: list[Refund]) -> bool:
    parts = counted_parts(view, legs, acceptance_of(view.payment), refunds)
    pays = {part.leg.code: part.units for part in parts}
    return any(excess_on(leg, pays.get(leg.code, 0), refunds) > 0 for leg in legs)


def ask_again() -> int:
    """Refunds that wait for staff and that nobody is asked about any more, a day after the last answer. Found by a
    query; how many were asked for again. Each is looked at again under its lock."""
    waiting = Refund.objects.filter(rail=Rail.CRYPTO, status__in=_WAITS_FOR_STAFF)
    return each(list(waiting.values_list("pk", flat=True)), _ask_again)


def _ask_again(refund_id: int) -> bool:
    about = Decision.objects.filter(kind="refund_due", subject=f"refund:{refund_id}")
    recent = clock.now() - ASK_AGAIN_AFTER
    if about.filter(Q(closed_at=None) | Q(closed_at__gt=recent)).exists():
        return False
    with transaction.atomic():
        row = locks.refund_for_update(refund_id)
        # Sent a moment ago: nobody is to be asked for it.
        if row is None or row.status not in _WAITS_FOR_STAFF:
            return False
        ask_to_send(row)
    return True
