from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="EndpointBodyRequest")


@_attrs_define
class EndpointBodyRequest:
    """Where events go.

    Attributes:
        url (str): https:// and a public name, port 443 or 8443.
        events (list[str] | Unset): Names of events; empty: all. A name that there is not is refused.
        note (str | Unset): For yourselves. Default: ''.
    """

    url: str
    events: list[str] | Unset = UNSET
    note: str | Unset = ""

    def to_dict(self) -> dict[str, Any]:
        url = self.url

        events: list[str] | Unset = UNSET
        if not isinstance(self.events, Unset):
            events = self.events

        note = self.note

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "url": url,
            }
        )
        if events is not UNSET:
            field_dict["events"] = events
        if note is not UNSET:
            field_dict["note"] = note

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        url = d.pop("url")

        events = cast(list[str], d.pop("events", UNSET))

        note = d.pop("note", UNSET)

        endpoint_body_request = cls(
            url=url,
            events=events,
            note=note,
        )

        return endpoint_body_request
