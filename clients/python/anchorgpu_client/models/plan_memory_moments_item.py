from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

from ..models.plan_memory_moments_item_moment import PlanMemoryMomentsItemMoment

T = TypeVar("T", bound="PlanMemoryMomentsItem")


@_attrs_define
class PlanMemoryMomentsItem:
    """
    Attributes:
        moment (PlanMemoryMomentsItemMoment):
        weights_gib (float):
        gradients_gib (float):
        optimizer_gib (float):
        copies_gib (float):
        kept_gib (float):
        working_gib (float):
        buffers_gib (float):
        total_gib (float):
    """

    moment: PlanMemoryMomentsItemMoment
    weights_gib: float
    gradients_gib: float
    optimizer_gib: float
    copies_gib: float
    kept_gib: float
    working_gib: float
    buffers_gib: float
    total_gib: float

    def to_dict(self) -> dict[str, Any]:
        moment = self.moment.value

        weights_gib = self.weights_gib

        gradients_gib = self.gradients_gib

        optimizer_gib = self.optimizer_gib

        copies_gib = self.copies_gib

        kept_gib = self.kept_gib

        working_gib = self.working_gib

        buffers_gib = self.buffers_gib

        total_gib = self.total_gib

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "moment": moment,
                "weights_gib": weights_gib,
                "gradients_gib": gradients_gib,
                "optimizer_gib": optimizer_gib,
                "copies_gib": copies_gib,
                "kept_gib": kept_gib,
                "working_gib": working_gib,
                "buffers_gib": buffers_gib,
                "total_gib": total_gib,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        moment = PlanMemoryMomentsItemMoment(d.pop("moment"))

        weights_gib = d.pop("weights_gib")

        gradients_gib = d.pop("gradients_gib")

        optimizer_gib = d.pop("optimizer_gib")

        copies_gib = d.pop("copies_gib")

        kept_gib = d.pop("kept_gib")

        working_gib = d.pop("working_gib")

        buffers_gib = d.pop("buffers_gib")

        total_gib = d.pop("total_gib")

        plan_memory_moments_item = cls(
            moment=moment,
            weights_gib=weights_gib,
            gradients_gib=gradients_gib,
            optimizer_gib=optimizer_gib,
            copies_gib=copies_gib,
            kept_gib=kept_gib,
            working_gib=working_gib,
            buffers_gib=buffers_gib,
            total_gib=total_gib,
        )

        return plan_memory_moments_item
