from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.notify_enum import NotifyEnum
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.bill_to_body_request import BillToBodyRequest
    from ..models.contact_body_request import ContactBodyRequest
    from ..models.order_body_request_metadata import OrderBodyRequestMetadata
    from ..models.pay_with_body_request import PayWithBodyRequest


T = TypeVar("T", bound="OrderBodyRequest")


@_attrs_define
class OrderBodyRequest:
    """The acceptance of a quote.

    Attributes:
        quote (str):
        contact (ContactBodyRequest): Whom the order is for: gets access, the page of the order and, unless `notify` is
            partner, the mails.
        ssh_keys (list[str]): Public keys, one a text. Never a private one.
        pay_with (PayWithBodyRequest): How it is paid; `pay_with` of the root lists what is offered.
        accept_terms (str): `terms_version` of the root.
        bill_to (BillToBodyRequest | Unset): Who is billed. Left out of a quote: a consumer in the shop's country.
        notify (NotifyEnum | Unset):  Default: NotifyEnum.BUYER.
        metadata (OrderBodyRequestMetadata | Unset): Up to 20 names of 40 characters with texts of 500. Kept and shown
            to you alone.
    """

    quote: str
    contact: ContactBodyRequest
    ssh_keys: list[str]
    pay_with: PayWithBodyRequest
    accept_terms: str
    bill_to: BillToBodyRequest | Unset = UNSET
    notify: NotifyEnum | Unset = NotifyEnum.BUYER
    metadata: OrderBodyRequestMetadata | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        quote = self.quote

        contact = self.contact.to_dict()

        ssh_keys = self.ssh_keys

        pay_with = self.pay_with.to_dict()

        accept_terms = self.accept_terms

        bill_to: dict[str, Any] | Unset = UNSET
        if not isinstance(self.bill_to, Unset):
            bill_to = self.bill_to.to_dict()

        notify: str | Unset = UNSET
        if not isinstance(self.notify, Unset):
            notify = self.notify.value

        metadata: dict[str, Any] | Unset = UNSET
        if not isinstance(self.metadata, Unset):
            metadata = self.metadata.to_dict()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "quote": quote,
                "contact": contact,
                "ssh_keys": ssh_keys,
                "pay_with": pay_with,
                "accept_terms": accept_terms,
            }
        )
        if bill_to is not UNSET:
            field_dict["bill_to"] = bill_to
        if notify is not UNSET:
            field_dict["notify"] = notify
        if metadata is not UNSET:
            field_dict["metadata"] = metadata

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.bill_to_body_request import BillToBodyRequest  # noqa: PLC0415
        from ..models.contact_body_request import ContactBodyRequest  # noqa: PLC0415
        from ..models.order_body_request_metadata import OrderBodyRequestMetadata  # noqa: PLC0415
        from ..models.pay_with_body_request import PayWithBodyRequest  # noqa: PLC0415

        d = dict(src_dict)
        quote = d.pop("quote")

        contact = ContactBodyRequest.from_dict(d.pop("contact"))

        ssh_keys = cast(list[str], d.pop("ssh_keys"))

        pay_with = PayWithBodyRequest.from_dict(d.pop("pay_with"))

        accept_terms = d.pop("accept_terms")

        _bill_to = d.pop("bill_to", UNSET)
        bill_to: BillToBodyRequest | Unset
        if isinstance(_bill_to, Unset):
            bill_to = UNSET
        else:
            bill_to = BillToBodyRequest.from_dict(_bill_to)

        _notify = d.pop("notify", UNSET)
        notify: NotifyEnum | Unset
        if isinstance(_notify, Unset):
            notify = UNSET
        else:
            notify = NotifyEnum(_notify)

        _metadata = d.pop("metadata", UNSET)
        metadata: OrderBodyRequestMetadata | Unset
        if isinstance(_metadata, Unset):
            metadata = UNSET
        else:
            metadata = OrderBodyRequestMetadata.from_dict(_metadata)

        order_body_request = cls(
            quote=quote,
            contact=contact,
            ssh_keys=ssh_keys,
            pay_with=pay_with,
            accept_terms=accept_terms,
            bill_to=bill_to,
            notify=notify,
            metadata=metadata,
        )

        return order_body_request
