from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.pay_with_body_request import PayWithBodyRequest


T = TypeVar("T", bound="ExtensionBodyRequest")


@_attrs_define
class ExtensionBodyRequest:
    """How much longer, paid how. Everything else is as the order has it, at today's price.

    Attributes:
        days (int):
        pay_with (PayWithBodyRequest): How it is paid; `pay_with` of the root lists what is offered.
    """

    days: int
    pay_with: PayWithBodyRequest

    def to_dict(self) -> dict[str, Any]:
        days = self.days

        pay_with = self.pay_with.to_dict()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "days": days,
                "pay_with": pay_with,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.pay_with_body_request import PayWithBodyRequest  # noqa: PLC0415

        d = dict(src_dict)
        days = d.pop("days")

        pay_with = PayWithBodyRequest.from_dict(d.pop("pay_with"))

        extension_body_request = cls(
            days=days,
            pay_with=pay_with,
        )

        return extension_body_request
