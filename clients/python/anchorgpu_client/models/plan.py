from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.plan_lever import PlanLever
    from ..models.plan_lot import PlanLot
    from ..models.plan_memory import PlanMemory
    from ..models.plan_note import PlanNote
    from ..models.plan_rules import PlanRules
    from ..models.plan_run import PlanRun
    from ..models.planned_model import PlannedModel


T = TypeVar("T", bound="Plan")


@_attrs_define
class Plan:
    """A plan is an estimate from published measurements; its assumptions are part of it.

    Attributes:
        model (PlannedModel):
        run (PlanRun): The run as it was planned, with every default filled in.
        memory (PlanMemory): Memory of one card.
        levers (list[PlanLever]):
        rules_of_thumb (PlanRules): What circulating rules say, in GB (10^9 bytes), and why we differ.
        lots (list[PlanLot]): Best first.
        recommended (None | str): The lot to start with: one card where one carries the run.
        notes (list[PlanNote]):
        assumptions (list[PlanNote]):
    """

    model: PlannedModel
    run: PlanRun
    memory: PlanMemory
    levers: list[PlanLever]
    rules_of_thumb: PlanRules
    lots: list[PlanLot]
    recommended: None | str
    notes: list[PlanNote]
    assumptions: list[PlanNote]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        model = self.model.to_dict()

        run = self.run.to_dict()

        memory = self.memory.to_dict()

        levers = []
        for levers_item_data in self.levers:
            levers_item = levers_item_data.to_dict()
            levers.append(levers_item)

        rules_of_thumb = self.rules_of_thumb.to_dict()

        lots = []
        for lots_item_data in self.lots:
            lots_item = lots_item_data.to_dict()
            lots.append(lots_item)

        recommended: None | str
        recommended = self.recommended

        notes = []
        for notes_item_data in self.notes:
            notes_item = notes_item_data.to_dict()
            notes.append(notes_item)

        assumptions = []
        for assumptions_item_data in self.assumptions:
            assumptions_item = assumptions_item_data.to_dict()
            assumptions.append(assumptions_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "model": model,
                "run": run,
                "memory": memory,
                "levers": levers,
                "rules_of_thumb": rules_of_thumb,
                "lots": lots,
                "recommended": recommended,
                "notes": notes,
                "assumptions": assumptions,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.plan_lever import PlanLever  # noqa: PLC0415
        from ..models.plan_lot import PlanLot  # noqa: PLC0415
        from ..models.plan_memory import PlanMemory  # noqa: PLC0415
        from ..models.plan_note import PlanNote  # noqa: PLC0415
        from ..models.plan_rules import PlanRules  # noqa: PLC0415
        from ..models.plan_run import PlanRun  # noqa: PLC0415
        from ..models.planned_model import PlannedModel  # noqa: PLC0415

        d = dict(src_dict)
        model = PlannedModel.from_dict(d.pop("model"))

        run = PlanRun.from_dict(d.pop("run"))

        memory = PlanMemory.from_dict(d.pop("memory"))

        levers = []
        _levers = d.pop("levers")
        for levers_item_data in _levers:
            levers_item = PlanLever.from_dict(levers_item_data)

            levers.append(levers_item)

        rules_of_thumb = PlanRules.from_dict(d.pop("rules_of_thumb"))

        lots = []
        _lots = d.pop("lots")
        for lots_item_data in _lots:
            lots_item = PlanLot.from_dict(lots_item_data)

            lots.append(lots_item)

        def _parse_recommended(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        recommended = _parse_recommended(d.pop("recommended"))

        notes = []
        _notes = d.pop("notes")
        for notes_item_data in _notes:
            notes_item = PlanNote.from_dict(notes_item_data)

            notes.append(notes_item)

        assumptions = []
        _assumptions = d.pop("assumptions")
        for assumptions_item_data in _assumptions:
            assumptions_item = PlanNote.from_dict(assumptions_item_data)

            assumptions.append(assumptions_item)

        plan = cls(
            model=model,
            run=run,
            memory=memory,
            levers=levers,
            rules_of_thumb=rules_of_thumb,
            lots=lots,
            recommended=recommended,
            notes=notes,
            assumptions=assumptions,
        )

        plan.additional_properties = d
        return plan

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
