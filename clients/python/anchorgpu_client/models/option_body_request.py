from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="OptionBodyRequest")


@_attrs_define
class OptionBodyRequest:
    """An object with these fields and no others.

    Attributes:
        code (str):
        quantity (int):
    """

    code: str
    quantity: int

    def to_dict(self) -> dict[str, Any]:
        code = self.code

        quantity = self.quantity

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "code": code,
                "quantity": quantity,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        code = d.pop("code")

        quantity = d.pop("quantity")

        option_body_request = cls(
            code=code,
            quantity=quantity,
        )

        return option_body_request
