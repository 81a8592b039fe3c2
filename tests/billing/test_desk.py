"""Staff and money at the admin: the hash is asked for, the buttons ask first, figures are never edited."""

from typing import Any

import pytest
from django.db import transaction

from billing.models import Credit, LedgerEntry, LedgerTransaction, PaymentRequest, Refund
from billing.services.refund_destination import confirm_destination
from core import outbox
from core.models import AuditEntry
from orders.models import Order
from orders.services.cancel import cancel
from tests import scenario
from tests.billing import money
from tests.core.desk import address, said, staff

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("shop")]
HASH = "0x" + "cd" * 32


def test_a_refund_is_sent_from_its_decision(order: Order) -> None:
    scenario.pay(order)
    with transaction.atomic():
        cancel(order_id=order.public_id, actor="buyer")
    outbox.drain()
    row = Refund.objects.get()
    confirm_destination(order_id=order.public_id, refund_id=row.pk, destination=money.DESTINATION)
    decision = money.open_decision(order, "refund_due")
    client = staff("anna", "core.view_decision", "billing.change_refund")
    page = client.get(address(decision, "do", "sent")).content.decode()
    assert "Transaction hash" in page
    wrong = client.post(address(decision, "do", "sent"), {"reason": "sent", "transaction_hash": "0x1"})
    assert "0x and 64 characters" in wrong.content.decode()
    done = client.post(address(decision, "do", "sent"), {"reason": "sent", "transaction_hash": HASH})
    assert done.status_code == 302
    row.refresh_from_db()
    assert (row.status, row.tx_hash, row.sent_by) == ("sent", HASH, "anna")
    again = client.post(address(decision, "do", "sent"), {"reason": "sent", "transaction_hash": HASH})
    assert said(again)[-1] == "This is already done."
    assert AuditEntry.objects.filter(action="refund.sent", actor="anna").count() == 1


def test_an_amount_goes_back_from_the_payments_page(order: Order) -> None:
    scenario.pay(order)
    payment: Any = PaymentRequest.objects.get()
    client = staff("anna", "billing.view_paymentrequest", "billing.add_refund")
    refused = client.post(address(payment, "do", "refund"), {"reason": "x", "amount": "99999", "leg": ""})
    assert "At most 934.56 USDC" in refused.content.decode()
    done = client.post(address(payment, "do", "refund"), {"reason": "kind", "amount": "1.50", "leg": ""})
    assert done.status_code == 302
    assert money.refunds(order) == [("by_hand", 1_500_000, "address_needed")]
    without = staff("bert", "billing.view_paymentrequest")
    assert without.get(address(payment, "do", "refund")).status_code == 403


def test_figures_are_shown_and_never_edited(order: Order) -> None:
    scenario.pay(order)
    client = staff("root", superuser=True)
    for row in (LedgerTransaction.objects.all()[0], LedgerEntry.objects.all()[0]):
        shown = client.get(address(row))
        assert shown.status_code == 200
        assert 'name="_save"' not in shown.content.decode()
        assert client.post(address(row), {"units": "1"}).status_code == 403
    for model in (Refund, Credit):
        opts = model._meta
        listed = client.get(f"/admin/{opts.app_label}/{opts.model_name}/")
        assert listed.status_code == 200
