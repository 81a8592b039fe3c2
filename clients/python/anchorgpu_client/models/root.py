from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.pay_with import PayWith


T = TypeVar("T", bound="Root")


@_attrs_define
class Root:
    """
    Attributes:
        name (str):
        version (str):
        currency (str): The one currency of all amounts, ISO 4217.
        simulated (bool): True: nothing that is rented here exists.
        notice (None | str):
        terms_version (str): What `accept_terms` of an order names.
        pay_with (list[PayWith]): Ways of paying that are offered at this moment.
    """

    name: str
    version: str
    currency: str
    simulated: bool
    notice: None | str
    terms_version: str
    pay_with: list[PayWith]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        version = self.version

        currency = self.currency

        simulated = self.simulated

        notice: None | str
        notice = self.notice

        terms_version = self.terms_version

        pay_with = []
        for pay_with_item_data in self.pay_with:
            pay_with_item = pay_with_item_data.to_dict()
            pay_with.append(pay_with_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "name": name,
                "version": version,
                "currency": currency,
                "simulated": simulated,
                "notice": notice,
                "terms_version": terms_version,
                "pay_with": pay_with,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.pay_with import PayWith  # noqa: PLC0415

        d = dict(src_dict)
        name = d.pop("name")

        version = d.pop("version")

        currency = d.pop("currency")

        simulated = d.pop("simulated")

        def _parse_notice(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        notice = _parse_notice(d.pop("notice"))

        terms_version = d.pop("terms_version")

        pay_with = []
        _pay_with = d.pop("pay_with")
        for pay_with_item_data in _pay_with:
            pay_with_item = PayWith.from_dict(pay_with_item_data)

            pay_with.append(pay_with_item)

        root = cls(
            name=name,
            version=version,
            currency=currency,
            simulated=simulated,
            notice=notice,
            terms_version=terms_version,
            pay_with=pay_with,
        )

        root.additional_properties = d
        return root

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
