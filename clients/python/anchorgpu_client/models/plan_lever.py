from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.code_enum import CodeEnum
from ..models.speed_enum import SpeedEnum

T = TypeVar("T", bound="PlanLever")


@_attrs_define
class PlanLever:
    """A cheaper way, judged alone.

    Attributes:
        code (CodeEnum):
        required_gib (float):
        saved_gib (float):
        helps (bool): False: it does not lower the moment that binds.
        speed (SpeedEnum):
        slower (list[float] | None): Share of the speed lost, low and high.
    """

    code: CodeEnum
    required_gib: float
    saved_gib: float
    helps: bool
    speed: SpeedEnum
    slower: list[float] | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        code = self.code.value

        required_gib = self.required_gib

        saved_gib = self.saved_gib

        helps = self.helps

        speed = self.speed.value

        slower: list[float] | None
        if isinstance(self.slower, list):
            slower = self.slower

        else:
            slower = self.slower

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "code": code,
                "required_gib": required_gib,
                "saved_gib": saved_gib,
                "helps": helps,
                "speed": speed,
                "slower": slower,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        code = CodeEnum(d.pop("code"))

        required_gib = d.pop("required_gib")

        saved_gib = d.pop("saved_gib")

        helps = d.pop("helps")

        speed = SpeedEnum(d.pop("speed"))

        def _parse_slower(data: object) -> list[float] | None:
            if data is None:
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                slower_type_0 = cast(list[float], data)

                return slower_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[float] | None, data)

        slower = _parse_slower(d.pop("slower"))

        plan_lever = cls(
            code=code,
            required_gib=required_gib,
            saved_gib=saved_gib,
            helps=helps,
            speed=speed,
            slower=slower,
        )

        plan_lever.additional_properties = d
        return plan_lever

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
