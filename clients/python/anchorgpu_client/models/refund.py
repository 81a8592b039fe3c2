from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.refund_status_enum import RefundStatusEnum

T = TypeVar("T", bound="Refund")


@_attrs_define
class Refund:
    """
    Attributes:
        status (RefundStatusEnum):
        amount (str): Decimal text, of the asset.
        asset (str):
        network (str):
        reason (str):
        transaction_hash (str): Empty until it was sent.
    """

    status: RefundStatusEnum
    amount: str
    asset: str
    network: str
    reason: str
    transaction_hash: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        status = self.status.value

        amount = self.amount

        asset = self.asset

        network = self.network

        reason = self.reason

        transaction_hash = self.transaction_hash

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "status": status,
                "amount": amount,
                "asset": asset,
                "network": network,
                "reason": reason,
                "transaction_hash": transaction_hash,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        status = RefundStatusEnum(d.pop("status"))

        amount = d.pop("amount")

        asset = d.pop("asset")

        network = d.pop("network")

        reason = d.pop("reason")

        transaction_hash = d.pop("transaction_hash")

        refund = cls(
            status=status,
            amount=amount,
            asset=asset,
            network=network,
            reason=reason,
            transaction_hash=transaction_hash,
        )

        refund.additional_properties = d
        return refund

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
