"""S28 at the pages and in the quote: numbers that no column holds, and no total below zero by any mix."""

import itertools

import pytest
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from catalog.models import Option
from core.errors import Refusal
from orders.models import Order, Quote
from tests import scenario
from tests.shop.conftest import configure, order_form
from tests.shop.test_refusals import errors_of

pytestmark = pytest.mark.django_db

NUMBERS = [str(2**31), str(2**63), str(10**30), "-1", "0"]


def test_s28_the_quote_form_names_the_field(buyer: Client) -> None:
    chosen = {"start": "chosen", "start_date": "2030-01-01", "start_hour": "5"}
    for field, number in itertools.product(("lots", "days", "start_hour", "option_nvme-extra"), NUMBERS):
        if number == "0" and field in ("start_hour", "option_nvme-extra"):
            continue  # midnight is an hour of the day; none of an option is what a buyer means by 0
        values = chosen if field == "start_hour" else {}
        answer = buyer.post("/en/catalog/b200-180/", configure(**values | {field: number}))
        assert answer.status_code == 400, (field, number)
        assert errors_of(answer.content.decode(), field), (field, number)
    assert not Quote.objects.exists()


PAGES = [
    "/en/catalog/{}/",
    "/en/catalog/{}/total/",
    "/en/quotes/{}/",
    "/en/quotes/qt_{}/",
    "/en/quotes/{}/document.json",
    "/en/orders/{}/",
    "/en/orders/{}/live/",
    "/en/orders/{}/problem/",
    "/en/guides/{}/",
    "/en/legal/{}/",
    "/demo/mail/{}/",
]


def test_s28_ids_that_cannot_be_are_not_found(buyer: Client) -> None:
    for target, number in itertools.product(PAGES, NUMBERS):
        assert buyer.get(target.format(number)).status_code == 404, (target, number)


def test_s28_filters_name_the_field_and_links_do_not_break(buyer: Client) -> None:
    for number in NUMBERS:
        filtered = buyer.get("/en/catalog/", {"min_memory_gb": number})
        assert filtered.status_code == 400
        assert errors_of(filtered.content.decode(), "min_memory_gb")
        linked = buyer.get("/en/catalog/b200-180/", {"lot": number, "lots": number, "days": number})
        assert linked.status_code in (200, 400)


def test_s28_the_order_form_takes_no_number_for_a_network(buyer: Client) -> None:
    quote = scenario.quote()
    for number in NUMBERS:
        answer = buyer.post(f"/en/quotes/{quote.public_id}/order/", order_form(pay_with=number))
        assert answer.status_code == 400
        assert errors_of(answer.content.decode(), "pay_with")
    assert not Order.objects.exists()


def test_s28_one_line_of_plus_one_and_one_of_minus_one(shop: None) -> None:
    codes = list(Option.objects.filter(on_sale=True).values_list("code", flat=True))
    assert "nvme-extra" in codes
    for first, second in itertools.product(codes, codes):
        for quantities in ((1, -1), (-1, 1), (-1, -1)):
            with pytest.raises(Refusal):
                scenario.quote(options=list(zip((first, second), quantities, strict=True)))
    assert not Quote.objects.exists()


HOSTILE = st.sampled_from([-(2**63), -(10**30), -1, 0, 1, 2, 3, 7, 30, 2**31, 2**63, 10**30])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None)
@given(
    lots=HOSTILE,
    days=HOSTILE,
    options=st.lists(st.tuples(st.sampled_from(["nvme-extra", "no-such"]), HOSTILE), max_size=3),
)
def test_s28_no_mix_makes_a_total_below_that_of_its_lots(
    shop: None, lots: int, days: int, options: list[tuple[str, int]]
) -> None:
    try:
        made = scenario.quote(lots=lots, days=days, options=options)
    except Refusal:
        return
    plain = scenario.quote(lots=lots, days=days)
    assert lots >= 1
    assert days in (3, 7, 30)
    assert made.total >= plain.total > 0
