"""Read the catalogue's data files into rows for the seed; nothing is made up here."""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

DATA_DIR = Path(__file__).parent / "data"

ACCELERATOR_FACTS = (
    "name",
    "vendor",
    "architecture",
    "memory_gb",
    "usable_gib",
    "memory_type",
    "bandwidth_gb_s",
    "bf16_dense_tflops",
    "fp8_dense_tflops",
    "fp4_dense_tflops",
    "board_power_w",
    "link",
    "link_gb_s",
    "cores",
    "stack",
    "stack_minimum",
    "target",
    "host_arch",
    "grade",
    "sources",
)


@dataclass(frozen=True, slots=True)
class SeedRow:
    """One row: found by `key`, columns in `values`, links by code in `many`, its accelerator in `parent`."""

    code: str
    key: str | int
    values: Mapping[str, Any]
    many: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    parent: str = ""


@dataclass(frozen=True, slots=True)
class CatalogData:
    note: str
    terms: tuple[SeedRow, ...]
    accelerators: tuple[SeedRow, ...]
    lots: tuple[SeedRow, ...]
    options: tuple[SeedRow, ...]
    images: tuple[SeedRow, ...]


def load_catalog_data(*, currency: str, directory: Path = DATA_DIR) -> CatalogData:
    """Everything that the files hold. Their prices are in one currency; for another no price is loaded."""
    text = (directory / "accelerators.json").read_text(encoding="utf-8")
    facts = json.loads(text, parse_float=Decimal)
    offer = tomllib.loads((directory / "offer.toml").read_text(encoding="utf-8"), parse_float=Decimal)
    priced = offer["currency"] == currency
    cards = facts["accelerators"]
    return CatalogData(
        note="Loaded from the data files",
        terms=tuple(_term(term) for term in facts["terms"]),
        accelerators=tuple(_accelerator(card, priced=priced) for card in cards),
        lots=tuple(_lot(card, count, offer["hosts"]) for card in cards for count in card["cards_per_lot"]),
        options=tuple(_option(option, cards, priced=priced) for option in offer["options"]),
        images=tuple(_image(image) for image in offer["images"]),
    )


def _term(term: Mapping[str, Any]) -> SeedRow:
    values = {"discount": Decimal(term["discount"]), "meant_for": term["meant_for"]}
    return SeedRow(code=str(term["days"]), key=term["days"], values=values)


def _accelerator(card: Mapping[str, Any], *, priced: bool) -> SeedRow:
    values = {name: card[name] for name in ACCELERATOR_FACTS}
    values["driver_minimum"] = card.get("driver_minimum")
    values["conflict"] = card.get("conflict", "")
    if priced:
        price = card["demo_price_card_hour"]
        values["card_hour_amount"] = None if price is None else Decimal(price)
    return SeedRow(code=card["slug"], key=card["slug"], values=values)


def _lot(card: Mapping[str, Any], count: int, hosts: Mapping[str, Mapping[str, int]]) -> SeedRow:
    host = hosts.get(card["slug"])
    values: dict[str, Any] = {"cards": count, "on_sale": True, "specs_are_demo": host is not None}
    for name in ("vcpu", "ram_gb", "nvme_gb"):
        values[name] = None if host is None else host[name] * count
    values["uplink_gbit_s"] = None if host is None else host["uplink_gbit_s"]
    code = f"{card['slug']}x{count}"
    return SeedRow(code=code, key=code, values=values, parent=card["slug"])


def _option(option: Mapping[str, Any], cards: list[Mapping[str, Any]], *, priced: bool) -> SeedRow:
    only = option.get("accelerators")
    values: dict[str, Any] = {
        "name": option["name"],
        "description": option["description"],
        "needs": option.get("needs", ""),
        "unit": option["unit"],
        "recurring": option["recurring"],
        "max_quantity": option["max_quantity"],
        "on_sale": True,
        "for_all_lots": only is None,
    }
    if priced:
        values["unit_amount"] = Decimal(option["unit_amount"])
    unknown = set(only or ()) - {card["slug"] for card in cards}
    if unknown:
        raise ValueError(f"Option {option['code']} names unknown accelerators: {', '.join(sorted(unknown))}.")
    lots = tuple(
        f"{c['slug']}x{count}" for c in cards if c["slug"] in (only or ()) for count in c["cards_per_lot"]
    )
    return SeedRow(code=option["code"], key=option["code"], values=values, many={"lots": lots})


def _image(image: Mapping[str, Any]) -> SeedRow:
    values: dict[str, Any] = {
        name: image[name]
        for name in ("name", "description", "targets", "host_archs", "stack", "stack_version")
    }
    values["driver_minimum"] = image.get("driver_minimum")
    values["on_sale"] = True
    return SeedRow(code=image["code"], key=image["code"], values=values)
