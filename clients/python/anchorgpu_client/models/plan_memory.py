from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.binding_enum import BindingEnum

if TYPE_CHECKING:
    from ..models.plan_memory_moments_item import PlanMemoryMomentsItem
    from ..models.plan_range import PlanRange


T = TypeVar("T", bound="PlanMemory")


@_attrs_define
class PlanMemory:
    """Memory of one card.

    Attributes:
        moments (list[PlanMemoryMomentsItem]): GiB (2^30 bytes) by component at the start and the end of the backward
            pass and at the optimizer step; `kept` and `working` are activations.
        binding (BindingEnum):
        tensors_gib (PlanRange):
        required_gib (PlanRange):
        judged_gib (float): The figure that verdicts rest on.
        shown_gib (PlanRange):
    """

    moments: list[PlanMemoryMomentsItem]
    binding: BindingEnum
    tensors_gib: PlanRange
    required_gib: PlanRange
    judged_gib: float
    shown_gib: PlanRange
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        moments = []
        for moments_item_data in self.moments:
            moments_item = moments_item_data.to_dict()
            moments.append(moments_item)

        binding = self.binding.value

        tensors_gib = self.tensors_gib.to_dict()

        required_gib = self.required_gib.to_dict()

        judged_gib = self.judged_gib

        shown_gib = self.shown_gib.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "moments": moments,
                "binding": binding,
                "tensors_gib": tensors_gib,
                "required_gib": required_gib,
                "judged_gib": judged_gib,
                "shown_gib": shown_gib,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.plan_memory_moments_item import PlanMemoryMomentsItem  # noqa: PLC0415
        from ..models.plan_range import PlanRange  # noqa: PLC0415

        d = dict(src_dict)
        moments = []
        _moments = d.pop("moments")
        for moments_item_data in _moments:
            moments_item = PlanMemoryMomentsItem.from_dict(moments_item_data)

            moments.append(moments_item)

        binding = BindingEnum(d.pop("binding"))

        tensors_gib = PlanRange.from_dict(d.pop("tensors_gib"))

        required_gib = PlanRange.from_dict(d.pop("required_gib"))

        judged_gib = d.pop("judged_gib")

        shown_gib = PlanRange.from_dict(d.pop("shown_gib"))

        plan_memory = cls(
            moments=moments,
            binding=binding,
            tensors_gib=tensors_gib,
            required_gib=required_gib,
            judged_gib=judged_gib,
            shown_gib=shown_gib,
        )

        plan_memory.additional_properties = d
        return plan_memory

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
