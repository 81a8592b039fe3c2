"""Prices are exact: the worked example to the cent, and lines that always add up."""

from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.offers import ChosenOption, LotOffer, OptionOffer
from catalog.pricing import (
    MAX_LOTS,
    PricedQuote,
    list_price,
    option_table_amount,
    plain_amount,
    price_quote,
    table_amount,
)
from catalog.tax import TaxRate
from core.errors import Invalid

B200 = {3: ("0.00", "934.56"), 7: ("0.07", "2028.00"), 30: ("0.20", "7476.48")}
NO_TAX = TaxRate(country="DE", rate=Decimal("0.00"), treatment="demo")


def b200(days: int = 7) -> LotOffer:
    discount, amount = B200[days]
    card_hour = Decimal("6.49")
    return LotOffer(
        lot_code="b200-180x2",
        accelerator_slug="b200-180",
        accelerator_name="NVIDIA B200",
        cards=2,
        days=days,
        amount=Decimal(amount),
        list_amount=table_amount(card_hour_amount=card_hour, cards=2, days=days),
        card_hour_amount=card_hour,
        discount=Decimal(discount),
        currency="USD",
        price_version=1,
    )


def option(unit_amount: str = "8.40", quantity: int = 2, code: str = "nvme-extra") -> ChosenOption:
    offer = OptionOffer(
        code=code,
        name="Extra local NVMe",
        description="",
        needs="",
        unit="TB",
        recurring=True,
        max_quantity=30,
        days=7,
        unit_amount=Decimal(unit_amount),
        currency="USD",
        price_version=1,
    )
    return ChosenOption(offer=offer, quantity=quantity)


@pytest.mark.parametrize("days", [3, 7, 30])
def test_worked_example_of_the_table(days: int) -> None:
    discount, amount = B200[days]
    made = table_amount(card_hour_amount=Decimal("6.49"), cards=2, days=days, discount=Decimal(discount))
    assert str(made) == amount


def test_three_lots_are_three_times_the_rounded_price() -> None:
    quote = price_quote(lot_price=b200(7), lots=3, options=[], tax=NO_TAX)
    assert str(quote.total) == "6084.00"
    # Rounding the product once would have given a cent less; the table price must win.
    unrounded = Decimal("6.49") * 2 * 24 * 7 * Decimal("0.93") * 3
    assert str(unrounded.quantize(Decimal("0.01"), rounding=ROUND_HALF_UP)) == "6083.99"


def test_half_a_cent_goes_up() -> None:
    # 0.0125 x 24 x 1 = 0.30; with 5 % off 0.285, which half-even would make 0.28.
    made = table_amount(card_hour_amount=Decimal("0.0125"), cards=1, days=1, discount=Decimal("0.05"))
    assert str(made) == "0.29"


def test_options_and_tax_are_lines_of_their_own() -> None:
    tax = TaxRate(country="DE", rate=Decimal("0.19"), treatment="standard")
    quote = price_quote(lot_price=b200(7), lots=1, options=[option()], tax=tax)
    assert [(line.kind, line.code, line.quantity, str(line.amount)) for line in quote.lines] == [
        ("lot", "b200-180x2", 1, "2028.00"),
        ("option", "nvme-extra", 2, "16.80"),
        ("tax", "DE", 1, "388.51"),  # 2044.80 x 0.19 = 388.512
    ]
    assert (str(quote.subtotal), str(quote.tax), str(quote.total)) == ("2044.80", "388.51", "2433.31")


def test_zero_tax_is_still_a_line() -> None:
    quote = price_quote(lot_price=b200(7), lots=1, options=[], tax=NO_TAX)
    assert [(line.kind, str(line.amount)) for line in quote.lines] == [("lot", "2028.00"), ("tax", "0.00")]


def test_saving_is_said_and_is_no_line() -> None:
    quote = price_quote(lot_price=b200(7), lots=3, options=[], tax=NO_TAX)
    assert str(list_price(lot_price=b200(7), lots=3)) == "6541.92"
    assert (str(quote.list_price), str(quote.saving)) == ("6541.92", "457.92")
    assert {line.kind for line in quote.lines} == {"lot", "tax"}


def test_lot_line_tells_how_its_price_came_about() -> None:
    facts = price_quote(lot_price=b200(7), lots=1, options=[], tax=NO_TAX).lines[0].facts
    assert facts["cards"] == "2"
    assert facts["hours"] == "168"
    assert facts["card_hour_amount"] == "6.49"
    assert facts["list_amount"] == "2180.64"
    assert all(isinstance(value, str) for value in facts.values())


@pytest.mark.parametrize("lots", [0, -1, MAX_LOTS + 1, 10**12, 2**63])
def test_lots_out_of_range_name_the_field(lots: int) -> None:
    with pytest.raises(Invalid) as refused:
        price_quote(lot_price=b200(), lots=lots, options=[], tax=NO_TAX)
    assert (refused.value.code, refused.value.field, refused.value.status) == (
        "lots_out_of_range",
        "lots",
        400,
    )
    assert str(MAX_LOTS) in refused.value.text


