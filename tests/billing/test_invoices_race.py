"""Many documents at once: no number twice, none missing, and the lock is what does it."""

from threading import Barrier
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from billing import locks
from billing.models import Invoice, InvoiceSeries
from billing.services.cancel_invoice import cancel_invoice, clean_buyer
from billing.services.issue_invoice import issue_for_paid
from core.errors import Conflict
from orders.models import Order
from tests import scenario
from tests.billing.invoicing import document, paid
from tests.races import at_once

pytestmark = pytest.mark.django_db(transaction=True)

BUYERS = 8


@pytest.fixture(autouse=True)
def shop(transactional_db: None) -> None:
    scenario.open_shop(b200_nodes=3)


def paid_orders(count: int) -> list[Order]:
    """Paid, without documents: those would come by the event of the payment."""
    orders = [scenario.order() for _ in range(count)]
    for order in orders:
        Order.objects.filter(pk=order.pk).update(paid_at=order.placed_at)
    return orders


def issue(order: Order, *, fails: bool = False) -> list[Invoice]:
    with transaction.atomic():
        issued = issue_for_paid(order.public_id)
        if fails:
            raise TimeoutError
    return issued


def given(kind: str) -> list[int]:
    return sorted(Invoice.objects.filter(kind=kind).values_list("number", flat=True))


def test_parallel_issues_and_rollbacks_leave_no_gap() -> None:
    orders = paid_orders(BUYERS)
    results = at_once(BUYERS, lambda number: issue(orders[number], fails=number % 2 == 1))
    failed = [result for result in results if isinstance(result, BaseException)]
    assert [type(error) for error in failed] == [TimeoutError] * (BUYERS // 2)
    assert given("invoice") == given("receipt") == list(range(1, BUYERS // 2 + 1))
    for order in orders:
        issue(order)
    assert given("invoice") == given("receipt") == list(range(1, BUYERS + 1))


def test_one_order_issued_by_many_has_one_invoice() -> None:
    (order,) = paid_orders(1)
    results = at_once(6, lambda _number: issue(order))
    assert {tuple(row.pk for row in result) for result in results} == {
        tuple(Invoice.objects.order_by("id").values_list("pk", flat=True))
    }
    assert (given("invoice"), given("receipt")) == ([1], [1])


def test_control_without_the_lock_on_the_series_a_number_is_given_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    orders = paid_orders(2)
    barrier = Barrier(2)

    def unlocked(name: str) -> InvoiceSeries:
        series, _ = InvoiceSeries.objects.get_or_create(name=name)
        if name.startswith("INV"):
            barrier.wait(timeout=30)
        return series

    # Both rows are there before: the race is about the number.
    issue(paid_orders(1)[0])
    monkeypatch.setattr(locks, "invoice_series_for_update", unlocked)
    results = at_once(2, lambda number: issue(orders[number]))
    assert sorted(type(result).__name__ for result in results) == ["IntegrityError", "list"]
    assert any(isinstance(result, IntegrityError) for result in results)


def test_two_staff_cancel_one_invoice_once() -> None:
    invoice = document(paid())

    def cancel(number: int) -> Any:
        buyer = clean_buyer(name="Ada", company=f"Company {number}", address="")
        return cancel_invoice(invoice_id=invoice.pk, buyer=buyer, actor="staff", reason="wrong")

    results = at_once(2, cancel)
    assert sorted(type(result).__name__ for result in results) == ["Conflict", "Invoice"]
    assert [result.code for result in results if isinstance(result, Conflict)] == ["already_done"]
    assert given("cancellation") == [1]
