"""Minor units are exact in every currency, bounds are met before anything is held, texts stay whole (S23, S25)."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from billing import card_amounts
from billing.card_texts import shorten


@pytest.mark.parametrize(
    ("amount", "currency", "minor"),
    [
        ("19.99", "EUR", 1999),
        ("0.29", "EUR", 29),
        ("1.15", "EUR", 115),
        ("13.9974", "EUR", 1400),
        ("934.56", "USD", 93456),
        ("1000.00", "JPY", 1000),
        ("5000.00", "KRW", 5000),
        ("1.15", "KWD", 1150),
        ("100.00", "ISK", 10000),
    ],
)
def test_s23_minor_units_are_exact(amount: str, currency: str, minor: int) -> None:
    assert card_amounts.to_minor(Decimal(amount), currency) == minor


@given(st.decimals(min_value=0, max_value=999_999, places=2))
def test_s23_there_and_back_is_the_same(amount: Decimal) -> None:
    for currency in ("USD", "KWD"):
        assert card_amounts.to_amount(card_amounts.to_minor(amount, currency), currency) == amount


def test_a_negative_amount_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="negative"):
        card_amounts.to_minor(Decimal("-0.01"), "USD")


@pytest.mark.parametrize(
    ("amount", "currency", "chargeable"),
    [
        ("0.00", "USD", False),
        ("0.49", "USD", False),
        ("0.50", "USD", True),
        ("0.30", "GBP", True),
        ("999999.99", "USD", True),
        ("1000000.00", "USD", False),
        ("49.00", "JPY", False),
        ("50.00", "JPY", True),
        # What is shown would not be what is asked.
        ("50.50", "JPY", False),
        ("99999999.00", "JPY", True),
        ("99999.99", "KWD", True),
        ("100000.00", "KWD", False),
        ("20.00", "XXX", False),
    ],
)
def test_s25_bounds(amount: str, currency: str, chargeable: bool) -> None:
    assert card_amounts.is_chargeable(Decimal(amount), currency) is chargeable


def test_a_currency_of_whole_units_takes_no_part() -> None:
    assert card_amounts.minimum("UGX") is None
    assert card_amounts.minimum("USD") == Decimal("0.50")


@pytest.mark.parametrize(
    ("text", "length", "short"),
    [
        ("Карта", 5, "Карта"),
        ("Карта для обучения", 10, "Карта для…"),
        ("ab👩‍👩‍👧‍👦cd", 6, "ab…"),
        ("ab👍🏽cd", 4, "ab…"),
        ("ab🇩🇪🇫🇷", 5, "ab🇩🇪…"),
        ("ab🇩🇪🇫🇷", 4, "ab…"),
        ("abe\u0301def", 4, "ab…"),
    ],
)
def test_s25_texts_are_shortened_by_whole_characters(text: str, length: int, short: str) -> None:
    assert shorten(text, length) == short


@given(st.text(max_size=300), st.integers(min_value=1, max_value=200))
def test_s25_no_text_is_too_long(text: str, length: int) -> None:
    assert len(shorten(text, length)) <= length
