from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.day_free import DayFree


T = TypeVar("T", bound="Availability")


@_attrs_define
class Availability:
    """A look without a lock. Only an order holds cards.

    Attributes:
        lot (str):
        lots (int):
        days (int):
        as_of (datetime.datetime): When this was read.
        earliest_start (datetime.datetime | None): As early as `as_of`: at once. Null: not within the offered days.
        free (list[DayFree]):
    """

    lot: str
    lots: int
    days: int
    as_of: datetime.datetime
    earliest_start: datetime.datetime | None
    free: list[DayFree]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        lot = self.lot

        lots = self.lots

        days = self.days

        as_of = self.as_of.isoformat()

        earliest_start: None | str
        if isinstance(self.earliest_start, datetime.datetime):
            earliest_start = self.earliest_start.isoformat()
        else:
            earliest_start = self.earliest_start

        free = []
        for free_item_data in self.free:
            free_item = free_item_data.to_dict()
            free.append(free_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "lot": lot,
                "lots": lots,
                "days": days,
                "as_of": as_of,
                "earliest_start": earliest_start,
                "free": free,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.day_free import DayFree  # noqa: PLC0415

        d = dict(src_dict)
        lot = d.pop("lot")

        lots = d.pop("lots")

        days = d.pop("days")

        as_of = datetime.datetime.fromisoformat(d.pop("as_of"))

        def _parse_earliest_start(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                earliest_start_type_0 = datetime.datetime.fromisoformat(data)

                return earliest_start_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        earliest_start = _parse_earliest_start(d.pop("earliest_start"))

        free = []
        _free = d.pop("free")
        for free_item_data in _free:
            free_item = DayFree.from_dict(free_item_data)

            free.append(free_item)

        availability = cls(
            lot=lot,
            lots=lots,
            days=days,
            as_of=as_of,
            earliest_start=earliest_start,
            free=free,
        )

        availability.additional_properties = d
        return availability

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
