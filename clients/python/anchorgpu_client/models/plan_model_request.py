from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.preset_enum import PresetEnum
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.plan_model_request_config_type_0 import PlanModelRequestConfigType0


T = TypeVar("T", bound="PlanModelRequest")


@_attrs_define
class PlanModelRequest:
    """Exactly one of the three.

    Attributes:
        preset (PresetEnum | Unset):
        config (PlanModelRequestConfigType0 | str | Unset): The config.json of a transformer language model, as an
            object or as text. Not in the list of known models: paste it. It counts towards the 64 KB of the body.
        params (int | str | Unset): A size alone, such as 8e9 or 8B. The shape is guessed, so that the ranges are wide.
    """

    preset: PresetEnum | Unset = UNSET
    config: PlanModelRequestConfigType0 | str | Unset = UNSET
    params: int | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        from ..models.plan_model_request_config_type_0 import PlanModelRequestConfigType0  # noqa: PLC0415

        preset: str | Unset = UNSET
        if not isinstance(self.preset, Unset):
            preset = self.preset.value

        config: dict[str, Any] | str | Unset
        if isinstance(self.config, Unset):
            config = UNSET
        elif isinstance(self.config, PlanModelRequestConfigType0):
            config = self.config.to_dict()
        else:
            config = self.config

        params: int | str | Unset
        if isinstance(self.params, Unset):
            params = UNSET
        else:
            params = self.params

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if preset is not UNSET:
            field_dict["preset"] = preset
        if config is not UNSET:
            field_dict["config"] = config
        if params is not UNSET:
            field_dict["params"] = params

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.plan_model_request_config_type_0 import PlanModelRequestConfigType0  # noqa: PLC0415

        d = dict(src_dict)
        _preset = d.pop("preset", UNSET)
        preset: PresetEnum | Unset
        if isinstance(_preset, Unset):
            preset = UNSET
        else:
            preset = PresetEnum(_preset)

        def _parse_config(data: object) -> PlanModelRequestConfigType0 | str | Unset:
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                config_type_0 = PlanModelRequestConfigType0.from_dict(data)

                return config_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(PlanModelRequestConfigType0 | str | Unset, data)

        config = _parse_config(d.pop("config", UNSET))

        def _parse_params(data: object) -> int | str | Unset:
            if isinstance(data, Unset):
                return data
            return cast(int | str | Unset, data)

        params = _parse_params(d.pop("params", UNSET))

        plan_model_request = cls(
            preset=preset,
            config=config,
            params=params,
        )

        return plan_model_request