@pytest.mark.parametrize("quantity", [0, -1, 31])
def test_option_quantity_out_of_bounds_never_prices(quantity: int) -> None:
    with pytest.raises(ValueError, match="quantity"):
        price_quote(lot_price=b200(), lots=1, options=[option(quantity=quantity)], tax=NO_TAX)


def test_option_of_another_table_never_prices() -> None:
    stale = option()
    foreign = ChosenOption(offer=replace(stale.offer, price_version=2), quantity=1)
    with pytest.raises(ValueError, match="table"):
        price_quote(lot_price=b200(), lots=1, options=[foreign], tax=NO_TAX)


def test_option_of_another_term_never_prices() -> None:
    with pytest.raises(ValueError, match="term"):
        price_quote(lot_price=b200(3), lots=1, options=[option()], tax=NO_TAX)


def test_float_is_refused_everywhere() -> None:
    with pytest.raises(TypeError):
        table_amount(card_hour_amount=6.49, cards=2, days=3)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        option_table_amount(unit_amount=1.2, recurring=True, days=3)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        price_quote(lot_price=replace(b200(), amount=2028.0), lots=1, options=[], tax=NO_TAX)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        price_quote(lot_price=b200(), lots=1, options=[], tax=replace(NO_TAX, rate=0.0))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("card_hour", "cards", "days", "discount"),
    [
        ("0", 1, 3, "0"),
        ("-1", 1, 3, "0"),
        ("1", 0, 3, "0"),
        ("1", 1, 0, "0"),
        ("1", 1, 3, "1"),
        ("1", 1, 3, "-0.1"),
    ],
)
def test_table_refuses_what_is_no_price(card_hour: str, cards: int, days: int, discount: str) -> None:
    with pytest.raises(ValueError, match="lot price"):
        table_amount(card_hour_amount=Decimal(card_hour), cards=cards, days=days, discount=Decimal(discount))


def test_negative_or_unrounded_table_price_never_reaches_a_line() -> None:
    for amount in ("-0.01", "1.005"):
        with pytest.raises(ValueError, match="cents"):
            price_quote(lot_price=replace(b200(), amount=Decimal(amount)), lots=1, options=[], tax=NO_TAX)


def test_option_is_charged_by_day_or_once() -> None:
    assert str(option_table_amount(unit_amount=Decimal("1.20"), recurring=True, days=7)) == "8.40"
    assert str(option_table_amount(unit_amount=Decimal(6), recurring=False, days=30)) == "6.00"
    assert str(option_table_amount(unit_amount=Decimal(0), recurring=True, days=30)) == "0.00"


@pytest.mark.parametrize(
    ("amount", "text"), [("6.4900", "6.49"), ("0.3525", "0.3525"), ("10", "10.00"), ("100", "100.00")]
)
def test_plain_amount(amount: str, text: str) -> None:
    assert plain_amount(Decimal(amount)) == text


cents = st.decimals(min_value=0, max_value=Decimal("9999999.99"), places=2)


@st.composite
def quotes(draw: st.DrawFn) -> PricedQuote:
    amount = draw(st.decimals(min_value=Decimal("0.01"), max_value=Decimal("9999999.99"), places=2))
    saved = draw(cents)
    chosen = [
        option(str(draw(cents)), quantity=draw(st.integers(1, 30)), code=f"option-{n}")
        for n in range(draw(st.integers(0, 6)))
    ]
    rate = draw(st.decimals(min_value=0, max_value=Decimal("0.9999"), places=4))
    return price_quote(
        lot_price=replace(b200(7), amount=amount, list_amount=amount + saved),
        lots=draw(st.integers(1, MAX_LOTS)),
        options=chosen,
        tax=replace(NO_TAX, rate=rate),
    )


@given(quotes())
def test_lines_add_up_to_the_total(quote: PricedQuote) -> None:
    assert sum((line.amount for line in quote.lines), Decimal(0)) == quote.total
    assert quote.subtotal + quote.tax == quote.total
    assert quote.saving >= 0
    for line in quote.lines:
        assert line.amount == line.unit_amount * line.quantity
    amounts = [
        quote.total,
        quote.subtotal,
        quote.tax,
        quote.list_price,
        *(line.amount for line in quote.lines),
    ]
    for amount in amounts:
        assert type(amount) is Decimal
        assert amount >= 0
        assert amount.as_tuple().exponent == -2


@given(
    card_hour=st.decimals(min_value=Decimal("0.01"), max_value=Decimal("99999999.9999"), places=4),
    cards=st.integers(1, 64),
    days=st.integers(1, 366),
    discount=st.decimals(min_value=0, max_value=Decimal("0.99"), places=2),
)
def test_table_price_is_within_half_a_cent_of_the_exact_product(
    card_hour: Decimal, cards: int, days: int, discount: Decimal
) -> None:
    made = table_amount(card_hour_amount=card_hour, cards=cards, days=days, discount=discount)
    exact = card_hour * cards * 24 * days * (1 - discount)
    assert abs(made - exact) <= Decimal("0.005")
    assert made <= table_amount(card_hour_amount=card_hour, cards=cards, days=days)
