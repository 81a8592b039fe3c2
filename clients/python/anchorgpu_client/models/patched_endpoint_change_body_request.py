from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.endpoint_status_enum import EndpointStatusEnum
from ..types import UNSET, Unset

T = TypeVar("T", bound="PatchedEndpointChangeBodyRequest")


@_attrs_define
class PatchedEndpointChangeBodyRequest:
    """What is left out stays; at least one field.

    Attributes:
        url (str | Unset): https:// and a public name, port 443 or 8443.
        events (list[str] | Unset): Names of events; empty: all. A name that there is not is refused.
        note (str | Unset):
        status (EndpointStatusEnum | Unset):
    """

    url: str | Unset = UNSET
    events: list[str] | Unset = UNSET
    note: str | Unset = UNSET
    status: EndpointStatusEnum | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        url = self.url

        events: list[str] | Unset = UNSET
        if not isinstance(self.events, Unset):
            events = self.events

        note = self.note

        status: str | Unset = UNSET
        if not isinstance(self.status, Unset):
            status = self.status.value

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if url is not UNSET:
            field_dict["url"] = url
        if events is not UNSET:
            field_dict["events"] = events
        if note is not UNSET:
            field_dict["note"] = note
        if status is not UNSET:
            field_dict["status"] = status

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        url = d.pop("url", UNSET)

        events = cast(list[str], d.pop("events", UNSET))

        note = d.pop("note", UNSET)

        _status = d.pop("status", UNSET)
        status: EndpointStatusEnum | Unset
        if isinstance(_status, Unset):
            status = UNSET
        else:
            status = EndpointStatusEnum(_status)

        patched_endpoint_change_body_request = cls(
            url=url,
            events=events,
            note=note,
            status=status,
        )

        return patched_endpoint_change_body_request
