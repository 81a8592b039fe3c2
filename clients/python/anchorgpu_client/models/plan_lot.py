from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.shape_enum import ShapeEnum
from ..models.verdict_enum import VerdictEnum

if TYPE_CHECKING:
    from ..models.plan_note import PlanNote
    from ..models.plan_range import PlanRange
    from ..models.plan_term import PlanTerm


T = TypeVar("T", bound="PlanLot")


@_attrs_define
class PlanLot:
    """The verdict on one lot.

    Attributes:
        lot (str):
        accelerator (str):
        cards (int):
        verdict (VerdictEnum):
        shape (None | ShapeEnum): How the cards would be used.
        usable_gib (float | None): Of one card; memories are not pooled.
        usable_published (bool): False: derived from the vendor's GB.
        required_gib (float | None): On one card, in this shape.
        free_share (float | None): Of the usable memory; negative: too small.
        hours (None | PlanRange): One run: fast, typical, slow.
        hours_source (None | str): Where the rate comes from.
        terms (list[PlanTerm]):
        cautions (list[PlanNote]):
        measured (bool): True: the pilot ran on this lot.
        cache_tokens (int | None): When serving: tokens of all conversations together that leave the lot comfortable.
    """

    lot: str
    accelerator: str
    cards: int
    verdict: VerdictEnum
    shape: None | ShapeEnum
    usable_gib: float | None
    usable_published: bool
    required_gib: float | None
    free_share: float | None
    hours: None | PlanRange
    hours_source: None | str
    terms: list[PlanTerm]
    cautions: list[PlanNote]
    measured: bool
    cache_tokens: int | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.plan_range import PlanRange  # noqa: PLC0415

        lot = self.lot

        accelerator = self.accelerator

        cards = self.cards

        verdict = self.verdict.value

        shape: None | str
        if isinstance(self.shape, ShapeEnum):
            shape = self.shape.value
        else:
            shape = self.shape

        usable_gib: float | None
        usable_gib = self.usable_gib

        usable_published = self.usable_published

        required_gib: float | None
        required_gib = self.required_gib

        free_share: float | None
        free_share = self.free_share

        hours: dict[str, Any] | None
        if isinstance(self.hours, PlanRange):
            hours = self.hours.to_dict()
        else:
            hours = self.hours

        hours_source: None | str
        hours_source = self.hours_source

        terms = []
        for terms_item_data in self.terms:
            terms_item = terms_item_data.to_dict()
            terms.append(terms_item)

        cautions = []
        for cautions_item_data in self.cautions:
            cautions_item = cautions_item_data.to_dict()
            cautions.append(cautions_item)

        measured = self.measured

        cache_tokens: int | None
        cache_tokens = self.cache_tokens

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "lot": lot,
                "accelerator": accelerator,
                "cards": cards,
                "verdict": verdict,
                "shape": shape,
                "usable_gib": usable_gib,
                "usable_published": usable_published,
                "required_gib": required_gib,
                "free_share": free_share,
                "hours": hours,
                "hours_source": hours_source,
                "terms": terms,
                "cautions": cautions,
                "measured": measured,
                "cache_tokens": cache_tokens,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.plan_note import PlanNote  # noqa: PLC0415
        from ..models.plan_range import PlanRange  # noqa: PLC0415
        from ..models.plan_term import PlanTerm  # noqa: PLC0415

        d = dict(src_dict)
        lot = d.pop("lot")

        accelerator = d.pop("accelerator")

        cards = d.pop("cards")

        verdict = VerdictEnum(d.pop("verdict"))

        def _parse_shape(data: object) -> None | ShapeEnum:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                shape_type_0 = ShapeEnum(data)

                return shape_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | ShapeEnum, data)

        shape = _parse_shape(d.pop("shape"))

        def _parse_usable_gib(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        usable_gib = _parse_usable_gib(d.pop("usable_gib"))

        usable_published = d.pop("usable_published")

        def _parse_required_gib(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        required_gib = _parse_required_gib(d.pop("required_gib"))

        def _parse_free_share(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        free_share = _parse_free_share(d.pop("free_share"))

        def _parse_hours(data: object) -> None | PlanRange:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                hours_type_0 = PlanRange.from_dict(data)

                return hours_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | PlanRange, data)

        hours = _parse_hours(d.pop("hours"))

        def _parse_hours_source(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        hours_source = _parse_hours_source(d.pop("hours_source"))

        terms = []
        _terms = d.pop("terms")
        for terms_item_data in _terms:
            terms_item = PlanTerm.from_dict(terms_item_data)

            terms.append(terms_item)

        cautions = []
        _cautions = d.pop("cautions")
        for cautions_item_data in _cautions:
            cautions_item = PlanNote.from_dict(cautions_item_data)

            cautions.append(cautions_item)

        measured = d.pop("measured")

        def _parse_cache_tokens(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        cache_tokens = _parse_cache_tokens(d.pop("cache_tokens"))

        plan_lot = cls(
            lot=lot,
            accelerator=accelerator,
            cards=cards,
            verdict=verdict,
            shape=shape,
            usable_gib=usable_gib,
            usable_published=usable_published,
            required_gib=required_gib,
            free_share=free_share,
            hours=hours,
            hours_source=hours_source,
            terms=terms,
            cautions=cautions,
            measured=measured,
            cache_tokens=cache_tokens,
        )

        plan_lot.additional_properties = d
        return plan_lot

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
