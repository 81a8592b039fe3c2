"""The same as the picture of the fleet, in words: a row for each state of each node."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from desk.fleet_words import STATES, State, cards_text, note_text
from fleet.occupancy import NodeRow, Stay


@dataclass(frozen=True)
class Line:
    """`ends` None: nobody knows yet."""

    state: State
    ref: str
    username: str
    url: str
    cards: str
    begins: datetime
    ends: datetime | None
    note: str


@dataclass(frozen=True)
class NodeLines:
    name: str
    accelerator: str
    cards: int
    lines: tuple[Line, ...]


def table(nodes: Iterable[NodeRow], *, links: Mapping[Stay, str]) -> list[NodeLines]:
    """Every node, also those on which nothing stands."""
    return [
        NodeLines(
            name=node.node.name,
            accelerator=node.node.accelerator.name,
            cards=len(node.indexes),
            lines=tuple(
                Line(
                    state=STATES[stay.what],
                    ref=stay.ref,
                    username=stay.username,
                    url=links.get(stay, ""),
                    cards=cards_text(node, stay),
                    begins=stay.begins,
                    ends=stay.ends,
                    note=note_text(stay),
                )
                for stay in node.stays
            ),
        )
        for node in nodes
    ]
