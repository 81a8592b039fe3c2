"""What staff can do with money that differs: give it back, give back the excess, let it pass. One service each.

Every service locks the order, the view of its payment and last the decision, closes the decision in its own
transaction and raises Conflict(already_done) for the second click.
"""

from datetime import timedelta
from decimal import Decimal, InvalidOperation

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from billing import locks
from billing.counted import acceptance_of, counted_parts, excess_on
from billing.legs import Leg, legs_of, main_code
from billing.lifecycle import PaymentFlag, PaymentStatus
from billing.models import PaymentRequest, PaymentView, Rail, Refund
from billing.services import screen
from billing.services.accept import locked_order
from billing.services.give_back import all_back
from billing.services.recompute import recompute
from billing.services.refund import amount_of, open_locked, open_refund
from core import audit, clock, decisions
from core.errors import Conflict, Invalid, NotFound
from core.models import Decision
from core.money import units_to_amount
from orders.lifecycle import OVER, OrderStatus
from orders.models import Order
from orders.services.cancel import cancel
from orders.services.offer import withdraw_offer

# A form that was sent twice comes within seconds; the same sum for the same reason is rare enough later.
SECOND_CLICK = timedelta(minutes=2)
_REASONS = {
    "payment_partial": Refund.Reason.PARTIAL,
    "payment_late": Refund.Reason.LATE_MONEY,
    "payment_wrong_asset": Refund.Reason.WRONG_ASSET,
    "payment_wrong_network": Refund.Reason.WRONG_NETWORK,
    "payment_screening": Refund.Reason.SCREENING,
    "order_no_capacity": Refund.Reason.NO_CAPACITY,
    "paid_after_cancel": Refund.Reason.CANCELLED,
    "card_mismatch": Refund.Reason.BY_HAND,
}
WRONG_LEGS = ("payment_wrong_asset", "payment_wrong_network", "card_mismatch")


def refund_what_arrived(*, decision: Decision, actor: str, reason: str) -> None:
    """All of what the decision is about goes back: of a wrong asset, network or charge that alone, else every leg.

    Raises also Conflict: screening_hold, order_open, not_settled, nothing_left.
    """
    if decision.kind != "payment_screening":
        _require_unlisted(decision.order_ref)
    with transaction.atomic():
        order, view = locked_order(decision)
        decisions.close_decision(decision_id=decision.pk, actor=actor, reason=reason, action="refund")
        why, before = _REASONS[decision.kind], {"order": order.status, "payment": view.status}
        if decision.kind in WRONG_LEGS:
            opened = _wrong_legs_back(order, view, decision.kind, actor=actor, note=reason)
        else:
            if decision.kind == "payment_screening" and order.status == OrderStatus.AWAITING_PAYMENT:
                order = cancel(order_id=order.public_id, actor=actor, reason=reason)
            if order.status not in OVER:
                raise Conflict(
                    code="order_open",
                    message=_("This order still goes on. Cancel it before its money goes back."),
                )
            withdraw_offer(order)
            opened = all_back(order, view, reason=why, actor=actor, note=reason)
        if not opened:
            raise _nothing_left(view)
        _audit(view, actor, reason, opened, before=before)


def _require_unlisted(order_id: str) -> None:
    """In a transaction of its own, so that the question about the sender stays when this answer is refused."""
    with transaction.atomic():
        found = locks.payment_for_update(order_id)
        stopped = found is not None and screen.stops(*found)
    if stopped:
        raise Conflict(
            code="screening_hold",
            message=_("The sender of this money is on a list. Decide about that first."),
        )


def _nothing_left(view: PaymentView) -> Conflict:
    if any(not other["is_final"] for other in view.others):
        return Conflict(
            code="not_settled",
            message=_("This money is not final yet: its chain may still take it back. Try again later."),
        )
    return Conflict(code="nothing_left", message=_("Nothing is left that could go back."))


