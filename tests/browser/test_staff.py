"""Staff and partners in a real browser: the admin and the API viewer work under their content policies."""

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page

from core import decisions
from core.models import Decision
from tests import scenario

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def log_in(page: Page) -> None:
    User.objects.create_superuser("staff", password="a long password")
    page.goto("/admin/")
    page.fill("input[name=username]", "staff")
    page.fill("input[name=password]", "a long password")
    page.click("#login-form button")
    page.wait_for_url("**/admin/")


def test_staff_close_a_decision_with_a_reason(page: Page, page_errors: list[str]) -> None:
    row = decisions.open_decision(kind="refund_due", subject="order:1", facts={"why": "cancelled"})
    log_in(page)
    page.goto(f"/admin/core/decision/{row.pk}/change/")
    page.click("text=Close with a note")
    page.fill("textarea[name=reason]", "Sent by hand.")
    page.click("main button[type=submit], #content button[type=submit]")
    page.wait_for_url("**/change/")
    assert "Done: Close with a note." in page.content()
    assert Decision.objects.get(pk=row.pk).closed_by == "staff"
    assert page_errors == []


def test_lists_and_rows_raise_no_error_in_the_browser(page: Page, page_errors: list[str]) -> None:
    scenario.open_shop()
    order = scenario.order()
    scenario.pay(order)
    log_in(page)
    for path in (
        "orders/order/",
        f"orders/order/{order.pk}/change/",
        "billing/paymentrequest/",
        f"billing/paymentrequest/{order.payment.pk}/change/",
        "fleet/lease/",
        "catalog/option/add/",
    ):
        answer = page.goto(f"/admin/{path}")
        assert answer is not None
        assert answer.status == 200, path
    assert page_errors == []


def test_the_api_viewer_draws_the_calls(page: Page, page_errors: list[str]) -> None:
    page.goto("/api/docs/")
    page.wait_for_selector("#swagger-ui .opblock")
    page.click("text=All accelerators, small memory first")
    page.wait_for_selector("#swagger-ui .opblock-body >> text=next_cursor")
    assert page_errors == []
