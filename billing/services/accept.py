"""Take what has arrived as payment in full: staff do it for a sum that differs, the buyer for late money and a lot."""

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from billing import locks
from billing.chain_facts import counted_transfers
from billing.legs import left_on, legs_of, main_code
from billing.lifecycle import PaymentStatus
from billing.models import Acceptance, PaymentView, Rail, Refund
from billing.services import screen
from billing.services.recompute import recompute
from core import audit, clock, decisions
from core.errors import Conflict, NotFound
from core.models import Decision
from orders.lifecycle import OrderStatus
from orders.models import Order

# Orders that can still become paid.
ACCEPTABLE = frozenset({OrderStatus.AWAITING_PAYMENT, OrderStatus.EXPIRED})


def accept_as_full(*, decision: Decision, actor: str, reason: str) -> None:
    """Staff: what arrived pays the order, whatever it differs in. The order goes on by its events.

    Locks the order, the view of its payment, the decision. Raises NotFound, Conflict(already_done) for the second
    click, Conflict(order_over), Conflict(nothing_arrived), Conflict(screening_hold).
    """
    with transaction.atomic():
        order, view = locked_order(decision)
        decisions.close_decision(decision_id=decision.pk, actor=actor, reason=reason, action="accept")
        before = {"status": view.status, "flags": list(view.flags), "order": order.status}
        found = accept_locked(order, view, actor=actor, reason=reason)
        audit.record(
            actor=actor,
            action="payment.accept",
            subject=f"payment:{view.payment_id}",
            reason=reason,
            before=before,
            after={"status": found.status, "flags": list(found.flags)},
        )


def accept_locked(order: Order, view: PaymentView, *, actor: str, reason: str) -> PaymentView:
    """The same for an order and a view that the caller has locked: one Acceptance, then the recompute."""
    if order.status not in ACCEPTABLE or view.status == PaymentStatus.SETTLED:
        raise Conflict(code="order_over", message=_("This order does not wait for money any more."))
    taken = _what_is_there(view)
    if not taken:
        raise Conflict(code="nothing_arrived", message=_("Nothing final has arrived that could be accepted."))
    payment = view.payment
    if payment.takes_crypto and screen.holds_back(payment, counted_transfers(payment)):
        raise Conflict(
            code="screening_hold",
            message=_("The sender of this money is on a list. Decide about that first."),
        )
    Acceptance.objects.create(
        payment=payment,
        actor=actor,
        reason=reason,
        facts={
            "legs": {code: str(units) for code, units in taken.items()},
            "status": view.status,
            "flags": list(view.flags),
            "asked": f"{payment.amount:f}",
            "currency": payment.currency,
        },
        at=clock.now(),
    )
    found = recompute(order_id=order.public_id)
    return found or view


def locked_order(decision: Decision) -> tuple[Order, PaymentView]:
    """The order that a decision is about and the view of its payment, locked. Raises NotFound."""
    found = locks.payment_for_update(decision.order_ref)
    if found is None:
        raise NotFound(code="not_found", message=_("There is no payment for this decision."))
    return found


def _what_is_there(view: PaymentView) -> dict[str, int]:
    """Leg name -> units that can be taken: of the asked asset no more than was asked, the rest is excess; of
    another one all of it, and only where the asked one is short."""
    refunds = list(Refund.objects.filter(payment=view.payment))
    legs = legs_of(view)
    main = main_code(view)
    taken: dict[str, int] = {}
    covered = False
    for leg in legs:
        left = left_on(leg, refunds)
        if left <= 0 or covered:
            continue
        if leg.code == main:
            due = view.payment.crypto.due_units
            taken[leg.code] = min(left, due)
            covered = left >= due
        elif leg.rail == Rail.CRYPTO or leg.pays or len(legs) == 1:
            taken[leg.code] = left
    return taken
