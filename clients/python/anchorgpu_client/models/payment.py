from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.flags_enum import FlagsEnum
from ..models.payment_status_enum import PaymentStatusEnum

T = TypeVar("T", bound="Payment")


@_attrs_define
class Payment:
    """Amounts are of the asset. `due` is what is still missing. Past `expires_at` the status is expired by the clock;
    `still_checking` says that money which was sent in time may still be found.

        Attributes:
            rail (str):
            status (PaymentStatusEnum):
            flags (list[FlagsEnum]):
            network (str):
            chain_id (int):
            asset (str):
            contract (str): Of the token; empty: the native coin.
            address (str):
            amount (str): Decimal text.
            amount_units (str): The same in base units, as text.
            received (str): Decimal text.
            settled (str): Decimal text.
            due (str): Decimal text.
            expires_at (datetime.datetime):
            still_checking (bool):
            last_block (int | None): The newest block that was looked at.
            checked_at (datetime.datetime | None):
    """

    rail: str
    status: PaymentStatusEnum
    flags: list[FlagsEnum]
    network: str
    chain_id: int
    asset: str
    contract: str
    address: str
    amount: str
    amount_units: str
    received: str
    settled: str
    due: str
    expires_at: datetime.datetime
    still_checking: bool
    last_block: int | None
    checked_at: datetime.datetime | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        rail = self.rail

        status = self.status.value

        flags = []
        for flags_item_data in self.flags:
            flags_item = flags_item_data.value
            flags.append(flags_item)

        network = self.network

        chain_id = self.chain_id

        asset = self.asset

        contract = self.contract

        address = self.address

        amount = self.amount

        amount_units = self.amount_units

        received = self.received

        settled = self.settled

        due = self.due

        expires_at = self.expires_at.isoformat()

        still_checking = self.still_checking

        last_block: int | None
        last_block = self.last_block

        checked_at: None | str
        if isinstance(self.checked_at, datetime.datetime):
            checked_at = self.checked_at.isoformat()
        else:
            checked_at = self.checked_at

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "rail": rail,
                "status": status,
                "flags": flags,
                "network": network,
                "chain_id": chain_id,
                "asset": asset,
                "contract": contract,
                "address": address,
                "amount": amount,
                "amount_units": amount_units,
                "received": received,
                "settled": settled,
                "due": due,
                "expires_at": expires_at,
                "still_checking": still_checking,
                "last_block": last_block,
                "checked_at": checked_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        rail = d.pop("rail")

        status = PaymentStatusEnum(d.pop("status"))

        flags = []
        _flags = d.pop("flags")
        for flags_item_data in _flags:
            flags_item = FlagsEnum(flags_item_data)

            flags.append(flags_item)

        network = d.pop("network")

        chain_id = d.pop("chain_id")

        asset = d.pop("asset")

        contract = d.pop("contract")

        address = d.pop("address")

        amount = d.pop("amount")

        amount_units = d.pop("amount_units")

        received = d.pop("received")

        settled = d.pop("settled")

        due = d.pop("due")

        expires_at = datetime.datetime.fromisoformat(d.pop("expires_at"))

        still_checking = d.pop("still_checking")

        def _parse_last_block(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        last_block = _parse_last_block(d.pop("last_block"))

        def _parse_checked_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                checked_at_type_0 = datetime.datetime.fromisoformat(data)

                return checked_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        checked_at = _parse_checked_at(d.pop("checked_at"))

        payment = cls(
            rail=rail,
            status=status,
            flags=flags,
            network=network,
            chain_id=chain_id,
            asset=asset,
            contract=contract,
            address=address,
            amount=amount,
            amount_units=amount_units,
            received=received,
            settled=settled,
            due=due,
            expires_at=expires_at,
            still_checking=still_checking,
            last_block=last_block,
            checked_at=checked_at,
        )

        payment.additional_properties = d
        return payment

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
