"""Many orders of a partner as rows, where a test is about lists and not about how an order comes to be."""

from datetime import timedelta
from decimal import Decimal

from catalog.models import Image, Lot
from core import clock
from orders.models import Order, Quote
from partners.models import Partner, PartnerOrder


def make_orders(partner: Partner | None, count: int) -> list[Order]:
    """Orders that were all placed at the same moment; without a partner they are somebody else's."""
    moment = clock.now()
    lot, image = Lot.objects.get(code="b200-180x2"), Image.objects.get(code="pt-cu128")
    quotes = Quote.objects.bulk_create(
        Quote(
            lot=lot,
            lots=1,
            days=3,
            image=image,
            bill_to={"country": "DE", "kind": "consumer", "vat_id": None},
            lines=[],
            subtotal=Decimal("10.00"),
            tax=Decimal("0.00"),
            total=Decimal("10.00"),
            currency="USD",
            price_version=1,
            created_at=moment,
            expires_at=moment + timedelta(minutes=30),
            status="accepted",
            document="{}",
            signature="",
            key_id="",
        )
        for _number in range(count)
    )
    orders = Order.objects.bulk_create(
        Order(
            quote=quote,
            owner=partner.owner if partner is not None else "web:somebody",
            contact_name="Ada",
            contact_email="ada@example.com",
            contact_language="en",
            mail_to="ada@example.com",
            mail_language="en",
            ssh_keys=[],
            terms_version="1",
            terms_accepted_at=moment,
            placed_at=moment,
            hold_expires_at=moment,
        )
        for quote in quotes
    )
    if partner is not None:
        PartnerOrder.objects.bulk_create(PartnerOrder(order=order, partner=partner) for order in orders)
    return orders
