"""EU VAT: which rule makes the rate, numbers whose form is right, tables of the operator's own."""

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest
from pytest_django import Settings

from catalog.tax import BillTo, bill_to, load_table, tax_for, tax_table
from core.errors import Invalid

EU = {
    *(
        "AT",
        "BE",
        "BG",
        "CY",
        "CZ",
        "DE",
        "DK",
        "EE",
        "ES",
        "FI",
        "FR",
        "GR",
        "HR",
        "HU",
        "IE",
        "IT",
        "LT",
        "LU",
    ),
    *("LV", "MT", "NL", "PL", "PT", "RO", "SE", "SI", "SK"),
}


@pytest.fixture(autouse=True)
def eu(settings: Settings) -> None:
    settings.TAX_TABLE = "eu"
    settings.SHOP_COUNTRY = "DE"


def ruled(country: str, kind: str = "consumer", vat_id: str | None = None) -> tuple[str, str]:
    found = tax_for(bill_to(country=country, kind=kind, vat_id=vat_id))
    return str(found.rate), found.treatment


def test_every_member_state_has_a_rate_and_monaco_goes_with_france() -> None:
    table = tax_table()
    assert table.eu_rates.keys() == EU | {"MC"}
    assert table.eu_rates["MC"] == table.eu_rates["FR"]
    assert len(table.rates) == 249
    # The lowest and the highest that the directive and its members have known for long.
    assert all(Decimal("0.15") <= rate <= Decimal("0.27") for rate in table.eu_rates.values())


@pytest.mark.parametrize(
    ("country", "kind", "vat_id", "rate", "treatment"),
    [
        ("DE", "consumer", None, "0.19", "domestic"),
        ("DE", "business", None, "0.19", "domestic"),
        ("DE", "business", "DE123456788", "0.19", "domestic"),
        ("FR", "consumer", None, "0.20", "destination"),
        ("FI", "consumer", None, "0.255", "destination"),
        ("FR", "business", None, "0.20", "destination"),
        ("FR", "business", "FR 83 404 833 048", "0.00", "reverse_charge"),
        ("GR", "business", "EL094259216", "0.00", "reverse_charge"),
        ("US", "consumer", None, "0.00", "outside_scope"),
        ("CH", "business", "CHE-123.456.788", "0.00", "outside_scope"),
        ("AX", "consumer", None, "0.00", "outside_scope"),
    ],
)
def test_who_pays_which_rate(country: str, kind: str, vat_id: str | None, rate: str, treatment: str) -> None:
    assert ruled(country, kind, vat_id) == (rate, treatment)


def test_the_sellers_own_country_decides_what_is_domestic(settings: Settings) -> None:
    settings.SHOP_COUNTRY = "FR"
    assert ruled("FR", "business", "FR83404833048") == ("0.20", "domestic")
    assert ruled("MC") == ("0.20", "domestic")
    assert ruled("DE", "business", "DE123456788") == ("0.00", "reverse_charge")


def test_a_seller_outside_the_union_charges_the_rate_of_the_buyer_inside(settings: Settings) -> None:
    settings.SHOP_COUNTRY = "US"
    assert ruled("DE") == ("0.19", "destination")
    assert ruled("DE", "business", "DE123456788") == ("0.00", "reverse_charge")
    assert ruled("US") == ("0.00", "outside_scope")


@pytest.mark.parametrize(
    ("country", "vat_id", "prefix"),
    [
        ("DE", "DE123456789", "DE"),  # wrong check digit
        ("DE", "DE12345678", "DE"),  # too short
        ("DE", "FR83404833048", "DE"),  # right, of another country
        ("FR", "DE123456788", "FR"),
        ("FR", "83404833048", "FR"),  # without its prefix
        ("GR", "GR094259216", "EL"),
        ("GR", "EL094259217", "EL"),
        ("MC", "MC83404833048", "FR"),
    ],
)
def test_a_number_of_the_wrong_form_or_country_is_refused_by_field(
    country: str, vat_id: str, prefix: str
) -> None:
    with pytest.raises(Invalid) as refused:
        bill_to(country=country, kind="business", vat_id=vat_id)
    assert (refused.value.code, refused.value.field) == ("invalid_vat_id", "bill_to.vat_id")
    assert f"begins with {prefix};" in refused.value.text


def test_a_number_is_kept_in_its_short_form() -> None:
    assert bill_to(country="AT", kind="business", vat_id="atu 135.85-627") == BillTo(
        "AT", "business", "ATU13585627"
    )


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], str]:
    def written(text: str) -> str:
        file = tmp_path / f"{abs(hash(text))}.toml"
        file.write_text(text, encoding="utf-8")
        return str(file)

    return written


def test_a_table_of_the_operators_own(settings: Settings, write: Callable[[str], str]) -> None:
    settings.TAX_TABLE = write('treatment = "gst"\ndefault_rate = "0"\n[rates]\nSG = "0.09"\n')
    assert ruled("SG") == ("0.09", "gst")
    assert ruled("DE") == ("0", "gst")
    settings.TAX_TABLE = write(
        'treatment = "eu"\ndefault_rate = "0.00"\n[rates]\nCH = "0.081"\n[eu_rates]\nDE = "0.19"\n'
    )
    assert ruled("CH") == ("0.081", "by_country")
    assert ruled("FR") == ("0.00", "outside_scope")


@pytest.mark.parametrize(
    "text",
    [
        "",
        'treatment = "x"\n',
        'treatment = "x"\ndefault_rate = "1"\n',
        'treatment = "x"\ndefault_rate = "NaN"\n',
        'treatment = "x"\ndefault_rate = "-0.1"\n',
        'treatment = "x"\ndefault_rate = "a fifth"\n',
        'treatment = "x"\ndefault_rate = 0.19\n',
        'treatment = "x"\ndefault_rate = 0\n',
        'treatment = "x"\ndefault_rate = "0"\nrates = 3\n',
        'treatment = "x"\ndefault_rate = "0"\n[rates]\nXX = "0.1"\n',
        'treatment = "x"\ndefault_rate = "0"\n[eu_rates]\nDE = "19"\n',
    ],
)
def test_a_table_that_cannot_be_used_is_no_table(text: str, write: Callable[[str], str]) -> None:
    with pytest.raises(ValueError, match=r"[Rr]ate|tables"):
        load_table(write(text))
