"""Who is billed and at which rate: a country table kept as data, and the form of VAT numbers."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path
from types import MappingProxyType

from django.utils.translation import gettext_lazy as _

from core.errors import Invalid

TABLE_FILE = Path(__file__).parent / "data" / "tax.toml"

CONSUMER = "consumer"
BUSINESS = "business"
KINDS = (CONSUMER, BUSINESS)

# Shortest in use: RO and 2 digits; longest: 15 characters (India). Whether one exists is asked elsewhere.
_VAT_FORM = re.compile(r"[A-Z0-9]{4,16}")
_VAT_SEPARATORS = str.maketrans("", "", " .-/\u00a0\u202f")
_VAT_RAW_MAX_LENGTH = 40


@dataclass(frozen=True, slots=True)
class BillTo:
    """Who is billed. `country` is ISO 3166-1 alpha-2; `vat_id` is in short form and only for a business."""

    country: str
    kind: str
    vat_id: str | None


@dataclass(frozen=True, slots=True)
class TaxRate:
    """`rate` is a fraction of the subtotal (0.19 is 19 %); `treatment` names the rule, such as demo."""

    country: str
    rate: Decimal
    treatment: str


@dataclass(frozen=True, slots=True)
class TaxTable:
    treatment: str
    rates: Mapping[str, Decimal]
    names: Mapping[str, str]


@cache
def tax_table() -> TaxTable:
    """The country table: English names by code and the rate of each."""
    data = tomllib.loads(TABLE_FILE.read_text(encoding="utf-8"), parse_float=_no_float)
    names: dict[str, str] = data["countries"]
    default = Decimal(data["default_rate"])
    special: dict[str, str] = data.get("rates", {})
    unknown = special.keys() - names.keys()
    if unknown:
        raise ValueError(f"Rates without a country: {', '.join(sorted(unknown))}.")
    rates = {code: Decimal(special[code]) if code in special else default for code in names}
    if any(not 0 <= rate < 1 for rate in rates.values()):
        raise ValueError("A tax rate is a fraction from 0 to below 1.")
    return TaxTable(
        treatment=data["treatment"], rates=MappingProxyType(rates), names=MappingProxyType(dict(names))
    )


def countries() -> tuple[tuple[str, str], ...]:
    """(code, English name) by name, for a choice in a form."""
    return tuple(sorted(tax_table().names.items(), key=lambda item: item[1]))


def bill_to(*, country: str, kind: str = CONSUMER, vat_id: str | None = None) -> BillTo:
    """Check who is billed.

    Raises Invalid(unknown_country, unknown_bill_to_kind, invalid_vat_id, vat_id_for_consumer).
    """
    if country not in tax_table().rates:
        raise Invalid(
            code="unknown_country",
            message=_("This country code is not known. Use two capital letters, such as DE."),
            field="bill_to.country",
        )
    if kind not in KINDS:
        raise Invalid(
            code="unknown_bill_to_kind",
            message=_("The kind of buyer is either consumer or business."),
            field="bill_to.kind",
        )
    short = _vat_id(vat_id) if vat_id else None
    if short is not None and kind == CONSUMER:
        raise Invalid(
            code="vat_id_for_consumer",
            message=_("A VAT number belongs to a business. Choose business or leave the number out."),
            field="bill_to.vat_id",
        )
    return BillTo(country=country, kind=kind, vat_id=short)


def tax_for(who: BillTo) -> TaxRate:
    """The rate for who is billed. `who` comes from bill_to, so its country is in the table."""
    table = tax_table()
    return TaxRate(country=who.country, rate=table.rates[who.country], treatment=table.treatment)


def _vat_id(value: str) -> str | None:
    """Short form without separators; None when nothing but separators was given."""
    short = value.translate(_VAT_SEPARATORS).upper() if len(value) <= _VAT_RAW_MAX_LENGTH else value
    if not short:
        return None
    if not _VAT_FORM.fullmatch(short) or not any(c.isdigit() for c in short):
        raise Invalid(
            code="invalid_vat_id",
            message=_("A VAT number has 4 to 16 letters and digits, such as DE123456789."),
            field="bill_to.vat_id",
        )
    return short


def _no_float(text: str) -> float:
    raise ValueError(f"Write the rate {text} as a string: a float would round it.")
