from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.notify_enum import NotifyEnum
from ..models.order_status_enum import OrderStatusEnum

if TYPE_CHECKING:
    from ..models.billed import Billed
    from ..models.chosen_option import ChosenOption
    from ..models.contact import Contact
    from ..models.order_lease import OrderLease
    from ..models.order_metadata import OrderMetadata
    from ..models.payment import Payment
    from ..models.refund import Refund


T = TypeVar("T", bound="Order")


@_attrs_define
class Order:
    """One order. `lease` is null until the payment is final; an extension shows the lease that it makes longer.

    Attributes:
        id (str):
        status (OrderStatusEnum):
        quote (str):
        extends (None | str): The order whose lease this one makes longer.
        lot (str):
        lots (int):
        days (int):
        image (str):
        options (list[ChosenOption]):
        starts_at (datetime.datetime | None): The chosen start.
        total (str): Decimal text.
        currency (str):
        bill_to (Billed):
        contact (Contact):
        notify (NotifyEnum):
        ssh_key_fingerprints (list[str]):
        metadata (OrderMetadata):
        placed_at (datetime.datetime):
        payment (None | Payment):
        lease (None | OrderLease):
        refunds (list[Refund]):
        url (str): The page of the order. Whoever has the address can act on it: empty for a key without orders:write.
    """

    id: str
    status: OrderStatusEnum
    quote: str
    extends: None | str
    lot: str
    lots: int
    days: int
    image: str
    options: list[ChosenOption]
    starts_at: datetime.datetime | None
    total: str
    currency: str
    bill_to: Billed
    contact: Contact
    notify: NotifyEnum
    ssh_key_fingerprints: list[str]
    metadata: OrderMetadata
    placed_at: datetime.datetime
    payment: None | Payment
    lease: None | OrderLease
    refunds: list[Refund]
    url: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.order_lease import OrderLease  # noqa: PLC0415
        from ..models.payment import Payment  # noqa: PLC0415

        id = self.id

        status = self.status.value

        quote = self.quote

        extends: None | str
        extends = self.extends

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

        total = self.total

        currency = self.currency

        bill_to = self.bill_to.to_dict()

        contact = self.contact.to_dict()

        notify = self.notify.value

        ssh_key_fingerprints = self.ssh_key_fingerprints

        metadata = self.metadata.to_dict()

        placed_at = self.placed_at.isoformat()

        payment: dict[str, Any] | None
        if isinstance(self.payment, Payment):
            payment = self.payment.to_dict()
        else:
            payment = self.payment

        lease: dict[str, Any] | None
        if isinstance(self.lease, OrderLease):
            lease = self.lease.to_dict()
        else:
            lease = self.lease

        refunds = []
        for refunds_item_data in self.refunds:
            refunds_item = refunds_item_data.to_dict()
            refunds.append(refunds_item)

        url = self.url

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "status": status,
                "quote": quote,
                "extends": extends,
                "lot": lot,
                "lots": lots,
                "days": days,
                "image": image,
                "options": options,
                "starts_at": starts_at,
                "total": total,
                "currency": currency,
                "bill_to": bill_to,
                "contact": contact,
                "notify": notify,
                "ssh_key_fingerprints": ssh_key_fingerprints,
                "metadata": metadata,
                "placed_at": placed_at,
                "payment": payment,
                "lease": lease,
                "refunds": refunds,
                "url": url,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.billed import Billed  # noqa: PLC0415
        from ..models.chosen_option import ChosenOption  # noqa: PLC0415
        from ..models.contact import Contact  # noqa: PLC0415
        from ..models.order_lease import OrderLease  # noqa: PLC0415
        from ..models.order_metadata import OrderMetadata  # noqa: PLC0415
        from ..models.payment import Payment  # noqa: PLC0415
        from ..models.refund import Refund  # noqa: PLC0415

        d = dict(src_dict)
        id = d.pop("id")

        status = OrderStatusEnum(d.pop("status"))

        quote = d.pop("quote")

        def _parse_extends(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        extends = _parse_extends(d.pop("extends"))

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

        total = d.pop("total")

        currency = d.pop("currency")

        bill_to = Billed.from_dict(d.pop("bill_to"))

        contact = Contact.from_dict(d.pop("contact"))

        notify = NotifyEnum(d.pop("notify"))

        ssh_key_fingerprints = cast(list[str], d.pop("ssh_key_fingerprints"))

        metadata = OrderMetadata.from_dict(d.pop("metadata"))

        placed_at = datetime.datetime.fromisoformat(d.pop("placed_at"))

        def _parse_payment(data: object) -> None | Payment:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                payment_type_0 = Payment.from_dict(data)

                return payment_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | Payment, data)

        payment = _parse_payment(d.pop("payment"))

        def _parse_lease(data: object) -> None | OrderLease:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                lease_type_0 = OrderLease.from_dict(data)

                return lease_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | OrderLease, data)

        lease = _parse_lease(d.pop("lease"))

        refunds = []
        _refunds = d.pop("refunds")
        for refunds_item_data in _refunds:
            refunds_item = Refund.from_dict(refunds_item_data)

            refunds.append(refunds_item)

        url = d.pop("url")

        order = cls(
            id=id,
            status=status,
            quote=quote,
            extends=extends,
            lot=lot,
            lots=lots,
            days=days,
            image=image,
            options=options,
            starts_at=starts_at,
            total=total,
            currency=currency,
            bill_to=bill_to,
            contact=contact,
            notify=notify,
            ssh_key_fingerprints=ssh_key_fingerprints,
            metadata=metadata,
            placed_at=placed_at,
            payment=payment,
            lease=lease,
            refunds=refunds,
            url=url,
        )

        order.additional_properties = d
        return order

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
