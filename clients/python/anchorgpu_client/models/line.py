from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.line_facts import LineFacts


T = TypeVar("T", bound="Line")


@_attrs_define
class Line:
    """
    Attributes:
        kind (str): lot, option or tax.
        code (str):
        facts (LineFacts):
        quantity (int):
        unit_amount (str):
        amount (str):
    """

    kind: str
    code: str
    facts: LineFacts
    quantity: int
    unit_amount: str
    amount: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        kind = self.kind

        code = self.code

        facts = self.facts.to_dict()

        quantity = self.quantity

        unit_amount = self.unit_amount

        amount = self.amount

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "kind": kind,
                "code": code,
                "facts": facts,
                "quantity": quantity,
                "unit_amount": unit_amount,
                "amount": amount,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.line_facts import LineFacts  # noqa: PLC0415

        d = dict(src_dict)
        kind = d.pop("kind")

        code = d.pop("code")

        facts = LineFacts.from_dict(d.pop("facts"))

        quantity = d.pop("quantity")

        unit_amount = d.pop("unit_amount")

        amount = d.pop("amount")

        line = cls(
            kind=kind,
            code=code,
            facts=facts,
            quantity=quantity,
            unit_amount=unit_amount,
            amount=amount,
        )

        line.additional_properties = d
        return line

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
