"""Reads of the catalogue; each says how many queries it makes."""

from catalog.selectors.browse import (
    CatalogueEntry,
    CheapestLot,
    ListedLot,
    accelerator_by_slug,
    catalogue,
    lot_specs,
    lots_on_sale,
)
from catalog.selectors.choice import (
    ImageVerdict,
    OptionSheet,
    chosen_options,
    images_for,
    lot_offer,
    lot_offer_of,
    lot_offers,
    option_offers,
    option_sheet,
    options_from,
)
from catalog.selectors.current import current_price_version, terms
from catalog.selectors.sale import Sale, options_by_term, sale_of
from catalog.selectors.shelf import Shelf, current_shelf
from catalog.selectors.stamp import catalogue_stamp
from catalog.selectors.still import require_still_on_sale

__all__ = [
    "CatalogueEntry",
    "CheapestLot",
    "ImageVerdict",
    "ListedLot",
    "OptionSheet",
    "Sale",
    "Shelf",
    "accelerator_by_slug",
    "catalogue",
    "catalogue_stamp",
    "chosen_options",
    "current_price_version",
    "current_shelf",
    "images_for",
    "lot_offer",
    "lot_offer_of",
    "lot_offers",
    "lot_specs",
    "lots_on_sale",
    "option_offers",
    "option_sheet",
    "options_by_term",
    "options_from",
    "require_still_on_sale",
    "sale_of",
    "terms",
]
