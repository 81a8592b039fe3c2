"""Reads of the catalogue; each says how many queries it makes."""

from catalog.selectors.browse import (
    CatalogueEntry,
    CheapestLot,
    accelerator_by_slug,
    catalogue,
    lot_specs,
    lots_on_sale,
)
from catalog.selectors.choice import (
    ImageVerdict,
    chosen_options,
    image_for,
    images_for,
    lot_offer,
    lot_offers,
    option_offers,
)
from catalog.selectors.current import current_price_version, terms
from catalog.selectors.still import require_still_on_sale

__all__ = [
    "CatalogueEntry",
    "CheapestLot",
    "ImageVerdict",
    "accelerator_by_slug",
    "catalogue",
    "chosen_options",
    "current_price_version",
    "image_for",
    "images_for",
    "lot_offer",
    "lot_offers",
    "lot_specs",
    "lots_on_sale",
    "option_offers",
    "require_still_on_sale",
    "terms",
]
