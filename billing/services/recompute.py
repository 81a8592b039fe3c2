"""Recompute a payment from its facts and tell of what changed. The only writer of PaymentView."""

from datetime import datetime, timedelta
from typing import Any

from django.db import connection
from django.db.models import Max

from billing import locks
from billing.compute import Computed, Facts, Money, compute
from billing.lifecycle import PAYMENT, PaymentFlag, PaymentStatus
from billing.models import BalanceReading, PaymentRequest, PaymentView, Transfer, TransferSighting
from billing.services import notify, watch_hold
from core import clock, decisions, events
from core.models import Decision
from core.money import units_to_amount
from orders.models import Order

# Far above what block times and server clocks differ by, far below the age of a pool check (24 h).
BLOCK_TIME_SLACK = timedelta(minutes=10)

# A decision that stands beside the state, and the event that tells of it, per flag.
_FLAG_EVENTS: dict[str, str] = {
    PaymentFlag.PARTIAL: "payment.partial",
    PaymentFlag.OVER: "payment.over",
    PaymentFlag.LATE: "payment.late",
    PaymentFlag.WRONG_ASSET: "payment.wrong_asset",
}
_FLAG_DECISIONS: dict[str, str] = {
    PaymentFlag.OVER: "payment_over",
    PaymentFlag.LATE: "payment_late",
    PaymentFlag.WRONG_ASSET: "payment_wrong_asset",
    PaymentFlag.DISAGREE: "payment_disagree",
}


def recompute(*, order_id: str, block: tuple[int, datetime] | None = None) -> PaymentView | None:
    """Compute and store the view of an order's payment, with events and decisions for what changed.

    Locks the order, then the view; must run in the transaction that wrote the facts. `block` is the newest block
    that was looked at. Safe to repeat: unchanged facts change nothing and tell nothing.
    """
    if not connection.in_atomic_block:
        raise RuntimeError("A payment is recomputed in the transaction that wrote its facts.")
    found = locks.payment_for_update(order_id)
    if found is None:
        return None
    order, view = found
    payment = view.payment
    computed = compute(_facts(payment, view))
    before = (view.received_units, frozenset(view.flags))
    _apply_numbers(view, computed, block)
    _apply_status(order, view, computed)
    view.save()
    _tell_flags(order, view, before)
    watch_hold.keep_while_seen(order, view)
    return view


def _facts(payment: PaymentRequest, view: PaymentView) -> Facts:
    transfers = Transfer.objects.in_chain().filter(
        payment=payment,
        block_number__gte=payment.crypto.from_block,
        # Money that was there before the order is somebody else's (C17).
        block_time__gte=payment.opened_at - BLOCK_TIME_SLACK,
    )
    settled = _latest(payment, BalanceReading.Kind.SETTLED, payment.asset_contract)
    head = _latest(payment, BalanceReading.Kind.HEAD, payment.asset_contract)
    native = _latest(payment, BalanceReading.Kind.HEAD, "")
    return Facts(
        due_units=payment.crypto.due_units,
        expires_at=payment.expires_at,
        transfers=[
            Money(units=row.units, block_number=row.block_number, block_time=row.block_time)
            for row in transfers
        ],
        head_balance=head.units if head else None,
        settled_balance=settled.units if settled else None,
        peak_balance=_peak(payment),
        settled_number=settled.block_number if settled else None,
        settled_time=settled.block_time if settled else None,
        native_units=native.units if native else 0,
        dropped=TransferSighting.objects.filter(transfer__payment=payment, in_chain=False).exists(),
        was_settled=view.settled_at is not None,
    )


def _latest(payment: PaymentRequest, kind: str, contract: str) -> BalanceReading | None:
    return (
        BalanceReading.objects.filter(payment=payment, kind=kind, asset_contract=contract)
        .order_by("-id")
        .first()
    )


def _peak(payment: PaymentRequest) -> int:
    readings = BalanceReading.objects.filter(
        payment=payment, kind=BalanceReading.Kind.SETTLED, asset_contract=payment.asset_contract
    )
    return readings.aggregate(peak=Max("units"))["peak"] or 0


