from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="ClaimBodyRequest")


@_attrs_define
class ClaimBodyRequest:
    """ "I have paid". The hash helps where an exchange paid in parts; without it we look all the same.

    Attributes:
        transaction_hash (None | str | Unset):
    """

    transaction_hash: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        transaction_hash: None | str | Unset
        if isinstance(self.transaction_hash, Unset):
            transaction_hash = UNSET
        else:
            transaction_hash = self.transaction_hash

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if transaction_hash is not UNSET:
            field_dict["transaction_hash"] = transaction_hash

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_transaction_hash(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        transaction_hash = _parse_transaction_hash(d.pop("transaction_hash", UNSET))

        claim_body_request = cls(
            transaction_hash=transaction_hash,
        )

        return claim_body_request
