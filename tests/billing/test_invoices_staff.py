"""Staff look at documents and cancel an invoice; nothing is edited."""

import pytest

from billing.models import Invoice
from billing.services.render_invoice import render_due
from core.models import AuditEntry
from tests.billing.invoicing import document, paid
from tests.core.desk import address, said, staff

pytestmark = pytest.mark.usefixtures("shop")
MAY = ("billing.view_invoice", "billing.change_invoice")


def test_a_button_cancels_and_issues_anew_and_empty_keeps_what_is_there() -> None:
    order = paid(company="Wrong GmbH")
    invoice = document(order)
    client = staff("ida", *MAY)
    page = client.get(address(invoice)).content.decode()
    assert "Cancel and issue anew" in page
    assert invoice.token not in page
    typed = {"name": "", "company": "Right GmbH", "address": "Ring 1\r\nBerlin", "reason": "wrong company"}
    answer = client.post(address(invoice, "do", "cancel"), typed)
    new = document(order)
    assert answer.status_code in (200, 302, 303)
    assert (new.data["buyer"]["name"], new.data["buyer"]["company"]) == ("Ada", "Right GmbH")
    assert new.data["buyer"]["address"] == "Ring 1\nBerlin"
    assert AuditEntry.objects.get(action="invoice.cancel").actor == "ida"
    assert "Cancel and issue anew" not in client.get(address(invoice)).content.decode()


def test_a_second_click_and_no_permission_change_nothing() -> None:
    invoice = document(paid())
    typed = {"company": "Right GmbH", "reason": "wrong company"}
    assert (
        staff("eve", "billing.view_invoice").post(address(invoice, "do", "cancel"), typed).status_code == 403
    )
    client = staff("ida", *MAY)
    client.post(address(invoice, "do", "cancel"), typed)
    again = client.post(address(invoice, "do", "cancel"), typed | {"company": "Third GmbH"})
    assert "This is already done." in " ".join(said(again)) + again.content.decode()
    assert Invoice.objects.filter(kind="cancellation").count() == 1


def test_the_list_shows_documents_and_nothing_can_be_typed() -> None:
    invoice = document(paid())
    render_due()
    client = staff("ida", *MAY)
    page = client.get("/admin/billing/invoice/").content.decode()
    assert str(invoice) in page
    assert client.get("/admin/billing/invoice/add/").status_code == 403
    assert 'name="data"' not in client.get(address(invoice)).content.decode()
