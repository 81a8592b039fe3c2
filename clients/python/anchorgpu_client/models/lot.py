from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.lot_price import LotPrice


T = TypeVar("T", bound="Lot")


@_attrs_define
class Lot:
    """What is on sale: N cards of one node. Host figures are of one lot; null is unknown.

    Attributes:
        id (str):
        accelerator (str):
        cards (int):
        memory_gb (int | None): Of one card.
        vcpu (int | None):
        ram_gb (int | None):
        nvme_gb (int | None):
        uplink_gbit_s (int | None):
        specs_are_demo (bool): True: the host figures describe no real machine.
        price_version (int):
        prices (list[LotPrice]):
        images (list[str]): Codes of environments that run here.
        options (list[str]): Codes of options sold with it.
    """

    id: str
    accelerator: str
    cards: int
    memory_gb: int | None
    vcpu: int | None
    ram_gb: int | None
    nvme_gb: int | None
    uplink_gbit_s: int | None
    specs_are_demo: bool
    price_version: int
    prices: list[LotPrice]
    images: list[str]
    options: list[str]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        accelerator = self.accelerator

        cards = self.cards

        memory_gb: int | None
        memory_gb = self.memory_gb

        vcpu: int | None
        vcpu = self.vcpu

        ram_gb: int | None
        ram_gb = self.ram_gb

        nvme_gb: int | None
        nvme_gb = self.nvme_gb

        uplink_gbit_s: int | None
        uplink_gbit_s = self.uplink_gbit_s

        specs_are_demo = self.specs_are_demo

        price_version = self.price_version

        prices = []
        for prices_item_data in self.prices:
            prices_item = prices_item_data.to_dict()
            prices.append(prices_item)

        images = self.images

        options = self.options

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "accelerator": accelerator,
                "cards": cards,
                "memory_gb": memory_gb,
                "vcpu": vcpu,
                "ram_gb": ram_gb,
                "nvme_gb": nvme_gb,
                "uplink_gbit_s": uplink_gbit_s,
                "specs_are_demo": specs_are_demo,
                "price_version": price_version,
                "prices": prices,
                "images": images,
                "options": options,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.lot_price import LotPrice  # noqa: PLC0415

        d = dict(src_dict)
        id = d.pop("id")

        accelerator = d.pop("accelerator")

        cards = d.pop("cards")

        def _parse_memory_gb(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        memory_gb = _parse_memory_gb(d.pop("memory_gb"))

        def _parse_vcpu(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        vcpu = _parse_vcpu(d.pop("vcpu"))

        def _parse_ram_gb(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        ram_gb = _parse_ram_gb(d.pop("ram_gb"))

        def _parse_nvme_gb(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        nvme_gb = _parse_nvme_gb(d.pop("nvme_gb"))

        def _parse_uplink_gbit_s(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        uplink_gbit_s = _parse_uplink_gbit_s(d.pop("uplink_gbit_s"))

        specs_are_demo = d.pop("specs_are_demo")

        price_version = d.pop("price_version")

        prices = []
        _prices = d.pop("prices")
        for prices_item_data in _prices:
            prices_item = LotPrice.from_dict(prices_item_data)

            prices.append(prices_item)

        images = cast(list[str], d.pop("images"))

        options = cast(list[str], d.pop("options"))

        lot = cls(
            id=id,
            accelerator=accelerator,
            cards=cards,
            memory_gb=memory_gb,
            vcpu=vcpu,
            ram_gb=ram_gb,
            nvme_gb=nvme_gb,
            uplink_gbit_s=uplink_gbit_s,
            specs_are_demo=specs_are_demo,
            price_version=price_version,
            prices=prices,
            images=images,
            options=options,
        )

        lot.additional_properties = d
        return lot

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
