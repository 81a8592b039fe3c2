"""The checkout of an extension: one transaction that places it, holds its time and opens its payment."""

from dataclasses import dataclass

from django.db import transaction

from billing.services.checkout import PaymentChoice, hold_for, open_payment
from core import outbox
from fleet.limits import HoldLimits
from orders.models import Order
from orders.services import extend as orders


@dataclass(frozen=True)
class ExtendRequest:
    """Which order goes on for how many days, paid how. `prefix` is the network of the caller, whose order it is."""

    order_id: str
    days: int
    pay_with: PaymentChoice
    prefix: str
    limits: HoldLimits


def extend(request: ExtendRequest) -> Order:
    """Place, hold and open the payment, or nothing at all.

    Locks what orders.services.extend locks, last one pooled address (SKIP LOCKED). Raises what that raises,
    Invalid(unknown_rail), Refusal(card_amount), Unavailable(payment_unavailable). A repeat for the same days lands on
    the extension that waits for its payment; for other days it raises ExtensionOpen with that order.
    """
    with transaction.atomic():
        order, is_new = orders.extend(
            orders.ExtendOrder(
                order_id=request.order_id, days=request.days, prefix=request.prefix, limits=request.limits
            ),
            hold_for=hold_for(request.pay_with),
        )
        if is_new:
            open_payment(order, request.pay_with)
    outbox.hint("billing.fill_pool")
    return order
