from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="PlannedModel")


@_attrs_define
class PlannedModel:
    """
    Attributes:
        name (str):
        params (int):
        active_params (int): Those that work on one token; fewer with experts.
        layers (int):
        hidden (int):
        vocab (int):
        certain (bool): False: only the size was given, the shape is a guess.
    """

    name: str
    params: int
    active_params: int
    layers: int
    hidden: int
    vocab: int
    certain: bool
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        params = self.params

        active_params = self.active_params

        layers = self.layers

        hidden = self.hidden

        vocab = self.vocab

        certain = self.certain

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "name": name,
                "params": params,
                "active_params": active_params,
                "layers": layers,
                "hidden": hidden,
                "vocab": vocab,
                "certain": certain,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        name = d.pop("name")

        params = d.pop("params")

        active_params = d.pop("active_params")

        layers = d.pop("layers")

        hidden = d.pop("hidden")

        vocab = d.pop("vocab")

        certain = d.pop("certain")

        planned_model = cls(
            name=name,
            params=params,
            active_params=active_params,
            layers=layers,
            hidden=hidden,
            vocab=vocab,
            certain=certain,
        )

        planned_model.additional_properties = d
        return planned_model

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
