from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.access_card import AccessCard


T = TypeVar("T", bound="Access")


@_attrs_define
class Access:
    """How to log in, and by what the machine is known.

    Attributes:
        host (str):
        port (int):
        user (str):
        host_key (str): A line for known_hosts.
        host_key_fingerprint (str):
        ssh_key_fingerprints (list[str]): Of the keys that open it.
        cards (list[AccessCard]):
        starts_at (datetime.datetime):
        ends_at (datetime.datetime):
    """

    host: str
    port: int
    user: str
    host_key: str
    host_key_fingerprint: str
    ssh_key_fingerprints: list[str]
    cards: list[AccessCard]
    starts_at: datetime.datetime
    ends_at: datetime.datetime
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        host = self.host

        port = self.port

        user = self.user

        host_key = self.host_key

        host_key_fingerprint = self.host_key_fingerprint

        ssh_key_fingerprints = self.ssh_key_fingerprints

        cards = []
        for cards_item_data in self.cards:
            cards_item = cards_item_data.to_dict()
            cards.append(cards_item)

        starts_at = self.starts_at.isoformat()

        ends_at = self.ends_at.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "host": host,
                "port": port,
                "user": user,
                "host_key": host_key,
                "host_key_fingerprint": host_key_fingerprint,
                "ssh_key_fingerprints": ssh_key_fingerprints,
                "cards": cards,
                "starts_at": starts_at,
                "ends_at": ends_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.access_card import AccessCard  # noqa: PLC0415

        d = dict(src_dict)
        host = d.pop("host")

        port = d.pop("port")

        user = d.pop("user")

        host_key = d.pop("host_key")

        host_key_fingerprint = d.pop("host_key_fingerprint")

        ssh_key_fingerprints = cast(list[str], d.pop("ssh_key_fingerprints"))

        cards = []
        _cards = d.pop("cards")
        for cards_item_data in _cards:
            cards_item = AccessCard.from_dict(cards_item_data)

            cards.append(cards_item)

        starts_at = datetime.datetime.fromisoformat(d.pop("starts_at"))

        ends_at = datetime.datetime.fromisoformat(d.pop("ends_at"))

        access = cls(
            host=host,
            port=port,
            user=user,
            host_key=host_key,
            host_key_fingerprint=host_key_fingerprint,
            ssh_key_fingerprints=ssh_key_fingerprints,
            cards=cards,
            starts_at=starts_at,
            ends_at=ends_at,
        )

        access.additional_properties = d
        return access

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
