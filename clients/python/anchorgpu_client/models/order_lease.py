from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.order_lease_status_enum import OrderLeaseStatusEnum

T = TypeVar("T", bound="OrderLease")


@_attrs_define
class OrderLease:
    """`starts_at` is when access opened: the term runs from then on.

    Attributes:
        status (OrderLeaseStatusEnum):
        ready_by (datetime.datetime):
        starts_at (datetime.datetime | None):
        ends_at (datetime.datetime | None):
        last_safe_export_at (datetime.datetime | None): Null: the size of the export is not known.
    """

    status: OrderLeaseStatusEnum
    ready_by: datetime.datetime
    starts_at: datetime.datetime | None
    ends_at: datetime.datetime | None
    last_safe_export_at: datetime.datetime | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        status = self.status.value

        ready_by = self.ready_by.isoformat()

        starts_at: None | str
        if isinstance(self.starts_at, datetime.datetime):
            starts_at = self.starts_at.isoformat()
        else:
            starts_at = self.starts_at

        ends_at: None | str
        if isinstance(self.ends_at, datetime.datetime):
            ends_at = self.ends_at.isoformat()
        else:
            ends_at = self.ends_at

        last_safe_export_at: None | str
        if isinstance(self.last_safe_export_at, datetime.datetime):
            last_safe_export_at = self.last_safe_export_at.isoformat()
        else:
            last_safe_export_at = self.last_safe_export_at

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "status": status,
                "ready_by": ready_by,
                "starts_at": starts_at,
                "ends_at": ends_at,
                "last_safe_export_at": last_safe_export_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        status = OrderLeaseStatusEnum(d.pop("status"))

        ready_by = datetime.datetime.fromisoformat(d.pop("ready_by"))

        def _parse_starts_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                starts_at_type_0 = datetime.datetime.fromisoformat(data)

                return starts_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        starts_at = _parse_starts_at(d.pop("starts_at"))

        def _parse_ends_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                ends_at_type_0 = datetime.datetime.fromisoformat(data)

                return ends_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        ends_at = _parse_ends_at(d.pop("ends_at"))

        def _parse_last_safe_export_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                last_safe_export_at_type_0 = datetime.datetime.fromisoformat(data)

                return last_safe_export_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        last_safe_export_at = _parse_last_safe_export_at(d.pop("last_safe_export_at"))

        order_lease = cls(
            status=status,
            ready_by=ready_by,
            starts_at=starts_at,
            ends_at=ends_at,
            last_safe_export_at=last_safe_export_at,
        )

        order_lease.additional_properties = d
        return order_lease

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