def _apply_numbers(view: PaymentView, computed: Computed, block: tuple[int, datetime] | None) -> None:
    view.received_units = computed.received_units
    view.settled_units = computed.settled_units
    view.on_time_units = computed.on_time_units
    view.flags = list(computed.flags)
    if block is not None:
        view.last_block, view.last_block_at = block
        view.checked_at = clock.now()
    if computed.received_units and view.first_seen_at is None:
        view.first_seen_at = clock.now()
    if computed.unpaid_confirmed and view.unpaid_confirmed_at is None:
        view.unpaid_confirmed_at = clock.now()


def _apply_status(order: Order, view: PaymentView, computed: Computed) -> None:
    target = computed.status
    if target == view.status or not PAYMENT.can(view.status, target):
        return
    if target == PaymentStatus.SETTLED:
        view.settled_at = view.settled_at or clock.now()
    PAYMENT.advance(view, target, order_ref=order.public_id, payload=_payload(view, order))
    if target == PaymentStatus.REVERSED:
        _decide(order, view, "payment_reversed")
    if target == PaymentStatus.SETTLED:
        decisions.close_open(
            kind="payment_reversed", subject=f"payment:{view.payment_id}", reason="the money came back"
        )


def _tell_flags(order: Order, view: PaymentView, before: tuple[int, frozenset[str]]) -> None:
    """Events, mails and decisions for a flag that is new or whose sum has changed: a decision that staff closed is
    not opened again by a look that found nothing new."""
    received_before, flags_before = before
    for flag in view.flags:
        is_new = flag not in flags_before
        if not is_new and view.received_units == received_before:
            continue
        if flag in _FLAG_EVENTS and (is_new or flag == PaymentFlag.PARTIAL):
            events.emit(
                name=_FLAG_EVENTS[flag],
                subject=f"payment:{view.payment_id}",
                order_ref=order.public_id,
                payload=_payload(view, order),
            )
            notify.flag(order, view, flag)
        if flag in _FLAG_DECISIONS:
            _decide(order, view, _FLAG_DECISIONS[flag])
    _decide_partial(order, view, received_before)
    if PaymentFlag.DISAGREE not in view.flags and PaymentFlag.DISAGREE in flags_before:
        decisions.close_open(
            kind="payment_disagree",
            subject=f"payment:{view.payment_id}",
            reason="balance and transfers agree again",
        )


def _decide_partial(order: Order, view: PaymentView, received_before: int) -> None:
    """A part may still become whole while the cards are held. Afterwards a person decides, once per sum."""
    if PaymentFlag.PARTIAL not in view.flags:
        decisions.close_open(
            kind="payment_partial", subject=f"payment:{view.payment_id}", reason="the sum is no longer short"
        )
    if PaymentFlag.PARTIAL not in view.flags or view.status not in (
        PaymentStatus.EXPIRED,
        PaymentStatus.REVERSED,
    ):
        return
    decided = Decision.objects.filter(kind="payment_partial", subject=f"payment:{view.payment_id}").exists()
    if not decided or view.received_units != received_before:
        _decide(order, view, "payment_partial")


def _decide(order: Order, view: PaymentView, kind: str) -> None:
    decisions.open_decision(
        kind=kind,
        subject=f"payment:{view.payment_id}",
        order_ref=order.public_id,
        facts=_payload(view, order),
    )


def _payload(view: PaymentView, order: Order) -> dict[str, Any]:
    payment = view.payment
    received = units_to_amount(view.received_units, payment.crypto.decimals)
    on_time = units_to_amount(view.on_time_units, payment.crypto.decimals)
    due = units_to_amount(payment.crypto.due_units, payment.crypto.decimals)
    still = max(due - received, due - due)
    return {
        "asset": payment.asset,
        "network": payment.network,
        "received": f"{received:f}",
        "on_time": f"{on_time:f}",
        "asked": f"{due:f}",
        "still_due": f"{still:f}",
        "over": f"{max(received - due, due - due):f}",
        "flags": list(view.flags),
        "block": view.last_block,
        "settled_at": view.settled_at.isoformat() if view.settled_at else None,
        "order_status": order.status,
    }
