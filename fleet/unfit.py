"""When cards could not be sold although they were there: unhealthy, out of service, under maintenance.

The rows of nodes and cards say only how it is now. Since when is in the records: the decisions that were opened for
it, what staff did, and maintenance windows. Where no record says so, it was so all the time that is looked at.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from django.db.backends.postgresql.psycopg_any import DateTimeTZRange

from core.models import AuditEntry, Decision
from fleet.models import Card, MaintenanceWindow, Node

# A decision of this kind stands for a time in which its subject is unhealthy (fleet.services.degrade, watch_health).
_UNHEALTHY = ("card_unsound", "node_away")
# An acceptance test took the cards that it names out of service (fleet.services.mismatch).
_MISMATCH = "delivery_mismatch"
# What staff did -> whether the subject is out of service from then on (fleet.services.maintenance).
_SERVICE = {"node.maintenance": True, "node.in_service": False, "card.in_service": False}
_ADDED = "node.add"


class Why(StrEnum):
    UNHEALTHY = "unhealthy"
    OUT_OF_SERVICE = "out_of_service"
    MAINTENANCE = "maintenance"


@dataclass(frozen=True)
class Unfit:
    """`card_id` None: every card of the node. `ends` None: nobody knows yet. `reason` is what the record says."""

    why: Why
    node_id: int
    card_id: int | None
    begins: datetime
    ends: datetime | None
    reason: str = ""


@dataclass(frozen=True)
class Records:
    """The times of these nodes, and since when they are in the fleet, for those whose record says so."""

    unfit: tuple[Unfit, ...]
    added_at: dict[int, datetime]


# (subject, why) -> when it began (True) or was over (False).
_Marks = dict[tuple[str, Why], list[tuple[datetime, bool]]]


def read_records(
    *, nodes: Iterable[Node], cards: Iterable[Card], begins: datetime, ends: datetime
) -> Records:
    """Of these nodes and their cards, as far as it touches [begins, ends). Three queries."""
    nodes = list(nodes)
    marks: _Marks = defaultdict(list)
    added = _read_staff(marks)
    _read_decisions(marks)
    found = _windows([node.pk for node in nodes], begins, ends)
    for node in nodes:
        found += _of_subject(marks, f"node:{node.name}", node, node.pk, None, begins)
    for card in cards:
        found += _of_subject(marks, f"card:{card.serial}", card, card.node_id, card.pk, begins)
    return Records(
        unfit=tuple(row for row in found if row.begins < ends and (row.ends is None or row.ends > begins)),
        added_at={node.pk: added[node.name] for node in nodes if node.name in added},
    )


def _of_subject(
    marks: _Marks, subject: str, row: Node | Card, node_id: int, card_id: int | None, since: datetime
) -> list[Unfit]:
    now = {Why.UNHEALTHY: not row.healthy, Why.OUT_OF_SERVICE: not row.in_service}
    return [
        Unfit(why, node_id, card_id, began, ended, row.note if ended is None else "")
        for why, is_so in now.items()
        for began, ended in times(marks.get((subject, why), ()), is_so=is_so, since=since)
    ]


def times(
    marks: Collection[tuple[datetime, bool]], *, is_so: bool, since: datetime
) -> list[tuple[datetime, datetime | None]]:
    """Begins and ends from marks. `is_so`: it is so now, whatever the marks say; `since` where none says since when.

    What began and is over now without a record of its end is left out: how long it was is not known.
    """
    found: list[tuple[datetime, datetime | None]] = []
    began: datetime | None = None
    for at, is_begin in sorted(marks):
        if is_begin:
            began = began or at
        elif began is not None:
            found.append((began, at))
            began = None
    if is_so and began is None and found:
        # The decision was closed with a note, and nothing was mended.
        began = found.pop()[0]
    return [*found, (began or since, None)] if is_so else found


def _read_decisions(marks: _Marks) -> None:
    rows = Decision.objects.filter(kind__in=[*_UNHEALTHY, _MISMATCH]).order_by("pk")
    for kind, subject, facts, opened_at, closed_at in rows.values_list(
        "kind", "subject", "facts", "opened_at", "closed_at"
    ):
        if kind == _MISMATCH:
            for serial in _serials(facts.get("differences", [])):
                marks[f"card:{serial}", Why.OUT_OF_SERVICE].append((opened_at, True))
            continue
        marks[subject, Why.UNHEALTHY].append((opened_at, True))
        if closed_at is not None:
            marks[subject, Why.UNHEALTHY].append((closed_at, False))


def _serials(differences: Iterable[dict[str, object]]) -> set[str]:
    """The card that was expected, and the one that was found in its place."""
    found = {str(entry.get("serial", "")) for entry in differences}
    for entry in differences:
        other = entry.get("found")
        if isinstance(other, dict) and "serial" in other:
            found.add(str(other["serial"]))
    return found


def _read_staff(marks: _Marks) -> dict[str, datetime]:
    """What staff did with nodes and cards; returns since when nodes are in the fleet, by name."""
    added: dict[str, datetime] = {}
    rows = AuditEntry.objects.filter(action__in=[*_SERVICE, _ADDED]).order_by("pk")
    for action, subject, at in rows.values_list("action", "subject", "at"):
        if action == _ADDED:
            added[subject.removeprefix("node:")] = at
        else:
            marks[subject, Why.OUT_OF_SERVICE].append((at, _SERVICE[action]))
    return added


def _windows(node_ids: Collection[int], begins: datetime, ends: datetime) -> list[Unfit]:
    """Of a window that was cancelled, the part before that counts."""
    rows = MaintenanceWindow.objects.filter(
        node_id__in=node_ids, period__overlap=DateTimeTZRange(begins, ends, "[)")
    ).order_by("pk")
    found = []
    for row in rows:
        lower, upper = row.period.lower, row.period.upper
        last = upper if row.cancelled_at is None else min(upper, row.cancelled_at)
        if lower < last:
            found.append(Unfit(Why.MAINTENANCE, row.node_id, None, lower, last, row.reason))
    return found
