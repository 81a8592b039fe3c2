"""Paid orders, refunds and documents for the tests of invoices."""

import uuid
from decimal import Decimal
from typing import Any

from django.db import transaction

from billing.models import Invoice, PaymentRequest, Refund
from billing.services.issue_invoice import issue_for_paid
from core import clock
from orders.contact import clean_contact
from orders.models import Order
from tests import scenario

NASTY = 'Acme *x* _y_ $z$ #eval("1+1") `c` <a> @b \\ = ~ "q" \'s\' // /* [h] {k} ООО «Ёж»'


def paid(*, language: str = "en", name: str = "Ada", company: str = "", **asked: Any) -> Order:
    """A paid order whose documents are issued."""
    contact = clean_contact(name=name, email="ada@example.com", company=company, language=language)
    order = scenario.order(scenario.quote(**asked), contact=contact)
    scenario.pay(order)
    with transaction.atomic():
        issue_for_paid(order.public_id)
    order.refresh_from_db()
    return order


def document(order: Order, kind: str = "invoice") -> Invoice:
    """The newest document of a kind."""
    return Invoice.objects.filter(order=order, kind=kind).latest("id")


def refund(order: Order, amount: str, *, reason: str = "cancelled", **changes: Any) -> Refund:
    """A refund of part of the payment, in the asset that was asked for."""
    payment: PaymentRequest = order.payment
    values: dict[str, Any] = {
        "order": order,
        "payment": payment,
        "key": uuid.uuid4().hex,
        "reason": reason,
        "rail": payment.rail,
        "network": payment.network,
        "chain_id": payment.chain_id,
        "asset": payment.asset,
        "asset_contract": payment.asset_contract,
        "decimals": payment.crypto.decimals,
        "units": int(Decimal(amount) * 10**payment.crypto.decimals),
        "status": "verified",
        "destination": "0x" + "22" * 20,
        "opened_at": clock.now(),
        "opened_by": "system",
        "next_at": clock.system_now(),
    } | changes
    return Refund.objects.create(**values)
