"""Prices that contain the tax: what is shown is what is paid, and what is in it adds up."""

from dataclasses import replace
from decimal import Decimal

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pytest_django import Settings

from catalog.pricing import MAX_LOTS, PricedQuote, price_quote
from catalog.tax import TaxRate, bill_to, tax_for
from tests.catalog.test_pricing import b200, option

VAT = TaxRate(country="DE", rate=Decimal("0.19"), treatment="domestic", included=True)


def test_the_total_is_the_sum_of_the_shown_prices() -> None:
    quote = price_quote(lot_price=b200(7), lots=1, options=[option()], tax=VAT)
    assert [(line.kind, str(line.amount)) for line in quote.lines] == [
        ("lot", "2028.00"),
        ("option", "16.80"),
        ("tax", "0.00"),
    ]
    # 2044.80 / 1.19 = 1718.319...
    assert (str(quote.subtotal), str(quote.tax), str(quote.total)) == ("1718.32", "326.48", "2044.80")
    assert quote.lines[-1].facts["contained_amount"] == "326.48"
    assert quote.tax_included


def test_without_the_setting_nothing_of_it_is_in_the_facts() -> None:
    quote = price_quote(lot_price=b200(7), lots=1, options=[], tax=replace(VAT, included=False))
    assert dict(quote.lines[-1].facts) == {"rate": "0.19", "treatment": "domestic"}
    assert (str(quote.total), quote.tax_included) == ("2413.32", False)


def test_the_setting_reaches_the_rate(settings: Settings) -> None:
    assert not tax_for(bill_to(country="DE")).included
    settings.PRICES_INCLUDE_TAX = True
    assert tax_for(bill_to(country="DE")).included


@st.composite
def gross_quotes(draw: st.DrawFn) -> PricedQuote:
    cents = st.integers(1, 10**9).map(lambda number: Decimal(number).scaleb(-2))
    lot = replace(b200(7), amount=draw(cents))
    chosen = [
        option(str(draw(cents)), quantity=draw(st.integers(1, 30)), code=f"option-{n}")
        for n in range(draw(st.integers(0, 3)))
    ]
    rate = Decimal(draw(st.integers(0, 9999))).scaleb(-4)
    return price_quote(
        lot_price=replace(lot, list_amount=lot.amount),
        lots=draw(st.integers(1, MAX_LOTS)),
        options=chosen,
        tax=replace(VAT, rate=rate),
    )


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(gross_quotes())
def test_lines_add_up_and_the_parts_too(quote: PricedQuote) -> None:
    rate = Decimal(quote.lines[-1].facts["rate"])
    assert sum((line.amount for line in quote.lines), Decimal(0)) == quote.total
    assert quote.subtotal + quote.tax == quote.total
    assert 0 <= quote.tax < quote.total
    assert abs(quote.subtotal * rate - quote.tax) <= Decimal("0.01")
    for line in quote.lines:
        assert line.amount == line.unit_amount * line.quantity
    for amount in (quote.subtotal, quote.tax, quote.total):
        assert amount.as_tuple().exponent == -2
