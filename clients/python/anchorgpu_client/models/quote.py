from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.quote_status_enum import QuoteStatusEnum

if TYPE_CHECKING:
    from ..models.billed import Billed
    from ..models.chosen_option import ChosenOption
    from ..models.line import Line


T = TypeVar("T", bound="Quote")


@_attrs_define
class Quote:
    """A frozen price. Lines add up to `total`; what was signed is `document`, byte for byte.

    Attributes:
        id (str):
        status (QuoteStatusEnum):
        lot (str):
        lots (int):
        days (int):
        image (str):
        options (list[ChosenOption]):
        starts_at (datetime.datetime | None):
        bill_to (Billed):
        lines (list[Line]):
        subtotal (str): Decimal text.
        tax (str): Decimal text.
        total (str): Decimal text.
        currency (str):
        price_version (int):
        created_at (datetime.datetime):
        expires_at (datetime.datetime):
        document (str): Canonical JSON (RFC 8785) of all that was promised.
        signature (str): Ed25519 over `document`, base64.
        key_id (str): Of the key in /.well-known/anchorgpu/quote-keys.json.
    """

    id: str
    status: QuoteStatusEnum
    lot: str
    lots: int
    days: int
    image: str
    options: list[ChosenOption]
    starts_at: datetime.datetime | None
    bill_to: Billed
    lines: list[Line]
    subtotal: str
    tax: str
    total: str
    currency: str
    price_version: int
    created_at: datetime.datetime
    expires_at: datetime.datetime
    document: str
    signature: str
    key_id: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        status = self.status.value

        lot = self.lot

        lots = self.lots

        days = self.days

        image = self.image

        options = []
        for options_item_data in self.options:
            options_item = options_item_data.to_dict()
            options.append(options_item)

        starts_at: None | str
        if isinstance(self.starts_at, datetime.datetime):
            starts_at = self.starts_at.isoformat()
        else:
            starts_at = self.starts_at

        bill_to = self.bill_to.to_dict()

        lines = []
        for lines_item_data in self.lines:
            lines_item = lines_item_data.to_dict()
            lines.append(lines_item)

        subtotal = self.subtotal

        tax = self.tax

        total = self.total

        currency = self.currency

        price_version = self.price_version

        created_at = self.created_at.isoformat()

        expires_at = self.expires_at.isoformat()

        document = self.document

        signature = self.signature

        key_id = self.key_id

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "status": status,
                "lot": lot,
                "lots": lots,
                "days": days,
                "image": image,
                "options": options,
                "starts_at": starts_at,
                "bill_to": bill_to,
                "lines": lines,
                "subtotal": subtotal,
                "tax": tax,
                "total": total,
                "currency": currency,
                "price_version": price_version,
                "created_at": created_at,
                "expires_at": expires_at,
                "document": document,
                "signature": signature,
                "key_id": key_id,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.billed import Billed  # noqa: PLC0415
        from ..models.chosen_option import ChosenOption  # noqa: PLC0415
        from ..models.line import Line  # noqa: PLC0415

        d = dict(src_dict)
        id = d.pop("id")

        status = QuoteStatusEnum(d.pop("status"))

        lot = d.pop("lot")

        lots = d.pop("lots")

        days = d.pop("days")

        image = d.pop("image")

        options = []
        _options = d.pop("options")
        for options_item_data in _options:
            options_item = ChosenOption.from_dict(options_item_data)

            options.append(options_item)

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

        bill_to = Billed.from_dict(d.pop("bill_to"))

        lines = []
        _lines = d.pop("lines")
        for lines_item_data in _lines:
            lines_item = Line.from_dict(lines_item_data)

            lines.append(lines_item)

        subtotal = d.pop("subtotal")

        tax = d.pop("tax")

        total = d.pop("total")

        currency = d.pop("currency")

        price_version = d.pop("price_version")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        expires_at = datetime.datetime.fromisoformat(d.pop("expires_at"))

        document = d.pop("document")

        signature = d.pop("signature")

        key_id = d.pop("key_id")

        quote = cls(
            id=id,
            status=status,
            lot=lot,
            lots=lots,
            days=days,
            image=image,
            options=options,
            starts_at=starts_at,
            bill_to=bill_to,
            lines=lines,
            subtotal=subtotal,
            tax=tax,
            total=total,
            currency=currency,
            price_version=price_version,
            created_at=created_at,
            expires_at=expires_at,
            document=document,
            signature=signature,
            key_id=key_id,
        )

        quote.additional_properties = d
        return quote

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
