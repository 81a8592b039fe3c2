from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

from ..models.rail_enum import RailEnum

T = TypeVar("T", bound="PayWithBodyRequest")


@_attrs_define
class PayWithBodyRequest:
    """How it is paid; `pay_with` of the root lists what is offered.

    Attributes:
        rail (RailEnum):
        network (str):
        asset (str):
    """

    rail: RailEnum
    network: str
    asset: str

    def to_dict(self) -> dict[str, Any]:
        rail = self.rail.value

        network = self.network

        asset = self.asset

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "rail": rail,
                "network": network,
                "asset": asset,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        rail = RailEnum(d.pop("rail"))

        network = d.pop("network")

        asset = d.pop("asset")

        pay_with_body_request = cls(
            rail=rail,
            network=network,
            asset=asset,
        )

        return pay_with_body_request
