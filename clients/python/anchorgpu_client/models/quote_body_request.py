from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.bill_to_body_request import BillToBodyRequest
    from ..models.option_body_request import OptionBodyRequest


T = TypeVar("T", bound="QuoteBodyRequest")


@_attrs_define
class QuoteBodyRequest:
    """What is to be priced.

    Attributes:
        lot (str): Id of a lot on sale, such as b200-180x2.
        days (int): A term that is offered.
        image (str): Code of an environment that runs on the card.
        lots (int | Unset):  Default: 1.
        options (list[OptionBodyRequest] | Unset):
        starts_at (datetime.datetime | None | Unset): A whole hour, at least 5 hours and up to 60 days ahead, with its
            zone. Null: as soon as possible.
        bill_to (BillToBodyRequest | Unset): Who is billed. Left out of a quote: a consumer in the shop's country.
    """

    lot: str
    days: int
    image: str
    lots: int | Unset = 1
    options: list[OptionBodyRequest] | Unset = UNSET
    starts_at: datetime.datetime | None | Unset = UNSET
    bill_to: BillToBodyRequest | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        lot = self.lot

        days = self.days

        image = self.image

        lots = self.lots

        options: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.options, Unset):
            options = []
            for options_item_data in self.options:
                options_item = options_item_data.to_dict()
                options.append(options_item)

        starts_at: None | str | Unset
        if isinstance(self.starts_at, Unset):
            starts_at = UNSET
        elif isinstance(self.starts_at, datetime.datetime):
            starts_at = self.starts_at.isoformat()
        else:
            starts_at = self.starts_at

        bill_to: dict[str, Any] | Unset = UNSET
        if not isinstance(self.bill_to, Unset):
            bill_to = self.bill_to.to_dict()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "lot": lot,
                "days": days,
                "image": image,
            }
        )
        if lots is not UNSET:
            field_dict["lots"] = lots
        if options is not UNSET:
            field_dict["options"] = options
        if starts_at is not UNSET:
            field_dict["starts_at"] = starts_at
        if bill_to is not UNSET:
            field_dict["bill_to"] = bill_to

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.bill_to_body_request import BillToBodyRequest  # noqa: PLC0415
        from ..models.option_body_request import OptionBodyRequest  # noqa: PLC0415

        d = dict(src_dict)
        lot = d.pop("lot")

        days = d.pop("days")

        image = d.pop("image")

        lots = d.pop("lots", UNSET)

        _options = d.pop("options", UNSET)
        options: list[OptionBodyRequest] | Unset = UNSET
        if _options is not UNSET:
            options = []
            for options_item_data in _options:
                options_item = OptionBodyRequest.from_dict(options_item_data)

                options.append(options_item)

        def _parse_starts_at(data: object) -> datetime.datetime | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                starts_at_type_0 = datetime.datetime.fromisoformat(data)

                return starts_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None | Unset, data)

        starts_at = _parse_starts_at(d.pop("starts_at", UNSET))

        _bill_to = d.pop("bill_to", UNSET)
        bill_to: BillToBodyRequest | Unset
        if isinstance(_bill_to, Unset):
            bill_to = UNSET
        else:
            bill_to = BillToBodyRequest.from_dict(_bill_to)

        quote_body_request = cls(
            lot=lot,
            days=days,
            image=image,
            lots=lots,
            options=options,
            starts_at=starts_at,
            bill_to=bill_to,
        )

        return quote_body_request
