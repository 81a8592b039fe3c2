"""Money: rounding half up, base units that are never short, and the whole range of a token amount."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.money import amount_to_units, quantize, units_to_amount

UINT256 = 2**256 - 1


@pytest.mark.parametrize(
    ("amount", "rounded"),
    [("0.005", "0.01"), ("0.0049999", "0.00"), ("2027.9952", "2028.00"), ("1.115", "1.12"), ("1", "1.00")],
)
def test_half_a_cent_goes_up(amount: str, rounded: str) -> None:
    assert str(quantize(Decimal(amount))) == rounded


@pytest.mark.parametrize(
    ("amount", "decimals", "units"),
    [
        ("2028.00", 6, 2_028_000_000),
        ("0.0000001", 6, 1),
        ("0", 6, 0),
        ("1", 0, 1),
        ("1.01", 0, 2),
        ("0.000000000000000001", 18, 1),
        ("12345678901234567890.123456789012345678", 18, 12345678901234567890123456789012345678),
    ],
)
def test_units_cover_the_amount(amount: str, decimals: int, units: int) -> None:
    assert amount_to_units(Decimal(amount), decimals) == units


def test_a_negative_amount_has_no_units() -> None:
    with pytest.raises(ValueError, match="negative"):
        amount_to_units(Decimal("-0.01"), 6)


@given(units=st.integers(0, UINT256), decimals=st.integers(0, 18))
def test_units_survive_the_way_there_and_back(units: int, decimals: int) -> None:
    assert amount_to_units(units_to_amount(units, decimals), decimals) == units


@given(
    amount=st.decimals(0, 10**9, places=8, allow_nan=False, allow_infinity=False), decimals=st.integers(0, 18)
)
def test_what_is_asked_is_never_short_and_never_a_unit_too_much(amount: Decimal, decimals: int) -> None:
    asked = units_to_amount(amount_to_units(amount, decimals), decimals)
    assert amount <= asked < amount + Decimal(1).scaleb(-decimals)
