from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.finish_enum import FinishEnum

T = TypeVar("T", bound="PlanTerm")


@_attrs_define
class PlanTerm:
    """A lot for a term. Null is not estimated; 0 runs are 0 and have no cost per result.

    Attributes:
        days (int):
        price (str): Decimal text: one lot for the whole term, before options and tax.
        currency (str):
        usable_hours (float): Without loading, pilot, validation and export.
        finish (FinishEnum):
        runs (int | None): Whole runs, typical speed.
        runs_if_slow (int | None):
        per_success (None | str): Decimal text: whole price / (whole runs x chance of success).
        per_success_if_slow (None | str):
        idle_hours (float | None): Usable hours that no whole run fills.
        largest_tokens (int | None): The largest run that ends in time even if slow.
    """

    days: int
    price: str
    currency: str
    usable_hours: float
    finish: FinishEnum
    runs: int | None
    runs_if_slow: int | None
    per_success: None | str
    per_success_if_slow: None | str
    idle_hours: float | None
    largest_tokens: int | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        days = self.days

        price = self.price

        currency = self.currency

        usable_hours = self.usable_hours

        finish = self.finish.value

        runs: int | None
        runs = self.runs

        runs_if_slow: int | None
        runs_if_slow = self.runs_if_slow

        per_success: None | str
        per_success = self.per_success

        per_success_if_slow: None | str
        per_success_if_slow = self.per_success_if_slow

        idle_hours: float | None
        idle_hours = self.idle_hours

        largest_tokens: int | None
        largest_tokens = self.largest_tokens

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "days": days,
                "price": price,
                "currency": currency,
                "usable_hours": usable_hours,
                "finish": finish,
                "runs": runs,
                "runs_if_slow": runs_if_slow,
                "per_success": per_success,
                "per_success_if_slow": per_success_if_slow,
                "idle_hours": idle_hours,
                "largest_tokens": largest_tokens,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        days = d.pop("days")

        price = d.pop("price")

        currency = d.pop("currency")

        usable_hours = d.pop("usable_hours")

        finish = FinishEnum(d.pop("finish"))

        def _parse_runs(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        runs = _parse_runs(d.pop("runs"))

        def _parse_runs_if_slow(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        runs_if_slow = _parse_runs_if_slow(d.pop("runs_if_slow"))

        def _parse_per_success(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        per_success = _parse_per_success(d.pop("per_success"))

        def _parse_per_success_if_slow(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        per_success_if_slow = _parse_per_success_if_slow(d.pop("per_success_if_slow"))

        def _parse_idle_hours(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        idle_hours = _parse_idle_hours(d.pop("idle_hours"))

        def _parse_largest_tokens(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        largest_tokens = _parse_largest_tokens(d.pop("largest_tokens"))

        plan_term = cls(
            days=days,
            price=price,
            currency=currency,
            usable_hours=usable_hours,
            finish=finish,
            runs=runs,
            runs_if_slow=runs_if_slow,
            per_success=per_success,
            per_success_if_slow=per_success_if_slow,
            idle_hours=idle_hours,
            largest_tokens=largest_tokens,
        )

        plan_term.additional_properties = d
        return plan_term

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
