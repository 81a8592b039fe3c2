"""What the cluster's answers mean for a lease: its holders, its cards, its record. Nothing here changes anything."""

from collections.abc import Mapping, Sequence

from fleet.models import SlurmMachine
from fleet.providers.base import LeaseSpec, Observation, ObservedCard, ProviderRefused
from fleet.providers.slurm.answers import Job, NodeState, Reservation, SeenCard
from fleet.providers.slurm.config import Config
from fleet.providers.slurm.controller import Controller, ceil_second

State = SlurmMachine.State


def check_whole_nodes(controller: Controller, spec: LeaseSpec) -> None:
    """Whole nodes only: a cluster that mixes both grants the same cards twice (docs/slurm.md)."""
    wanted: dict[str, set[int]] = {}
    for card in spec.cards:
        wanted.setdefault(card.node, set()).add(card.index)
    for name, node in controller.nodes(sorted(wanted)).items():
        if wanted[name] != set(range(node.gres_count)):
            raise ProviderRefused(
                f"{name} has {node.gres_count} cards and is sold whole; {len(wanted[name])} were asked for."
            )


def drained_node(controller: Controller, machine: SlurmMachine) -> NodeState | None:
    """A node of the lease on which Slurm starts nothing new, or None."""
    nodes = controller.nodes(machine.node_names).values()
    return next((node for node in nodes if node.is_drained), None)


def verified_cards(controller: Controller, jobs: Sequence[Job]) -> tuple[ObservedCard, ...]:
    """What the nodes see now, as far as Slurm has given it to the holders: count by Slurm, the rest by the node."""
    found: list[ObservedCard] = []
    for job in jobs:
        granted = controller.granted_gres(job.job_id)
        for name, cards in controller.look_at_cards(job).items():
            gres_type, count = granted.get(name, ("", 0))
            found.extend(
                _observed(controller.config, name, gres_type, card) for card in cards if card.index < count
            )
    return tuple(sorted(found))


def cards_by_nodes(
    config: Config, machine: SlurmMachine, nodes: Mapping[str, NodeState]
) -> tuple[ObservedCard, ...]:
    """The cards of a lease by the state of its nodes and what their own check has noted.

    Where a node notes nothing, its registration is the word: Slurm takes a node off that shows fewer cards than
    configured.
    """
    found: list[ObservedCard] = []
    for name in machine.node_names:
        node = nodes.get(name)
        if node is None or node.is_away:
            continue
        if node.cards is not None:
            found.extend(_observed(config, name, node.gres_type, card) for card in node.cards)
            continue
        model = config.model_of(node.gres_type) if node.gres_type else ""
        found.extend(
            ObservedCard(
                name, int(card["index"]), str(card["serial"]), model or str(card["model"]), healthy=True
            )
            for card in machine.cards
            if card["node"] == name and int(card["index"]) < node.gres_count
        )
    return tuple(found)


def observation(
    machine: SlurmMachine, reservation: Reservation | None, *, running: bool, members: tuple[str, ...]
) -> Observation:
    """Our row and the controller's record as one; where they differ, the controller is right."""
    cards = [
        ObservedCard(str(c["node"]), int(c["index"]), str(c["serial"]), str(c["model"]), healthy=True)
        for c in machine.cards
        if reservation is None or c["node"] in reservation.nodes
    ]
    is_wiped = machine.state == State.WIPED
    moved = reservation is not None and reservation.ends_at != ceil_second(machine.ends_at)
    return Observation(
        state=machine.state,
        living=not is_wiped or reservation is not None,
        running=running,
        cards=tuple(sorted(cards)),
        members=members,
        starts_at=machine.starts_at,
        ends_at=reservation.ends_at if reservation is not None and moved else machine.ends_at,
    )


def _observed(config: Config, node: str, gres_type: str, card: SeenCard) -> ObservedCard:
    """The card's name and the type that Slurm has for it must mean the same model; else the name stands as it is."""
    model = config.model_of(card.name)
    agrees = not gres_type or config.model_of(gres_type) == model
    return ObservedCard(node, card.index, card.serial, model if agrees else card.name, card.healthy)
