"""What could still go back of an order's money, on each way that it came: shown before anybody decides. Reads only."""

from dataclasses import dataclass
from decimal import Decimal

from billing.counted import acceptance_of, counted_parts, excess_on
from billing.legs import Leg, left_on, legs_of
from billing.models import PaymentView, Refund
from core.formats import token_plain
from core.money import units_to_amount


@dataclass(frozen=True)
class Left:
    """`amount` of the leg has arrived for good and was not given back; `over` of it pays for nothing."""

    leg: Leg
    amount: Decimal
    over: Decimal

    @property
    def code(self) -> str:
        return self.leg.code

    @property
    def text(self) -> str:
        """The amount as it is copied, with its asset."""
        return f"{token_plain(self.amount)} {self.leg.asset}"


def view_of(order_id: str) -> PaymentView | None:
    """The payment of an order with what its page shows, or None."""
    return (
        PaymentView.objects.select_related("payment__address", "payment__order")
        .filter(payment__order__public_id=order_id)
        .first()
    )


def money_left(order_id: str) -> list[Left]:
    """Each way on which something is left; empty where nothing came or all went back. Five queries at most."""
    view = view_of(order_id)
    if view is None:
        return []
    legs, refunds = legs_of(view), list(Refund.objects.filter(payment=view.payment))
    parts = counted_parts(view, legs, acceptance_of(view.payment), refunds)
    pays = {part.leg.code: part.units for part in parts}
    return [
        Left(
            leg=leg,
            amount=units_to_amount(left_on(leg, refunds), leg.decimals),
            over=units_to_amount(max(excess_on(leg, pays.get(leg.code, 0), refunds), 0), leg.decimals),
        )
        for leg in legs
        if left_on(leg, refunds) > 0
    ]