def refund_excess(*, decision: Decision, actor: str, reason: str) -> None:
    """What is over goes back, on each leg by itself; what pays the order stays. Raises also Conflict:
    screening_hold, not_settled, nothing_left."""
    _require_unlisted(decision.order_ref)
    with transaction.atomic():
        order, view = locked_order(decision)
        decisions.close_decision(decision_id=decision.pk, actor=actor, reason=reason, action="refund_excess")
        before = {"order": order.status, "payment": view.status}
        opened = _excess_back(order, view, actor=actor, note=reason)
        if not opened:
            raise Conflict(code="nothing_left", message=_("Nothing is left that could go back."))
        _audit(view, actor, reason, opened, before=before)


def clear_screening(*, decision: Decision, actor: str, reason: str) -> None:
    """The senders were looked at and their money may pass: the payment settles by its own rules."""
    with transaction.atomic():
        order, view = locked_order(decision)
        decisions.close_decision(decision_id=decision.pk, actor=actor, reason=reason, action="clear")
        before = {"payment": view.status, "flags": list(view.flags)}
        cleared = screen.clear_all(view.payment, actor=actor)
        audit.record(
            actor=actor,
            action="payment.clear_screening",
            subject=f"payment:{view.payment_id}",
            reason=reason,
            before=before,
            after={"senders": cleared},
        )
        recompute(order_id=order.public_id)


def refund_by_hand(
    *, payment: PaymentRequest, actor: str, reason: str, amount: str, leg: str = ""
) -> Refund | None:
    """Staff give back an amount of one leg (empty: the asset that was asked for), never more than is left on it.

    Raises Invalid(invalid_amount), Refusal(refund_too_large), NotFound; Conflict(order_open) for money that may still
    pay for its order, Conflict(already_done) for a second click, Conflict(screening_hold).
    """
    _require_unlisted(payment.order.public_id)
    with transaction.atomic():
        found = locks.payment_for_update(payment.order.public_id)
        if found is None:
            raise NotFound(code="not_found", message=_("There is no such order."))
        order, view = found
        legs = legs_of(view)
        wanted = leg.strip() or main_code(view) or (legs[0].code if legs else "")
        known = next((one for one in legs if one.code == wanted), None)
        if known is None:
            raise Invalid(code="unknown_leg", message=_("No money has arrived by this way."), field="leg")
        if order.status == OrderStatus.AWAITING_PAYMENT and _may_pay(known, view):
            # Else the rest could arrive and the order be paid with money that goes back.
            raise Conflict(
                code="order_open",
                message=_("This order still waits for its money. Cancel it before its money goes back."),
            )
        units = _units_of(amount, known)
        if _is_second_click(known, view, units=units, actor=actor, reason=reason):
            raise Conflict(code="already_done", message=_("This is already done."))
        number = Refund.objects.filter(payment=payment).count()
        row = open_refund(
            order_id=order.public_id,
            key=f"hand:{number}",
            reason=Refund.Reason.BY_HAND,
            leg=known.code,
            units=units,
            actor=actor,
            note=reason,
        )
        before = {"order": order.status, "payment": view.status}
        _audit(view, actor, reason, [row] if row is not None else [], before=before)
    return row


def _may_pay(leg: Leg, view: PaymentView) -> bool:
    return leg.code == main_code(view) or (leg.chain_id is None and leg.pays)


def _is_second_click(leg: Leg, view: PaymentView, *, units: int, actor: str, reason: str) -> bool:
    """The same person, sum and words within two minutes."""
    since = clock.now() - SECOND_CLICK
    rows = Refund.objects.filter(payment=view.payment, reason=Refund.Reason.BY_HAND, opened_at__gt=since)
    same = rows.filter(units=units, opened_by=actor, note=reason)
    return any(leg.carries(row) for row in same)


