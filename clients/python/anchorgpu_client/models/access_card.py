from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="AccessCard")


@_attrs_define
class AccessCard:
    """
    Attributes:
        node (str):
        index (int):
        serial (str):
        accelerator (str):
    """

    node: str
    index: int
    serial: str
    accelerator: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        node = self.node

        index = self.index

        serial = self.serial

        accelerator = self.accelerator

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "node": node,
                "index": index,
                "serial": serial,
                "accelerator": accelerator,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        node = d.pop("node")

        index = d.pop("index")

        serial = d.pop("serial")

        accelerator = d.pop("accelerator")

        access_card = cls(
            node=node,
            index=index,
            serial=serial,
            accelerator=accelerator,
        )

        access_card.additional_properties = d
        return access_card

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
