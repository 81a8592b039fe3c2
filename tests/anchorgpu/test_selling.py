"""Settings of tax: a table that cannot be used stops the start with one sentence."""

from pathlib import Path

import pytest

from anchorgpu.addresses import SettingError
from anchorgpu.selling import Selling, read_selling


def test_defaults() -> None:
    assert read_selling({}, demo=True) == Selling(tax_table="demo", prices_include_tax=False, vat_id="")
    assert read_selling({}, demo=False).tax_table == "eu"


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    file = tmp_path / "tax.toml"
    file.write_text('treatment = "gst"\ndefault_rate = "0"\n[rates]\nSG = "0.09"\n', encoding="utf-8")
    read = read_selling({"TAX_TABLE": str(file), "PRICES_INCLUDE_TAX": "1"}, demo=False)
    assert (read.tax_table, read.prices_include_tax) == (str(file), True)


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"TAX_TABLE": "demo"}, "TAX_TABLE"),
        ({"TAX_TABLE": "/nowhere/tax.toml"}, "TAX_TABLE"),
        ({"TAX_TABLE": "usa"}, "TAX_TABLE"),
        ({"PRICES_INCLUDE_TAX": "yes"}, "PRICES_INCLUDE_TAX"),
        ({"SELLER_VAT_ID": "x" * 41}, "SELLER_VAT_ID"),
        ({"SELLER_VAT_ID": "DE\n1"}, "SELLER_VAT_ID"),
    ],
)
def test_what_cannot_be_used_is_named_in_one_sentence(changes: dict[str, str], name: str) -> None:
    with pytest.raises(SettingError, match=rf"^{name} [^\n]*\.$"):
        read_selling(changes, demo=False)


@pytest.mark.parametrize("text", ["", "treatment = 1", 'treatment = "x"\ndefault_rate = 0.19\n', "\xff"])
def test_a_broken_file_is_named(tmp_path: Path, text: str) -> None:
    file = tmp_path / "tax.toml"
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(SettingError, match=r"^TAX_TABLE names [^\n]*\.$"):
        read_selling({"TAX_TABLE": str(file)}, demo=False)
