"""A partner makes the lease of one of his orders longer."""

from django.db import transaction

from billing.services.checkout import PaymentChoice
from billing.services.extend import ExtendRequest, extend
from orders.models import Order
from partners.limits import limits_of
from partners.models import PartnerOrder


def extend_order(*, owned: PartnerOrder, days: int, pay_with: PaymentChoice) -> tuple[Order, bool]:
    """The order of the extension; True where this call made it. Locks and raises what billing's extension does.

    A repeat for the same days lands on the extension that waits for its payment, whoever placed it.
    """
    partner = owned.partner
    with transaction.atomic():
        order = extend(
            ExtendRequest(
                order_id=owned.order.public_id,
                days=days,
                pay_with=pay_with,
                prefix="",
                limits=limits_of(partner),
            )
        )
        _owned, is_new = PartnerOrder.objects.get_or_create(order=order, defaults={"partner": partner})
    return order, is_new


def adopt_extension(order_id: str) -> bool:
    """An extension that the customer placed on the page of his order belongs to the partner of the first order too.
    True where this call said so. One query for every other order; safe to repeat."""
    first = (
        PartnerOrder.objects.filter(order__extensions__public_id=order_id)
        .values_list("partner_id", flat=True)
        .first()
    )
    if first is None:
        return False
    order = Order.objects.only("pk").get(public_id=order_id)
    _owned, is_new = PartnerOrder.objects.get_or_create(order=order, defaults={"partner_id": first})
    return is_new
