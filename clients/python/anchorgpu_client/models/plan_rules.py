from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.table_row_enum import TableRowEnum

if TYPE_CHECKING:
    from ..models.plan_note import PlanNote


T = TypeVar("T", bound="PlanRules")


@_attrs_define
class PlanRules:
    """What circulating rules say, in GB (10^9 bytes), and why we differ.

    Attributes:
        rule_gb (float): 16 GB per billion parameters.
        table_row (None | TableRowEnum):
        table_gb (float | None):
        ours_gb (float):
        reasons (list[PlanNote]):
    """

    rule_gb: float
    table_row: None | TableRowEnum
    table_gb: float | None
    ours_gb: float
    reasons: list[PlanNote]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        rule_gb = self.rule_gb

        table_row: None | str
        if isinstance(self.table_row, TableRowEnum):
            table_row = self.table_row.value
        else:
            table_row = self.table_row

        table_gb: float | None
        table_gb = self.table_gb

        ours_gb = self.ours_gb

        reasons = []
        for reasons_item_data in self.reasons:
            reasons_item = reasons_item_data.to_dict()
            reasons.append(reasons_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "rule_gb": rule_gb,
                "table_row": table_row,
                "table_gb": table_gb,
                "ours_gb": ours_gb,
                "reasons": reasons,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.plan_note import PlanNote  # noqa: PLC0415

        d = dict(src_dict)
        rule_gb = d.pop("rule_gb")

        def _parse_table_row(data: object) -> None | TableRowEnum:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                table_row_type_0 = TableRowEnum(data)

                return table_row_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | TableRowEnum, data)

        table_row = _parse_table_row(d.pop("table_row"))

        def _parse_table_gb(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        table_gb = _parse_table_gb(d.pop("table_gb"))

        ours_gb = d.pop("ours_gb")

        reasons = []
        _reasons = d.pop("reasons")
        for reasons_item_data in _reasons:
            reasons_item = PlanNote.from_dict(reasons_item_data)

            reasons.append(reasons_item)

        plan_rules = cls(
            rule_gb=rule_gb,
            table_row=table_row,
            table_gb=table_gb,
            ours_gb=ours_gb,
            reasons=reasons,
        )

        plan_rules.additional_properties = d
        return plan_rules

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
