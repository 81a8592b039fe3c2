"""Money of a cancelled order goes back: until refunds are movements of their own, staff decide and send."""

from billing import locks
from core import decisions
from core.money import units_to_amount


def after_cancel(*, order_id: str) -> None:
    """Open a refund decision where money arrived for an order that was cancelled. Locks the order. Repeatable."""
    found = locks.payment_for_update(order_id)
    if found is None:
        return
    order, view = found
    if view.received_units == 0:
        return
    decisions.open_decision(
        kind="refund_due",
        subject=f"order:{order.pk}",
        order_ref=order.public_id,
        facts={
            "why": "cancelled",
            "asset": view.payment.asset,
            "network": view.payment.network,
            "received": f"{units_to_amount(view.received_units, view.payment.crypto.decimals):f}",
        },
    )