def _wrong_legs_back(order: Order, view: PaymentView, kind: str, *, actor: str, note: str) -> list[Refund]:
    legs = legs_of(view)
    opened = []
    for leg in legs:
        if not goes_back(order, leg, view, kind):
            continue
        taken = sum(row.units for row in Refund.objects.filter(payment=view.payment) if leg.carries(row))
        row = open_locked(
            order,
            view,
            leg,
            key=f"wrong:{leg.code}:{taken}"[:80],
            reason=_REASONS[kind],
            actor=actor,
            note=note,
        )
        opened += [row] if row is not None else []
    return opened


def goes_back(order: Order, leg: Leg, view: PaymentView, kind: str) -> bool:
    """Whether a refund of this kind takes this leg: one that is meant, but none that another answer took as payment
    while the order lives by it."""
    return is_meant(leg, view, kind) and (order.status in OVER or leg.code not in _pays(view, legs_of(view)))


def is_meant(leg: Leg, view: PaymentView, kind: str) -> bool:
    """Whether a question of this kind is about this leg: a charge that differs, another asset, another network."""
    if kind == "card_mismatch":
        return leg.rail == Rail.BANK_CARD and not leg.pays
    if leg.code == main_code(view) or leg.chain_id is None:
        return False
    is_here = leg.chain_id == view.payment.chain_id
    return is_here == (kind == "payment_wrong_asset")


def _excess_back(order: Order, view: PaymentView, *, actor: str, note: str) -> list[Refund]:
    if PaymentFlag.SCREENING in view.flags or view.status != PaymentStatus.SETTLED:
        raise Conflict(
            code="not_settled", message=_("The payment is not final: what is over is not known yet.")
        )
    legs = legs_of(view)
    refunds = list(Refund.objects.filter(payment=view.payment))
    pays = {
        part.leg.code: part.units for part in counted_parts(view, legs, acceptance_of(view.payment), refunds)
    }
    opened = []
    for leg in legs:
        over = excess_on(leg, pays.get(leg.code, 0), refunds)
        if over <= 0:
            continue
        taken = sum(row.units for row in refunds if leg.carries(row))
        row = open_locked(
            order,
            view,
            leg,
            key=f"excess:{leg.code}:{taken}"[:80],
            reason=Refund.Reason.EXCESS,
            units=over,
            actor=actor,
            note=note,
        )
        opened += [row] if row is not None else []
    return opened


def _pays(view: PaymentView, legs: list[Leg]) -> dict[str, int]:
    """Leg -> base units of it that pay for the order."""
    if view.status != PaymentStatus.SETTLED:
        return {}
    refunds = list(Refund.objects.filter(payment=view.payment))
    parts = counted_parts(view, legs, acceptance_of(view.payment), refunds)
    return {part.leg.code: part.units for part in parts}


def _units_of(text: str, leg: Leg) -> int:
    """Exact base units of a typed amount; Invalid where it has more places than the asset."""
    try:
        amount = Decimal(text.strip())
    except InvalidOperation:
        amount = Decimal("NaN")
    if not amount.is_finite() or amount <= 0 or amount >= Decimal(10) ** 40:
        raise Invalid(code="invalid_amount", message=_("Enter an amount such as 4.50."), field="amount")
    units = int(amount.scaleb(leg.decimals).to_integral_value())
    if units_to_amount(units, leg.decimals) != amount:
        raise Invalid(
            code="invalid_amount",
            message=_("This asset has %(places)s decimal places at most."),
            field="amount",
            params={"places": leg.decimals},
        )
    return units


def _audit(
    view: PaymentView, actor: str, reason: str, opened: list[Refund], *, before: dict[str, str]
) -> None:
    audit.record(
        actor=actor,
        action="payment.refund",
        subject=f"payment:{view.payment_id}",
        reason=reason,
        before=before,
        after={
            "refunds": [row.pk for row in opened],
            "amounts": [f"{amount_of(row):f} {row.asset}" for row in opened],
        },
    )
