"""Every lot of the catalogue's data file, as the planner reads lots: without a database."""

import json
from decimal import Decimal
from pathlib import Path

from planner.lots import GivenLot

ROOT = Path(__file__).parents[2]


def catalogue_lots() -> list[GivenLot]:
    data = json.loads((ROOT / "catalog/data/accelerators.json").read_text(encoding="utf-8"))
    return [
        _lot(card, cards, data["terms"])
        for card in data["accelerators"]
        if card["demo_price_card_hour"]
        for cards in card["cards_per_lot"]
    ]


def _lot(card: dict[str, object], cards: int, terms: list[dict[str, object]]) -> GivenLot:
    hour = Decimal(str(card["demo_price_card_hour"]))
    names = ("memory_gb", "usable_gib", "bandwidth_gb_s", "bf16_dense_tflops", "fp8_dense_tflops")
    return GivenLot(
        code=f"{card['slug']}x{cards}",
        accelerator_slug=str(card["slug"]),
        accelerator_name=str(card["name"]),
        cards=cards,
        **{name: card[name] for name in names},  # type: ignore[arg-type]  # the file's own types
        stack=str(card["stack"]),
        target=str(card["target"]),
        link=str(card["link"]) if card["link"] else None,
        link_gb_s=float(str(card["link_gb_s"])) if card["link_gb_s"] else None,
        currency="USD",
        prices={
            int(str(term["days"])): round(
                hour * cards * 24 * int(str(term["days"])) * (1 - Decimal(str(term["discount"]))), 2
            )
            for term in terms
        },
    )
