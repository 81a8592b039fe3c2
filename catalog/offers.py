"""Frozen facts of what is on sale at one published price table; what pricing works on and a quote keeps."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True, slots=True)
class LotOffer:
    """One lot for one term. Amounts are of one lot for the whole term, rounded at publication."""

    lot_code: str
    accelerator_slug: str
    accelerator_name: str
    cards: int
    days: int
    amount: Decimal
    list_amount: Decimal
    card_hour_amount: Decimal
    discount: Decimal
    currency: str
    price_version: int


@dataclass(frozen=True, slots=True)
class OptionOffer:
    """One option for one term. `unit_amount` is of one unit for the whole term, rounded at publication."""

    code: str
    name: str
    description: str
    needs: str
    unit: str
    recurring: bool
    max_quantity: int
    days: int
    unit_amount: Decimal
    currency: str
    price_version: int


@dataclass(frozen=True, slots=True)
class OptionChoice:
    """What a buyer asks for, not yet checked."""

    code: str
    quantity: int


@dataclass(frozen=True, slots=True)
class ChosenOption:
    """An option that is sold for the lot, in a quantity within its bound."""

    offer: OptionOffer
    quantity: int


@dataclass(frozen=True, slots=True)
class LotSpecRow:
    """A lot on sale as the planner sees it (it satisfies planner.lots.LotSpec). None is unknown."""

    code: str
    accelerator_slug: str
    accelerator_name: str
    cards: int
    memory_gb: int | None
    usable_gib: float | None
    bandwidth_gb_s: int | None
    bf16_dense_tflops: int | None
    fp8_dense_tflops: int | None
    stack: str
    target: str
    link: str | None
    link_gb_s: float | None
    currency: str
    prices: Mapping[int, Decimal]


@dataclass(frozen=True, slots=True)
class LotListing:
    """A lot on sale as the catalogue of the API shows it. None is unknown."""

    code: str
    accelerator_slug: str
    accelerator_name: str
    cards: int
    memory_gb: int | None
    vcpu: int | None
    ram_gb: int | None
    nvme_gb: int | None
    uplink_gbit_s: int | None
    specs_are_demo: bool
    currency: str
    price_version: int
    prices: Mapping[int, Decimal]
    images: tuple[str, ...]
    options: tuple[str, ...]
