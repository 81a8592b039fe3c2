from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.kind_enum import KindEnum
from ..types import UNSET, Unset

T = TypeVar("T", bound="BillToBodyRequest")


@_attrs_define
class BillToBodyRequest:
    """Who is billed. Left out of a quote: a consumer in the shop's country.

    Attributes:
        country (str): ISO 3166-1 alpha-2, such as DE.
        kind (KindEnum | Unset):  Default: KindEnum.CONSUMER.
        vat_id (None | str | Unset): Only of a business.
    """

    country: str
    kind: KindEnum | Unset = KindEnum.CONSUMER
    vat_id: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        country = self.country

        kind: str | Unset = UNSET
        if not isinstance(self.kind, Unset):
            kind = self.kind.value

        vat_id: None | str | Unset
        if isinstance(self.vat_id, Unset):
            vat_id = UNSET
        else:
            vat_id = self.vat_id

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "country": country,
            }
        )
        if kind is not UNSET:
            field_dict["kind"] = kind
        if vat_id is not UNSET:
            field_dict["vat_id"] = vat_id

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        country = d.pop("country")

        _kind = d.pop("kind", UNSET)
        kind: KindEnum | Unset
        if isinstance(_kind, Unset):
            kind = UNSET
        else:
            kind = KindEnum(_kind)

        def _parse_vat_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        vat_id = _parse_vat_id(d.pop("vat_id", UNSET))

        bill_to_body_request = cls(
            country=country,
            kind=kind,
            vat_id=vat_id,
        )

        return bill_to_body_request
