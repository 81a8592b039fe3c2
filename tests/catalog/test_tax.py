"""Who is billed: known countries, kinds, and the form of VAT numbers."""

from decimal import Decimal

import pytest

from catalog.tax import BillTo, bill_to, countries, tax_for, tax_table
from core.errors import Invalid


def test_every_iso_country_is_there_at_the_demo_rate() -> None:
    table = tax_table()
    assert len(table.rates) == 249
    assert {"DE", "FR", "US", "JP", "AX", "UM"} <= table.rates.keys()
    assert set(table.rates.values()) == {Decimal("0.00")}
    assert all(len(code) == 2 and code.isascii() and code.isupper() for code in table.rates)


def test_the_demo_rate_says_that_it_is_one() -> None:
    rate = tax_for(bill_to(country="DE"))
    assert (rate.country, str(rate.rate), rate.treatment) == ("DE", "0.00", "demo")


def test_countries_are_sorted_by_name() -> None:
    names = [name for _code, name in countries()]
    assert names == sorted(names)
    assert ("DE", "Germany") in countries()


@pytest.mark.parametrize("country", ["", "de", "XX", "DEU", "D\x00", "\ud800E", "D" * 10_000, "EU"])
def test_unknown_country_is_refused_by_field(country: str) -> None:
    with pytest.raises(Invalid) as refused:
        bill_to(country=country)
    assert (refused.value.code, refused.value.field) == ("unknown_country", "bill_to.country")


def test_unknown_kind_is_refused_by_field() -> None:
    with pytest.raises(Invalid) as refused:
        bill_to(country="DE", kind="robot")
    assert (refused.value.code, refused.value.field) == ("unknown_bill_to_kind", "bill_to.kind")


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("DE123456789", "DE123456789"),
        ("fr 83 404 833 048", "FR83404833048"),
        ("CHE-123.456.788", "CHE123456788"),
    ],
)
def test_vat_number_is_kept_in_its_short_form(given: str, kept: str) -> None:
    assert bill_to(country="DE", kind="business", vat_id=given).vat_id == kept


@pytest.mark.parametrize(
    "vat_id", ["DE1\x00234567", "ABCDEF", "D1", "1" * 17, "9" * 10_000, "DE12345678é", "DE1234567\ud800"]
)
def test_broken_vat_number_is_refused_by_field(vat_id: str) -> None:
    with pytest.raises(Invalid) as refused:
        bill_to(country="DE", kind="business", vat_id=vat_id)
    assert (refused.value.code, refused.value.field) == ("invalid_vat_id", "bill_to.vat_id")


@pytest.mark.parametrize("vat_id", [None, "", "  "])
def test_no_vat_number_is_no_error(vat_id: str | None) -> None:
    assert bill_to(country="DE", kind="business", vat_id=vat_id) == BillTo("DE", "business", None)
    assert bill_to(country="DE", vat_id=vat_id) == BillTo("DE", "consumer", None)


def test_consumer_has_no_vat_number() -> None:
    with pytest.raises(Invalid) as refused:
        bill_to(country="DE", kind="consumer", vat_id="DE123456789")
    assert refused.value.code == "vat_id_for_consumer"
