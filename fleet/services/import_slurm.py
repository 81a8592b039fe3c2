"""Bring the fleet up to a Slurm cluster: what differs is shown first, then written node by node.

Slurm is right about which nodes there are and which take work. What a person has taken off sale stays off sale.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from django.db import transaction

from catalog.models import Accelerator
from core import audit, decisions
from core.errors import Refusal
from core.models import Decision
from fleet import locks
from fleet.lifecycle import OVER_STATES
from fleet.models import Lease, Node
from fleet.providers.slurm.inventory import ListedNode
from fleet.services.add_node import add_node
from fleet.services.watch_health import mark_nodes
from fleet.whole_nodes import check_size

ACTOR = "import_slurm"
DRAINED = "node_drained"
# How a note begins that was written here: only such a node is put back on sale here.
MARK = "Slurm: "


class What(StrEnum):
    ADD = "add"
    REFUSED = "refused"
    OFF = "off sale"
    ON = "on sale"
    AWAY = "away"
    BACK = "back"
    DIFFERS = "differs"


@dataclass(frozen=True)
class Change:
    """One line of the difference. REFUSED and DIFFERS are for a person: nothing is written for them."""

    what: What
    node: str
    why: str
    listed: ListedNode | None = None


@dataclass(frozen=True)
class NewNodes:
    """What Slurm does not know of a node and a new one is given."""

    site: str
    driver_version: str


def changes(listed: Iterable[ListedNode]) -> list[Change]:
    """What Slurm says and the fleet does not, by node. Writes nothing; 2 queries, and 3 for each new node."""
    there = {node.name: node for node in listed}
    known = {node.name: node for node in Node.objects.select_related("accelerator").prefetch_related("cards")}
    found: list[Change] = []
    for name in sorted(there.keys() | known.keys()):
        if name not in known:
            found += _new(there[name])
        elif name not in there:
            found += _gone(known[name])
        else:
            found += _compared(known[name], there[name])
    return found


def apply(listed: list[ListedNode], *, new: NewNodes) -> list[Change]:
    """Write what `changes` shows; returns what was refused on the way. May be repeated.

    Locks each node in a transaction of its own. A node that a lease needs and that takes no new work is a decision.
    """
    refused: list[Change] = []
    for change in changes(listed):
        try:
            _write(change, new)
        except Refusal as refusal:
            refused.append(Change(What.REFUSED, change.node, refusal.text))
    mark_nodes(frozenset(node.name for node in listed if node.is_away))
    _ask_about_drained()
    return refused


def _new(listed: ListedNode) -> list[Change]:
    if listed.problem:
        return [Change(What.REFUSED, listed.name, listed.problem)]
    if why := _why_not(listed):
        return [Change(What.REFUSED, listed.name, why)]
    added = Change(What.ADD, listed.name, f"{len(listed.serials)} cards of {listed.model}", listed)
    return [added, *([Change(What.OFF, listed.name, listed.drained)] if listed.drained else [])]


def _why_not(listed: ListedNode) -> str:
    """What the fleet would refuse, said before anything is written."""
    accelerator = Accelerator.objects.filter(slug=listed.model).first()
    if accelerator is None:
        return f"SLURM_MODELS names {listed.model}, and the catalogue has no such accelerator."
    try:
        check_size(accelerator=accelerator, cards=len(listed.serials))
    except Refusal as refusal:
        return refusal.text
    return ""


def _gone(node: Node) -> list[Change]:
    return [Change(What.OFF, node.name, "it is not in the partition")] if node.in_service else []


def _compared(node: Node, listed: ListedNode) -> list[Change]:
    found = []
    if listed.drained and node.in_service:
        found.append(Change(What.OFF, node.name, listed.drained))
    elif not listed.drained and not node.in_service and node.note.startswith(MARK):
        found.append(Change(What.ON, node.name, f"it was off sale: {node.note.removeprefix(MARK)}"))
    if listed.is_away and node.healthy:
        found.append(Change(What.AWAY, node.name, "it does not answer Slurm"))
    elif not listed.is_away and not node.healthy:
        found.append(Change(What.BACK, node.name, "it answers Slurm again"))
    # A node that is away shows nothing of its cards, or what it showed last.
    if not listed.is_away and (why := _difference(node, listed)):
        found.append(Change(What.DIFFERS, node.name, why))
    return found


def _difference(node: Node, listed: ListedNode) -> str:
    if listed.problem:
        return listed.problem
    if listed.model != node.accelerator.slug:
        return f"it has {listed.model}, and the fleet has {node.accelerator.slug}"
    ours = [card.serial for card in sorted(node.cards.all(), key=lambda card: card.index)]
    if ours == list(listed.serials):
        return ""
    return f"its cards are {', '.join(listed.serials)}, and in the fleet {', '.join(ours)}"


def _write(change: Change, new: NewNodes) -> None:
    if change.what == What.ADD and change.listed is not None:
        add_node(
            name=change.node,
            site=new.site,
            accelerator=change.listed.model,
            host_arch=change.listed.arch,
            driver_version=new.driver_version,
            serials=change.listed.serials,
            actor=ACTOR,
        )
    elif change.what in {What.OFF, What.ON}:
        _set_in_service(change)


def _set_in_service(change: Change) -> None:
    """Safe to repeat: whoever was faster has done it."""
    with transaction.atomic():
        row = Node.objects.filter(name=change.node).first()
        if row is None:
            return  # it was refused a moment ago
        node, is_on = locks.node_for_update(row.pk), change.what == What.ON
        if node.in_service == is_on:
            return
        before = {"in_service": node.in_service, "note": node.note}
        node.in_service, node.note = is_on, "" if is_on else f"{MARK}{change.why}"[:200]
        node.save(update_fields=["in_service", "note"])
        audit.record(
            actor=ACTOR,
            action="node.in_service" if is_on else "node.maintenance",
            subject=f"node:{node.name}",
            reason=change.why,
            before=before,
            after={"in_service": node.in_service, "note": node.note},
        )


def _ask_about_drained() -> None:
    """A lease runs on where it is; whether it should is a person's question, asked once for each answer of Slurm."""
    for node in Node.objects.filter(in_service=False, note__startswith=MARK):
        leases = sorted(
            Lease.objects.exclude(status__in=OVER_STATES)
            .filter(hold__reservations__card__node=node, hold__reservations__left_at=None)
            .distinct()
            .values_list("username", flat=True)
        )
        subject = f"node:{node.name}"
        facts: dict[str, object] = {"node": node.name, "why": node.note.removeprefix(MARK), "leases": leases}
        with transaction.atomic():
            if not leases:
                decisions.close_open(
                    kind=DRAINED, subject=subject, reason="No lease needs the node any more."
                )
            elif not _is_answered(subject, facts):
                decisions.open_decision(kind=DRAINED, subject=subject, facts=facts)
    for decision in Decision.objects.filter(kind=DRAINED, closed_at=None):
        name = decision.subject.removeprefix("node:")
        if not Node.objects.filter(name=name, in_service=False, note__startswith=MARK).exists():
            decisions.close_open(kind=DRAINED, subject=decision.subject, reason="The node is on sale again.")


def _is_answered(subject: str, facts: dict[str, object]) -> bool:
    """Staff have closed this very question."""
    last = Decision.objects.filter(kind=DRAINED, subject=subject).order_by("-id").first()
    return (
        last is not None and last.closed_at is not None and last.closed_by != "system" and last.facts == facts
    )
