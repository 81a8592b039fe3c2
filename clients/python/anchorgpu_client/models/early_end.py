from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.early_end_part import EarlyEndPart


T = TypeVar("T", bound="EarlyEnd")


@_attrs_define
class EarlyEnd:
    """What falls due as a refund: whole unused days at half of what was paid for a day.

    Attributes:
        order (str):
        ended_at (datetime.datetime):
        unused_days (int):
        amount (str): Decimal text.
        currency (str):
        parts (list[EarlyEndPart]):
    """

    order: str
    ended_at: datetime.datetime
    unused_days: int
    amount: str
    currency: str
    parts: list[EarlyEndPart]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        order = self.order

        ended_at = self.ended_at.isoformat()

        unused_days = self.unused_days

        amount = self.amount

        currency = self.currency

        parts = []
        for parts_item_data in self.parts:
            parts_item = parts_item_data.to_dict()
            parts.append(parts_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "order": order,
                "ended_at": ended_at,
                "unused_days": unused_days,
                "amount": amount,
                "currency": currency,
                "parts": parts,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.early_end_part import EarlyEndPart  # noqa: PLC0415

        d = dict(src_dict)
        order = d.pop("order")

        ended_at = datetime.datetime.fromisoformat(d.pop("ended_at"))

        unused_days = d.pop("unused_days")

        amount = d.pop("amount")

        currency = d.pop("currency")

        parts = []
        _parts = d.pop("parts")
        for parts_item_data in _parts:
            parts_item = EarlyEndPart.from_dict(parts_item_data)

            parts.append(parts_item)

        early_end = cls(
            order=order,
            ended_at=ended_at,
            unused_days=unused_days,
            amount=amount,
            currency=currency,
            parts=parts,
        )

        early_end.additional_properties = d
        return early_end

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
