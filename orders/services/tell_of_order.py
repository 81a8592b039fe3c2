"""The first mail of an order: written after the checkout, which keeps nobody waiting for words."""

from core.models import Event
from orders.lifecycle import OrderStatus
from orders.models import Order
from orders.services import notify, notify_extension


def placed(event: Event) -> None:
    """The cards are held; where and until when to pay. Safe to repeat: a mail has a key.

    Nothing where the order has moved on in the meantime: a later mail tells where it stands, and names its page too.
    """
    order = Order.objects.select_related("quote", "extends").get(public_id=event.order_ref)
    if order.status != OrderStatus.AWAITING_PAYMENT:
        return
    if order.extends is None:
        notify.placed(order)
    else:
        notify_extension.placed(order)
