"""What a cluster has to sell, as the fleet would write it down; reads only."""

from dataclasses import dataclass

from fleet.providers.slurm import config
from fleet.providers.slurm.answers import NodeState
from fleet.providers.slurm.config import Config
from fleet.providers.slurm.driver import controller_of
from fleet.providers.slurm.tools import Tools


@dataclass(frozen=True)
class ListedNode:
    """One node of the shop's partition. `problem` says why it cannot be sold as it stands; then the rest may be empty.

    `drained` is what Slurm says of it, in words; empty where it takes jobs.
    """

    name: str
    model: str
    arch: str
    serials: tuple[str, ...]
    is_away: bool
    drained: str
    problem: str


def listed_nodes(tools: Tools | None = None) -> list[ListedNode]:
    """Every node of the partition that is sold, by name. Raises ProviderError."""
    known = config.from_settings()
    nodes = controller_of(known, tools).nodes().values()
    return [_listed(known, node) for node in sorted(nodes, key=_name) if known.partition in node.partitions]


def _name(node: NodeState) -> str:
    return node.name


def _listed(known: Config, node: NodeState) -> ListedNode:
    cards = sorted(node.cards or (), key=lambda card: card.index)
    words = {known.model_of(word) for word in (node.gres_type, *(card.name for card in cards)) if word}
    return ListedNode(
        name=node.name,
        model=words.pop() if len(words) == 1 else "",
        arch=node.arch,
        serials=tuple(card.serial for card in cards),
        is_away=node.is_away,
        drained=_why_drained(node) if node.is_drained else "",
        problem=_problem(known, node),
    )


def _why_drained(node: NodeState) -> str:
    return node.reason or ", ".join(sorted(node.states))


def _problem(known: Config, node: NodeState) -> str:
    """In English, as the rest of what the engine says."""
    if not node.gres_count:
        return "Slurm has no cards (Gres=gpu:...) for it."
    if node.cards is None:
        return "it has not told its cards: HealthCheckProgram is not set up or has not run (docs/slurm.md)."
    if [card.index for card in sorted(node.cards, key=lambda card: card.index)] != list(
        range(node.gres_count)
    ):
        return f"it shows {len(node.cards)} of the {node.gres_count} cards that Slurm has for it."
    words = {word for word in (node.gres_type, *(card.name for card in node.cards)) if word}
    unmapped = sorted(word for word in words if known.model_of(word) not in known.models.values())
    if unmapped:
        return f"SLURM_MODELS does not say which accelerator this is: {', '.join(unmapped)}."
    if len({known.model_of(word) for word in words}) != 1:
        return f"its words mean different accelerators: {', '.join(sorted(words))}."
    return ""
