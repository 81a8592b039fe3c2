"""Decide that money is due back: a Refund row, bounded by what was received on its leg, once per key."""

from decimal import Decimal

from django.db import connection, transaction
from django.utils.translation import gettext_lazy as _

from billing import locks
from billing.amounts import share_of_units, shown_step
from billing.card_amounts import to_amount
from billing.counted import acceptance_of, counted_parts
from billing.legs import Leg, left_on, legs_of
from billing.lifecycle import REFUND, PaymentStatus, RefundStatus
from billing.models import PaymentView, Rail, Refund
from billing.services import refund_mail, refund_questions
from billing.services.post import post_locked
from core import clock, outbox
from core.errors import NotFound, Refusal
from core.money import units_to_amount
from orders.models import Order

SYSTEM = "system"


def open_refund(
    *,
    order_id: str,
    key: str,
    reason: str,
    leg: str,
    units: int | None = None,
    actor: str = SYSTEM,
    note: str = "",
) -> Refund | None:
    """Decide that `units` of one leg go back; None means all that is left on it. Returns None where nothing is left.

    Locks the order and the view of its payment. Repeatable: the same key gives the refund that is there. Raises
    NotFound and Refusal(refund_too_large): the refunds of a leg never pass what was received on it.
    """
    with transaction.atomic():
        found = locks.payment_for_update(order_id)
        if found is None:
            raise NotFound(code="not_found", message=_("There is no such order."))
        order, view = found
        wanted = next((one for one in legs_of(view) if one.code == leg), None)
        if wanted is None:
            if units is None:
                return None
            raise _too_large(None, 0)
        return open_locked(order, view, wanted, key=key, reason=reason, units=units, actor=actor, note=note)


def open_locked(
    order: Order,
    view: PaymentView,
    leg: Leg,
    *,
    key: str,
    reason: str,
    units: int | None = None,
    actor: str = SYSTEM,
    note: str = "",
) -> Refund | None:
    """The same for an order and a view that the caller has locked and saved."""
    if not connection.in_atomic_block:
        raise RuntimeError("A refund is decided in the transaction of its cause.")
    refunds = list(Refund.objects.filter(payment=view.payment))
    there = next((row for row in refunds if row.key == key), None)
    if there is not None:
        return there
    left = left_on(leg, refunds)
    asked = left if units is None else units
    if units is None and left <= 0:
        return None
    if not 0 < asked <= left:
        raise _too_large(leg, left)
    destination = _known_destination(leg, refunds)
    is_card = leg.rail == Rail.BANK_CARD
    moment = clock.now()
    due = is_card or bool(destination)
    row = Refund.objects.create(
        order=order,
        payment=view.payment,
        key=key,
        reason=reason,
        rail=leg.rail,
        network=leg.network,
        chain_id=leg.chain_id,
        asset=leg.asset,
        asset_contract=leg.contract,
        decimals=leg.decimals,
        units=asked,
        payment_intent=leg.payment_intent,
        destination=destination,
        destination_at=moment if destination else None,
        status=RefundStatus.DUE if due else RefundStatus.ADDRESS_NEEDED,
        due_at=moment if due else None,
        opened_at=moment,
        opened_by=actor,
        note=note,
        next_at=clock.system_now(),
    )
    REFUND.begin(row, order_ref=order.public_id, payload=payload_of(row))
    refund_mail.opened(order, row)
    if is_card:
        # A worker gives it back at the processor.
        transaction.on_commit(lambda: outbox.hint("billing.send_card_refund", row.pk))
    elif due:
        refund_questions.ask_to_send(row)
    refund_questions.close_answered(order, view)
    post_locked(order, view, kind=f"refund.{reason}"[:40])
    return row


def refund_amount(
    order: Order, view: PaymentView, *, amount: Decimal, key: str, reason: str, note: str = ""
) -> list[Refund]:
    """Give back an amount of the selling currency in what was paid with, at the payment's own rate.

    For an order and a view that the caller has locked. Never over what is left; the parts of an order that was paid
    in several ways go back each by its own. Repeatable by `key`.
    """
    total = view.payment.amount
    if amount <= 0 or total <= 0 or view.status != PaymentStatus.SETTLED:
        return []
    refunds = list(Refund.objects.filter(payment=view.payment))
    opened = []
    for part in counted_parts(view, legs_of(view), acceptance_of(view.payment), refunds):
        leg = part.leg
        step = shown_step(decimals=leg.decimals, is_native=leg.rail == Rail.CRYPTO and not leg.contract)
        units = min(share_of_units(part.units, part=amount, whole=total, step=step), left_on(leg, refunds))
        if units <= 0:
            continue
        row = open_locked(
            order, view, leg, key=f"{key}:{leg.code}"[:80], reason=reason, units=units, note=note
        )
        opened += [row] if row is not None else []
    return opened


def payload_of(row: Refund) -> dict[str, str]:
    """What events tell of a refund: amounts as text."""
    return {
        "reason": row.reason,
        "amount": f"{amount_of(row):f}",
        "asset": row.asset,
        "network": row.network,
        "destination": row.destination,
        "transaction_hash": row.tx_hash,
    }


def amount_of(row: Refund) -> Decimal:
    """The refund in its asset."""
    if row.rail == Rail.BANK_CARD:
        return to_amount(row.units, row.asset)
    return units_to_amount(row.units, row.decimals)


def _known_destination(leg: Leg, refunds: list[Refund]) -> str:
    """The buyer has said before where this asset goes on this network; he may still change it until it is sent."""
    said = [row for row in refunds if leg.carries(row) and row.destination and row.destination_at]
    newest = max(said, key=lambda row: row.destination_at or row.opened_at, default=None)
    return newest.destination if newest is not None and leg.rail == Rail.CRYPTO else ""


def _too_large(leg: Leg | None, left: int) -> Refusal:
    amount = units_to_amount(max(left, 0), leg.decimals) if leg is not None else Decimal(0)
    return Refusal(
        code="refund_too_large",
        message=_(
            "At most %(amount)s %(asset)s can go back: that is what arrived and was not given back yet."
        ),
        field="amount",
        params={"amount": f"{amount.normalize():f}", "asset": leg.asset if leg is not None else ""},
    )
