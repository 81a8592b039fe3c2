"""What is rented, in which form and at which published price: the tables that the operator fills."""

from catalog.models.accelerator import Accelerator
from catalog.models.draft import PriceDraft
from catalog.models.image import Image
from catalog.models.lot import Lot, Term
from catalog.models.option import Option
from catalog.models.price import LotPrice, OptionPrice, PriceVersion
from catalog.models.seeded import SeededRow

__all__ = [
    "Accelerator",
    "Image",
    "Lot",
    "LotPrice",
    "Option",
    "OptionPrice",
    "PriceDraft",
    "PriceVersion",
    "SeededRow",
    "Term",
]
