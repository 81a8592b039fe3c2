"""Recompute a payment from its facts and tell of what changed. The only writer of PaymentView."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db import connection

from billing import card_amounts, locks
from billing.card_facts import card_money
from billing.chain_facts import ChainMoney, chain_money, counted_transfers
from billing.compute import Computed, Facts, compute
from billing.counted import acceptance_of, still_stands
from billing.legs import legs_of
from billing.lifecycle import PAYMENT, PaymentFlag, PaymentStatus
from billing.models import PaymentRequest, PaymentView
from billing.services import notify, screen, watch_hold
from billing.services.give_back import give_back
from billing.services.post import post_locked
from core import clock, decisions, events
from core.models import Decision
from core.money import units_to_amount
from orders.models import Order

# A decision that stands beside the state, and the event that tells of it, per flag.
_FLAG_EVENTS: dict[str, str] = {
    PaymentFlag.PARTIAL: "payment.partial",
    PaymentFlag.OVER: "payment.over",
    PaymentFlag.LATE: "payment.late",
    PaymentFlag.WRONG_ASSET: "payment.wrong_asset",
    PaymentFlag.WRONG_NETWORK: "payment.wrong_network",
}
_FLAG_DECISIONS: dict[str, str] = {
    PaymentFlag.OVER: "payment_over",
    PaymentFlag.LATE: "payment_late",
    PaymentFlag.WRONG_ASSET: "payment_wrong_asset",
    PaymentFlag.WRONG_NETWORK: "payment_wrong_network",
    PaymentFlag.DISAGREE: "payment_disagree",
    PaymentFlag.SCREENING: "payment_screening",
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
    chain = chain_money(payment)
    facts = _facts(payment, view, chain)
    before = _Before(money=_money(view), flags=frozenset(view.flags))
    computed = _compute(view, facts, chain, block)
    _apply_status(order, view, computed)
    view.save()
    _tell_flags(order, view, before)
    watch_hold.keep_while_seen(order, view)
    give_back(order, view)
    post_locked(order, view, kind="payment")
    return view


def _compute(
    view: PaymentView, facts: Facts, chain: ChainMoney, block: tuple[int, datetime] | None
) -> Computed:
    """The numbers first; then what people said of this money, as far as it is still there: staff took it as payment
    in full, or its sender is on a list."""
    computed = compute(facts)
    view.card_minor = facts.card_paid_minor
    view.others = [other.as_json() for other in chain.others]
    _apply_numbers(view, computed, block)
    payment = view.payment
    if still_stands(acceptance_of(payment), legs_of(view)):
        facts = replace(facts, accepted_by_hand=True)
    elif computed.status == PaymentStatus.SETTLED and view.settled_at is None and not facts.card_covers:
        facts = replace(facts, screening_hold=screen.holds_back(payment, counted_transfers(payment)))
    computed = compute(facts)
    view.flags = list(computed.flags)
    return computed


@dataclass(frozen=True)
class _Before:
    """What was known when the facts came: only what differs is told."""

    money: tuple[Any, ...]
    flags: frozenset[str]


def _money(view: PaymentView) -> tuple[Any, ...]:
    others = [(other["chain_id"], other["contract"], other["units"]) for other in view.others]
    return (view.received_units, view.card_minor, others)


def _facts(payment: PaymentRequest, view: PaymentView, chain: ChainMoney) -> Facts:
    card = card_money(payment)
    return Facts(
        due_units=payment.due_units if payment.takes_crypto else None,
        expires_at=payment.expires_at,
        transfers=chain.transfers,
        head_balance=chain.head_balance,
        head_number=chain.head_number,
        settled_balance=chain.settled_balance,
        peak_balance=chain.peak_balance,
        peak_number=chain.peak_number,
        settled_number=chain.settled_number,
        settled_time=chain.settled_time,
        wrong_asset=any(other.is_here for other in chain.others),
        wrong_network=any(not other.is_here for other in chain.others),
        dropped=chain.dropped,
        was_settled=view.settled_at is not None,
        time_is_up=clock.now() >= payment.expires_at,
        amount_minor=card.amount_minor,
        card_paid_minor=card.paid_minor,
        card_pending=card.pending,
        card_open=card.is_open,
    )


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
    if target in (PaymentStatus.SEEN, PaymentStatus.SETTLED):
        view.first_seen_at = view.first_seen_at or clock.now()
    if target == PaymentStatus.SETTLED:
        view.settled_at = view.settled_at or clock.now()
    PAYMENT.advance(view, target, order_ref=order.public_id, payload=_payload(view, order))
    if target == PaymentStatus.REVERSED:
        _decide(order, view, "payment_reversed")
    if target == PaymentStatus.SETTLED:
        decisions.close_open(
            kind="payment_reversed", subject=f"payment:{view.payment_id}", reason="the money came back"
        )


def _tell_flags(order: Order, view: PaymentView, before: _Before) -> None:
    """Events, mails and decisions for a flag that is new or whose sum has changed: a decision that staff closed is
    not opened again by a look that found nothing new."""
    is_other_sum = _money(view) != before.money
    for flag in view.flags:
        is_new = flag not in before.flags
        if not is_new and not is_other_sum:
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
    _decide_partial(order, view, is_other_sum=is_other_sum)
    if PaymentFlag.DISAGREE not in view.flags and PaymentFlag.DISAGREE in before.flags:
        decisions.close_open(
            kind="payment_disagree",
            subject=f"payment:{view.payment_id}",
            reason="balance and transfers agree again",
        )


def _decide_partial(order: Order, view: PaymentView, *, is_other_sum: bool) -> None:
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
    if not decided or is_other_sum:
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
    facts: dict[str, Any] = {
        "rail": payment.rail,
        "amount": f"{payment.amount:f}",
        "currency": payment.currency,
        "flags": list(view.flags),
        "block": view.last_block,
        "settled_at": view.settled_at.isoformat() if view.settled_at else None,
        "order_status": order.status,
    }
    if view.card_minor:
        facts["card_paid"] = f"{card_amounts.to_amount(view.card_minor, payment.currency):f}"
    if view.others:
        facts["others"] = [
            {**other, "amount": f"{units_to_amount(int(other['units']), other['decimals']):f}"}
            for other in view.others
        ]
    return facts | (_crypto_payload(view) if payment.takes_crypto else {})


def _crypto_payload(view: PaymentView) -> dict[str, str]:
    """Each sum by itself: what came, what of it on time, what late, what too much (C04)."""
    crypto = view.payment.crypto

    def text(units: int) -> str:
        return f"{units_to_amount(units, crypto.decimals):f}"

    late = max(view.settled_units - view.on_time_units, 0)
    return {
        "asset": crypto.asset,
        "network": crypto.network,
        "received": text(view.received_units),
        "on_time": text(view.on_time_units),
        "late": text(late),
        "asked": text(crypto.due_units),
        "still_due": text(max(crypto.due_units - view.received_units, 0)),
        "over": text(max(view.received_units - crypto.due_units, 0)),
    }
