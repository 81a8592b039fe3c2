"""The order form sent many times at once (S49): one order, and every click lands on it."""

from concurrent.futures import ThreadPoolExecutor
from http.cookies import SimpleCookie

import pytest
from django.db import connection
from django.test import Client

from billing.models import PaymentRequest
from core import outbox
from core.models import OutgoingMail
from fleet.models import Hold, Reservation
from orders.models import Order
from tests import scenario
from tests.shop.conftest import configure, order_form

pytestmark = pytest.mark.django_db(transaction=True)

CLICKS = 8


def test_eight_clicks_at_once_are_one_order() -> None:
    scenario.open_shop()
    buyer = Client()
    target = f"{buyer.post('/en/catalog/b200-180/', configure())['Location']}order/"
    values = order_form()
    cookies = buyer.cookies.output(header="")

    def click(_number: int) -> tuple[int, str]:
        try:
            window = Client()
            window.cookies = SimpleCookie(cookies)
            answer = window.post(target, values)
            return answer.status_code, answer.get("Location", "")
        finally:
            connection.close()

    with ThreadPoolExecutor(CLICKS) as threads:
        answers = list(threads.map(click, range(CLICKS)))
    order = Order.objects.get()
    assert answers == [(303, f"/en/orders/{order.token}/")] * CLICKS
    outbox.drain()
    assert Hold.objects.count() == PaymentRequest.objects.count() == OutgoingMail.objects.count() == 1
    assert Reservation.objects.count() == 2


def test_as_many_strangers_with_one_quote_get_one_order_and_no_look_at_it() -> None:
    """The control: without the common cookie nobody but the first reaches the order."""
    scenario.open_shop()
    quote = scenario.quote()

    def click(_number: int) -> tuple[int, str]:
        try:
            answer = Client().post(f"/en/quotes/{quote.public_id}/order/", order_form())
            return answer.status_code, answer.get("Location", "")
        finally:
            connection.close()

    with ThreadPoolExecutor(CLICKS) as threads:
        answers = list(threads.map(click, range(CLICKS)))
    assert sorted(code for code, _place in answers) == [303] + [409] * (CLICKS - 1)
    assert Order.objects.count() == 1
