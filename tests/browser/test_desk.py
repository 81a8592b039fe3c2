"""The desk in a real browser: every page accessible, whole and without an error under the strict policy."""

import pytest
from django.conf import settings
from playwright.sync_api import Page

from core.models import Decision
from fleet.models import Lease
from orders.models import Order
from tests import scenario
from tests.browser.looking import NARROW, WIDE, broken_rules, overflow, set_width, too_wide
from tests.browser.test_staff import log_in
from tests.desk.every_kind import open_one

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PAGES = {
    "decisions": "",
    "fleet": "desk/fleet/",
    "prices": "desk/prices/",
    "preview": "desk/prices/preview/",
    "import": "desk/prices/import/",
    "exports": "desk/exports/",
    "a buyer's data": "desk/person/",
    "search": "desk/search/?q=ada@example.com",
    "nothing found": "desk/search/?q=nobody",
    "signed in": "desk/security/",
}


def test_every_page_is_accessible_and_whole(page: Page, page_errors: list[str]) -> None:
    scenario.open_shop()
    order = scenario.order()
    scenario.pay(order)
    # The widest that an id can be.
    widest = f"ord_{'W' * 26}"
    Order.objects.update(public_id=widest)
    Lease.objects.update(order_ref=widest)
    order.refresh_from_db()
    lease = Lease.objects.get()
    for kind in settings.DECISION_KINDS:
        open_one(kind, order, lease)
    log_in(page)
    partial = Decision.objects.get(kind="payment_partial")
    pages = {**PAGES, "an action": f"desk/decisions/{partial.pk}/refund/"}
    wrong: list[str] = []
    for name, path in pages.items():
        set_width(page, WIDE)
        answer = page.goto(f"/admin/{path}")
        assert answer is not None
        assert answer.status == 200, name
        wrong += [f"{name}: {text}" for text in (*broken_rules(page), *too_wide(page), *page_errors)]
        page_errors.clear()
    page.evaluate("document.cookie = 'language=ru; path=/'")
    page.emulate_media(color_scheme="dark")
    set_width(page, NARROW)
    for name, path in pages.items():
        page.goto(f"/admin/{path}")
        wrong += [f"{name} in Russian: {text}" for text in broken_rules(page)]
        wrong += [f"{name} in Russian: {overflow(page)} px too wide"] if overflow(page) > 0 else []
    assert wrong == [], "\n".join(wrong)
