"""Documents: issued once, numbered without gaps, frozen, cancelled and issued anew, corrected by credit notes."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import DatabaseError, transaction
from pytest_django import Settings

from billing.invoice_data import payment_of
from billing.models import Invoice, InvoiceSeries, PaymentRequest, PaymentView
from billing.services.cancel_invoice import cancel_invoice, clean_buyer
from billing.services.issue_invoice import issue_credit_note, issue_for_paid
from billing.services.issue_missing import issue_missing
from catalog.tax import bill_to
from core import clock
from core.errors import Conflict, Invalid, NotFound
from core.models import AuditEntry, Decision
from orders.models import Order
from tests import scenario
from tests.billing.invoicing import document, paid, refund

pytestmark = pytest.mark.usefixtures("shop")


def numbers(kind: str) -> list[str]:
    return [str(row) for row in Invoice.objects.filter(kind=kind).order_by("id")]


def again(invoice: Invoice, company: str = "Right GmbH", **changes: Any) -> Invoice:
    values: dict[str, Any] = {"invoice_id": invoice.pk, "actor": "staff", "reason": "wrong name"} | changes
    return cancel_invoice(buyer=clean_buyer(name="Ada", company=company, address="Ring 1\nBerlin"), **values)


def credit(order: Order, amount: str, **changes: Any) -> Invoice | None:
    with transaction.atomic():
        return issue_credit_note(refund(order, amount, **changes))


def test_a_card_payment_in_a_currency_without_decimals_is_told_as_it_was_made() -> None:
    order = paid()
    PaymentRequest.objects.update(currency="JPY", amount=Decimal(935))
    PaymentView.objects.update(card_minor=935)
    told = payment_of(Order.objects.get(pk=order.pk))
    assert told is not None
    assert (told["rail"], told["asset"], told["amount"]) == ("bank_card", "JPY", "935")


def test_a_paid_order_has_an_invoice_and_a_receipt_once() -> None:
    order = paid()
    year = clock.now().year
    with transaction.atomic():
        issued = issue_for_paid(order.public_id)
    assert [(str(row), row.kind) for row in issued] == [
        (f"INV-{year}-000001", "invoice"),
        (f"RCP-{year}-000001", "receipt"),
    ]
    assert Invoice.objects.count() == 2


def test_an_order_that_is_not_paid_has_none() -> None:
    order = scenario.order()
    with transaction.atomic():
        assert issue_for_paid(order.public_id) == []
        assert issue_for_paid("ord_unknown") == []


def test_what_the_invoice_says_is_what_was_quoted_and_paid() -> None:
    order = paid(company="Acme", options=[("nvme-extra", 2)])
    data = document(order).data
    quote = order.quote
    assert [line["amount"] for line in data["lines"]] == [
        line["amount"] for line in quote.lines if line["kind"] != "tax"
    ]
    assert sum(Decimal(line["amount"]) for line in data["lines"]) == quote.subtotal
    assert (data["total"], data["currency"]) == (f"{quote.total:.2f}", "USD")
    assert data["lines"][0]["label"] == "NVIDIA B200, lot of 2 cards"
    assert data["order"]["id"] == order.public_id
    assert data["buyer"]["company"] == "Acme"
    assert data["seller"]["sample"]
    assert data["simulated"]
    assert data["payment"]["network"] == "Anchor test chain"
    assert data["payment"]["transactions"] == [order.payment.transfers.get().tx_hash]
    assert Decimal(data["payment"]["amount"]) == order.payment.amount


def test_an_extension_is_an_order_and_its_invoice_names_the_old_one() -> None:
    first, second = paid(), paid()
    Order.objects.filter(pk=second.pk).update(extends=first)
    third = scenario.order()
    Order.objects.filter(pk=third.pk).update(extends=first)
    third.refresh_from_db()
    scenario.pay(third)
    with transaction.atomic():
        issue_for_paid(third.public_id)
    assert document(third).data["order"]["extends"] == first.public_id


def test_words_of_the_lines_are_in_the_buyers_language() -> None:
    lines = document(paid(language="ru", days=7)).data["lines"]
    assert lines[0]["label"] == "NVIDIA B200, лот из 2 карт"
    assert lines[0]["detail"] == "2 карты × 168 ч × 6,49 USD, скидка за срок 7\u00a0%"
    assert lines[0]["quantity"] == "1 лот"


def test_an_issued_document_is_never_changed_or_removed() -> None:
    invoice = document(paid())
    changes: list[dict[str, Any]] = [
        {"data": {}},
        {"number": 7},
        {"issued_at": clock.now()},
        {"language": "de"},
    ]
    for change in changes:
        with pytest.raises(DatabaseError, match="never changed"), transaction.atomic():
            Invoice.objects.filter(pk=invoice.pk).update(**change)
    with pytest.raises(DatabaseError, match="never changed"), transaction.atomic():
        Invoice.objects.filter(pk=invoice.pk).delete()


def test_a_rollback_leaves_no_gap() -> None:
    first = document(paid())

    def fail_after_both_numbers() -> None:
        again(first)
        raise RuntimeError

    with pytest.raises(RuntimeError), transaction.atomic():
        fail_after_both_numbers()
    assert numbers("cancellation") == []
    paid()
    again(first)
    for kind in ("invoice", "receipt", "cancellation"):
        given = list(Invoice.objects.filter(kind=kind).order_by("id").values_list("number", flat=True))
        assert given == list(range(1, len(given) + 1))
    assert len(numbers("invoice")) == 3


def test_each_year_has_a_series_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    invoice = document(paid())
    later = clock.now() + timedelta(days=400)
    monkeypatch.setattr("billing.services.issue_invoice.clock.now", lambda: later)
    new = again(invoice)
    assert (new.series, new.number) == (f"INV-{later.year}", 1)
    assert InvoiceSeries.objects.get(name=new.series).next_number == 2


def test_a_wrong_invoice_is_cancelled_and_issued_anew() -> None:
    order = paid(company="Wrong GmbH")
    old = document(order)
    before = dict(old.data)
    new = again(old)
    cancellation = document(order, "cancellation")
    old.refresh_from_db()
    assert old.data == before
    assert cancellation.cancels == old
    assert Decimal(cancellation.data["total"]) == -Decimal(old.data["total"])
    assert sum(Decimal(line["amount"]) for line in cancellation.data["lines"]) == -order.quote.subtotal
    assert cancellation.data["buyer"]["company"] == "Wrong GmbH"
    assert new.data["buyer"]["company"] == "Right GmbH"
    assert new.data["buyer"]["address"] == "Ring 1\nBerlin"
    assert new.data["refers_to"]["number"] == str(old)
    assert new.data["lines"] == old.data["lines"]
    entry = AuditEntry.objects.get(action="invoice.cancel")
    assert (entry.actor, entry.reason, entry.before["company"]) == ("staff", "wrong name", "Wrong GmbH")


def test_the_second_click_and_what_is_no_invoice_are_refused() -> None:
    order = paid()
    old = document(order)
    again(old)
    with pytest.raises(Conflict) as done:
        again(old, company="Third GmbH")
    assert done.value.code == "already_done"
    with pytest.raises(Invalid) as kind:
        again(document(order, "receipt"))
    assert kind.value.code == "not_an_invoice"
    with pytest.raises(Invalid) as same:
        again(document(order))
    assert same.value.code == "nothing_changes"
    with pytest.raises(NotFound):
        cancel_invoice(
            invoice_id=0, buyer=clean_buyer(name="A", company="", address=""), actor="s", reason=""
        )
    assert len(numbers("cancellation")) == 1


@pytest.mark.parametrize(
    "changes", [{"name": ""}, {"name": "a\x00b"}, {"company": "x" * 201}, {"address": "\ud800"}]
)
def test_corrected_data_pass_the_one_validation(changes: dict[str, str]) -> None:
    with pytest.raises(Invalid) as refused:
        clean_buyer(**({"name": "Ada", "company": "", "address": ""} | changes))
    assert refused.value.field == next(iter(changes))


def test_a_verified_refund_has_a_credit_note_once() -> None:
    order = paid()
    back = refund(order, "100.005")
    with transaction.atomic():
        note, repeat = issue_credit_note(back), issue_credit_note(back)
    assert note is not None
    assert note == repeat
    assert (note.data["total"], note.data["lines"][0]["amount"]) == ("-100.01", "-100.01")
    assert note.data["refers_to"]["number"] == str(document(order))
    assert note.data["lines"][0]["label"] == "Refund: order cancelled"


def test_credit_notes_never_pass_the_invoice() -> None:
    order = paid()
    total = order.quote.total
    first = credit(order, f"{total - 1}")
    rest = credit(order, "5")
    assert first is not None
    assert rest is not None
    assert rest.data["total"] == "-1.00"
    assert credit(order, "5") is None


@pytest.mark.parametrize(
    "reason", ["excess", "partial", "late_money", "wrong_asset", "wrong_network", "paid_twice"]
)
def test_money_that_was_never_invoiced_has_no_credit_note(reason: str) -> None:
    assert credit(paid(), "5", reason=reason) is None


def test_another_asset_and_an_order_without_invoice_have_none() -> None:
    assert credit(paid(), "5", asset_contract="0x" + "33" * 20) is None
    assert credit(scenario.order(), "5") is None


def test_a_credit_note_after_a_new_issue_goes_with_the_invoice_that_stands() -> None:
    order = paid()
    new = again(document(order))
    note = credit(order, "5")
    assert note is not None
    assert note.data["refers_to"]["number"] == str(new)
    assert note.data["buyer"]["company"] == "Right GmbH"


@pytest.mark.parametrize("included", [False, True])
def test_tax_lies_on_the_invoice_and_goes_back_with_the_money(settings: Settings, included: bool) -> None:
    settings.TAX_TABLE = "eu"
    settings.PRICES_INCLUDE_TAX = included
    order = paid(bill_to=bill_to(country="FR"))
    data = document(order).data
    assert data["taxes"] == [
        {
            "country": "FR",
            "rate": "0.20",
            "treatment": "destination",
            "included": included,
            "net": f"{order.quote.subtotal:.2f}",
            "tax": f"{order.quote.tax:.2f}",
        }
    ]
    note = credit(order, "120.00")
    assert note is not None
    parts = (note.data["subtotal"], note.data["tax"], note.data["total"])
    assert parts == ("-100.00", "-20.00", "-120.00")


def test_without_an_imprint_a_true_shop_issues_nothing_until_there_is_one(settings: Settings) -> None:
    settings.DEMO = False
    order = paid()
    assert not Invoice.objects.exists()
    assert Decision.objects.get(kind="seller_missing").closed_at is None
    assert issue_missing() == 0
    settings.IMPRINT = "Anker GmbH\nHafen 1\n20457 Hamburg\n"
    assert issue_missing() == 1
    assert issue_missing() == 0
    seller = document(order).data["seller"]
    assert (seller["name"], seller["lines"]) == ("Anker GmbH", ["Hafen 1", "20457 Hamburg"])
    assert not seller["sample"]
