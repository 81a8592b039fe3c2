from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="PlanPilotRequest")


@_attrs_define
class PlanPilotRequest:
    """Numbers from a pilot run. They replace estimates and rank every lot anew.

    Attributes:
        lot (str): Where it ran; needed as soon as a number is given.
        step_seconds (float | Unset): Per optimizer step, after warm-up.
        peak_gib (float | Unset): Peak allocated memory of one card.
        restore_minutes (float | Unset): To restore a checkpoint in a new process.
    """

    lot: str
    step_seconds: float | Unset = UNSET
    peak_gib: float | Unset = UNSET
    restore_minutes: float | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        lot = self.lot

        step_seconds = self.step_seconds

        peak_gib = self.peak_gib

        restore_minutes = self.restore_minutes

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "lot": lot,
            }
        )
        if step_seconds is not UNSET:
            field_dict["step_seconds"] = step_seconds
        if peak_gib is not UNSET:
            field_dict["peak_gib"] = peak_gib
        if restore_minutes is not UNSET:
            field_dict["restore_minutes"] = restore_minutes

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        lot = d.pop("lot")

        step_seconds = d.pop("step_seconds", UNSET)

        peak_gib = d.pop("peak_gib", UNSET)

        restore_minutes = d.pop("restore_minutes", UNSET)

        plan_pilot_request = cls(
            lot=lot,
            step_seconds=step_seconds,
            peak_gib=peak_gib,
            restore_minutes=restore_minutes,
        )

        return plan_pilot_request
