"""How the quote's page tells the tax: the rule in words, and prices that contain it."""

import pytest
from django.test import Client
from pytest_django import Settings

from catalog.tax import bill_to
from tests import scenario


@pytest.fixture(autouse=True)
def shop(db: None, settings: Settings) -> None:
    scenario.open_shop()
    settings.TAX_TABLE = "eu"


@pytest.mark.parametrize(
    ("country", "vat_id", "sentence", "total"),
    [
        ("DE", None, "VAT 19%", "1,112.13"),
        ("FR", None, "VAT 20% of FR, where you are", "1,121.47"),
        ("FR", "FR83404833048", "Reverse charge: your business owes the VAT in FR", "934.56"),
        ("US", None, "Not subject to VAT of the European Union", "934.56"),
    ],
)
def test_the_rule_is_told(
    client: Client, country: str, vat_id: str | None, sentence: str, total: str
) -> None:
    kind = "business" if vat_id else "consumer"
    quote = scenario.quote(bill_to=bill_to(country=country, kind=kind, vat_id=vat_id))
    page = client.get(f"/en/quotes/{quote.public_id}/").content.decode()
    assert sentence in page
    assert total in page
    assert "Tax in these prices" not in page


def test_prices_that_contain_the_tax_show_one_total(client: Client, settings: Settings) -> None:
    settings.PRICES_INCLUDE_TAX = True
    quote = scenario.quote(bill_to=bill_to(country="DE"))
    page = client.get(f"/en/quotes/{quote.public_id}/").content.decode()
    assert (str(quote.subtotal), str(quote.tax), str(quote.total)) == ("785.34", "149.22", "934.56")
    for part in ("Tax in these prices", "149.22", "Without tax", "785.34", "934.56"):
        assert part in page
    assert '"contained_amount":"149.22"' in quote.document


def test_a_wrong_number_is_refused_beside_its_field(client: Client) -> None:
    form = {
        "lot": "b200-180x2",
        "lots": "1",
        "days": "3",
        "image": "pt-cu128",
        "start": "soon",
        "country": "DE",
        "kind": "business",
        "vat_id": "DE123456789",
    }
    answer = client.post("/en/catalog/b200-180/", form)
    assert answer.status_code == 400
    assert "It begins with DE; compare each character." in answer.content.decode()
