"""The data files say what the facts say, and every sentence in them reaches the translators."""

import re
from decimal import Decimal

import pytest

from catalog.data_files import CatalogData, load_catalog_data
from catalog.wording import SENTENCES


@pytest.fixture(scope="module")
def data() -> CatalogData:
    return load_catalog_data(currency="USD")


def test_the_named_accelerators_are_there(data: CatalogData) -> None:
    memory = {row.code: row.values["memory_gb"] for row in data.accelerators}
    assert len(memory) == 17
    expected = {"a100-sxm-80": 80, "h100-sxm-80": 80, "h200-sxm-141": 141, "mi300x-192": 192, "b200-180": 180}
    assert expected.items() <= memory.items()


def test_a100_is_cheaper_than_h100(data: CatalogData) -> None:
    price = {row.code: row.values["card_hour_amount"] for row in data.accelerators}
    assert max(price["a100-sxm-80"], price["a100-pcie-80"]) < min(price["h100-sxm-80"], price["h100-nvl-94"])


def test_b200_is_sold_in_lots_of_two(data: CatalogData) -> None:
    assert [row.code for row in data.lots if row.parent == "b200-180"] == ["b200-180x2"]


def test_host_figures_are_marked_as_demo_or_unknown(data: CatalogData) -> None:
    for row in data.lots:
        figures = [row.values[name] for name in ("vcpu", "ram_gb", "nvme_gb", "uplink_gbit_s")]
        assert row.values["specs_are_demo"] is (figures != [None] * 4)


def test_no_figure_is_a_float(data: CatalogData) -> None:
    rows = [*data.terms, *data.accelerators, *data.lots, *data.options, *data.images]
    floats = [
        (row.code, name) for row in rows for name, value in row.values.items() if isinstance(value, float)
    ]
    assert floats == []
    assert {row.code: row.values["link_gb_s"] for row in data.accelerators}["rtx-a6000-48"] == Decimal(
        "112.5"
    )


def test_another_currency_gets_no_price(data: CatalogData) -> None:
    euro = load_catalog_data(currency="EUR")
    assert all("card_hour_amount" not in row.values for row in euro.accelerators)
    assert all("unit_amount" not in row.values for row in euro.options)
    assert len(euro.accelerators) == len(data.accelerators)


def test_every_sentence_is_listed_for_translation(data: CatalogData) -> None:
    shown = {row.values["meant_for"] for row in data.terms}
    shown |= {row.values["conflict"] for row in data.accelerators}
    shown |= {row.values[name] for row in data.options for name in ("name", "description", "needs", "unit")}
    shown |= {row.values["description"] for row in data.images}
    assert shown - {""} == set(SENTENCES)


def test_a_name_that_is_not_translated_holds_no_english_word(data: CatalogData) -> None:
    """Environments show their name as it is, in every language; what it leaves out stands in the description."""
    names = " ".join(row.values["name"] for row in data.images)
    assert re.findall(r"\b[a-z]{3,}\b", names) == []


def test_a_source_can_be_looked_up(data: CatalogData) -> None:
    """Buyers read these names on the page of a card: a name of ours for a file tells them nothing."""
    sources = {source for row in data.accelerators for source in row.values["sources"]}
    assert len(sources) > 20
    assert not [source for source in sources if re.match(r"(seed|file|facts?|note)\b", source)]
