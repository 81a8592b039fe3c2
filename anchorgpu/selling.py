"""Settings of what the seller is and how he is taxed, read with the others by anchorgpu.env."""

from collections.abc import Mapping
from dataclasses import dataclass

from anchorgpu.addresses import SettingError
from catalog.tax import TABLES, load_table


@dataclass(frozen=True)
class Selling:
    """`tax_table` is demo, eu or the path of a TOML file; `vat_id` is printed on invoices as it stands."""

    tax_table: str
    prices_include_tax: bool
    vat_id: str


def read_selling(environ: Mapping[str, str], *, demo: bool) -> Selling:
    """Raises SettingError for a table that cannot be used: a wrong rate must not reach a quote."""
    include = environ.get("PRICES_INCLUDE_TAX", "").strip()
    if include not in ("", "0", "1"):
        raise SettingError("PRICES_INCLUDE_TAX must be 1 or 0.")
    vat_id = environ.get("SELLER_VAT_ID", "").strip()
    if len(vat_id) > 40 or not vat_id.isprintable():
        raise SettingError("SELLER_VAT_ID must be at most 40 printable characters.")
    return Selling(tax_table=_tax_table(environ, demo=demo), prices_include_tax=include == "1", vat_id=vat_id)


def _tax_table(environ: Mapping[str, str], *, demo: bool) -> str:
    name = environ.get("TAX_TABLE", "").strip() or ("demo" if demo else "eu")
    if name == "demo" and not demo:
        raise SettingError("TAX_TABLE is demo, which charges nobody; a shop that sells needs eu or a file.")
    try:
        load_table(name)
    except UnicodeDecodeError as error:
        raise SettingError(f"TAX_TABLE names {name}, which is not text.") from error
    except OSError as error:
        known = " or ".join(sorted(TABLES))
        raise SettingError(
            f"TAX_TABLE must be {known} or name a file; {name} cannot be read: {error.strerror}."
        ) from error
    except ValueError as error:
        reason = str(error).rstrip(".").replace("\n", " ")
        raise SettingError(f"TAX_TABLE names {name}, which is no tax table: {reason}.") from error
    return name
