from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

from ..models.language_enum import LanguageEnum
from ..types import UNSET, Unset

T = TypeVar("T", bound="ContactBodyRequest")


@_attrs_define
class ContactBodyRequest:
    """Whom the order is for: gets access, the page of the order and, unless `notify` is partner, the mails.

    Attributes:
        name (str):
        email (str):
        company (str | Unset):  Default: ''.
        language (LanguageEnum | Unset):
    """

    name: str
    email: str
    company: str | Unset = ""
    language: LanguageEnum | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        email = self.email

        company = self.company

        language: str | Unset = UNSET
        if not isinstance(self.language, Unset):
            language = self.language.value

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "name": name,
                "email": email,
            }
        )
        if company is not UNSET:
            field_dict["company"] = company
        if language is not UNSET:
            field_dict["language"] = language

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        name = d.pop("name")

        email = d.pop("email")

        company = d.pop("company", UNSET)

        _language = d.pop("language", UNSET)
        language: LanguageEnum | Unset
        if isinstance(_language, Unset):
            language = UNSET
        else:
            language = LanguageEnum(_language)

        contact_body_request = cls(
            name=name,
            email=email,
            company=company,
            language=language,
        )

        return contact_body_request
