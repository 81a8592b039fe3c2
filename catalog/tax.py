"""Who is billed and at which rate: country tables kept as data, the rules of EU VAT, the form of VAT numbers."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from django.conf import settings
from django.utils.translation import gettext_lazy as _
from stdnum.eu import vat
from stdnum.exceptions import ValidationError

from core.errors import Invalid

TABLE_FILE = Path(__file__).parent / "data" / "tax.toml"
# What TAX_TABLE may name beside a file of the operator's own.
TABLES = {"demo": TABLE_FILE, "eu": Path(__file__).parent / "data" / "tax_eu.toml"}

CONSUMER = "consumer"
BUSINESS = "business"
KINDS = (CONSUMER, BUSINESS)

# Treatments: which rule made the rate. A table without EU rates names its own, such as demo.
DEMO = "demo"
DOMESTIC = "domestic"
DESTINATION = "destination"
REVERSE_CHARGE = "reverse_charge"
OUTSIDE_SCOPE = "outside_scope"
BY_COUNTRY = "by_country"

# Shortest in use: RO and 2 digits; longest: 15 characters (India). Whether one exists is asked elsewhere.
_VAT_FORM = re.compile(r"[A-Z0-9]{4,16}")
_VAT_SEPARATORS = str.maketrans("", "", " .-/\u00a0\u202f")
_VAT_RAW_MAX_LENGTH = 40
# A country that another one's VAT covers, and VAT numbers that do not begin with the code of their country.
_VAT_AREA = {"MC": "FR"}
_VAT_PREFIX = {"GR": "EL"}


@dataclass(frozen=True, slots=True)
class BillTo:
    """Who is billed. `country` is ISO 3166-1 alpha-2; `vat_id` is in short form and only for a business."""

    country: str
    kind: str
    vat_id: str | None


@dataclass(frozen=True, slots=True)
class TaxRate:
    """`rate` is a fraction of the net amount (0.19 is 19 %); `treatment` names the rule, such as demo.

    `included`: the table prices contain the tax already (PRICES_INCLUDE_TAX).
    """

    country: str
    rate: Decimal
    treatment: str
    included: bool = False


@dataclass(frozen=True, slots=True)
class TaxTable:
    """`eu_rates` is empty where the rules of EU VAT do not apply: then `rates` alone decide by country."""

    treatment: str
    rates: Mapping[str, Decimal]
    eu_rates: Mapping[str, Decimal]
    names: Mapping[str, str]


def tax_table() -> TaxTable:
    """The table that TAX_TABLE names: English names by code and the rate of each."""
    return load_table(settings.TAX_TABLE)


@cache
def load_table(name: str) -> TaxTable:
    """A table by name (`demo`, `eu`) or by the path of a file in the same form.

    Raises ValueError for one that cannot be used, OSError for a file that cannot be read.
    """
    data = _read(TABLES.get(name, Path(name)))
    names = _read(TABLE_FILE)["countries"]
    try:
        default = _rate(data["default_rate"])
        special = {code: _rate(text) for code, text in data.get("rates", {}).items()}
        eu_rates = {code: _rate(text) for code, text in data.get("eu_rates", {}).items()}
        treatment = str(data["treatment"])
    except (KeyError, AttributeError) as error:
        raise ValueError(
            f"A tax table needs treatment, default_rate and tables of rates: {error}."
        ) from error
    unknown = (special.keys() | eu_rates.keys()) - names.keys()
    if unknown:
        raise ValueError(f"Rates without a country: {', '.join(sorted(unknown))}.")
    return TaxTable(
        treatment=treatment,
        rates=MappingProxyType({code: special.get(code, default) for code in names}),
        eu_rates=MappingProxyType(eu_rates),
        names=MappingProxyType(names),
    )


def countries() -> tuple[tuple[str, str], ...]:
    """(code, English name) by name, for a choice in a form."""
    return tuple(sorted(tax_table().names.items(), key=lambda item: item[1]))


def bill_to(*, country: str, kind: str = CONSUMER, vat_id: str | None = None) -> BillTo:
    """Check who is billed. Where EU VAT applies, a number of a member state is checked to its check digits.

    Raises Invalid(unknown_country, unknown_bill_to_kind, invalid_vat_id, vat_id_for_consumer).
    """
    table = tax_table()
    if country not in table.rates:
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
    if short is not None and country in table.eu_rates:
        short = _eu_vat_id(short, country)
    return BillTo(country=country, kind=kind, vat_id=short)


def tax_for(who: BillTo) -> TaxRate:
    """The rate for who is billed. `who` comes from bill_to, so its country is in the table.

    By EU VAT, for services that are used where the buyer is: in the seller's own country its rate; a business
    elsewhere in the Union with a VAT number owes the tax itself; everybody else there pays the rate of the own
    country (a business without a number counts as a consumer). Outside the Union the table decides.
    """
    rate, treatment = _rule(tax_table(), who)
    return TaxRate(country=who.country, rate=rate, treatment=treatment, included=settings.PRICES_INCLUDE_TAX)


def _rule(table: TaxTable, who: BillTo) -> tuple[Decimal, str]:
    if not table.eu_rates:
        return table.rates[who.country], table.treatment
    if who.country not in table.eu_rates:
        rate = table.rates[who.country]
        return rate, BY_COUNTRY if rate else OUTSIDE_SCOPE
    if _area(who.country) == _area(settings.SHOP_COUNTRY):
        return table.eu_rates[who.country], DOMESTIC
    if who.kind == BUSINESS and who.vat_id:
        return Decimal("0.00"), REVERSE_CHARGE
    return table.eu_rates[who.country], DESTINATION


def _area(country: str) -> str:
    return _VAT_AREA.get(country, country)


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


def _eu_vat_id(short: str, country: str) -> str:
    """A number of this member state with right check digits. Whether it is in use is not asked."""
    area = _area(country)
    prefix = _VAT_PREFIX.get(area, area)
    try:
        if short.startswith(prefix):
            return str(vat.validate(short))
    except ValidationError:
        pass
    raise Invalid(
        code="invalid_vat_id",
        message=_(
            "This is no VAT number of the chosen country. It begins with %(prefix)s; compare each character."
        ),
        field="bill_to.vat_id",
        params={"prefix": prefix},
    )


def _read(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"), parse_float=_no_float)


def _rate(text: object) -> Decimal:
    try:
        rate = Decimal(text) if isinstance(text, str) else None
    except InvalidOperation:
        rate = None
    # `in` a range of Decimals would let NaN through.
    if rate is None or not rate.is_finite() or not 0 <= rate < 1:
        raise ValueError(f'A tax rate is a string from "0" to below "1", not {text!r}.')
    return rate


def _no_float(text: str) -> float:
    raise ValueError(f"Write the rate {text} as a string: a float would round it.")
