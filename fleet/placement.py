"""Where lots go: pure choice of nodes and cards, best fit so that large lots stay possible (docs/capacity.md)."""

from collections.abc import Mapping, Sequence

# So many of the tightest nodes are compared by how long they are in use: more make no difference that can be measured
# (bench.fragmentation), and the question costs the same on a fleet of any size.
SHORT_LIST = 8


def short_list(*, free: Mapping[int, int], cards: int, seed: int = 0) -> list[int]:
    """The tightest nodes that have so many free cards, at most SHORT_LIST."""
    fitting = [node for node, count in free.items() if count >= cards]
    return sorted(fitting, key=lambda node: (free[node], _shuffled(node, seed)))[:SHORT_LIST]


def choose_nodes(
    *,
    free: Mapping[int, int],
    cards_per_lot: int,
    lots: int,
    prolonged: Mapping[int, float] | None = None,
    seed: int = 0,
) -> dict[int, int] | None:
    """How many lots go to which node, each lot on ONE node; None if they do not fit.

    `free` maps a node key to its number of free cards, `prolonged` to how much longer than now the node would be in
    use (in any unit, 0 where it is left out). One node that takes all lots is preferred: the one that is prolonged
    least, of equal ones the one that is left with the fewest free cards. So a node that is empty, or will be empty
    soon, stays or becomes a whole one. Otherwise as few nodes as possible: those that take most lots are filled, and
    what remains goes where it fits best. `seed` decides between equal nodes, so that rivals with seeds of their own do
    not all want the same one.
    """
    if cards_per_lot < 1 or lots < 1:
        raise ValueError("A lot has at least one card and an order at least one lot.")
    capacity = {node: count // cards_per_lot for node, count in free.items() if count >= cards_per_lot}
    if sum(capacity.values()) < lots:
        return None

    longer = prolonged or {}

    def best(node: int) -> tuple[float, int, int]:
        return longer.get(node, 0), free[node], _shuffled(node, seed)

    chosen: dict[int, int] = {}
    left = lots
    for node in sorted(capacity, key=lambda node: (-capacity[node], best(node))):
        if left <= capacity[node]:
            break
        chosen[node] = capacity[node]
        left -= capacity[node]
    rest = [node for node, count in capacity.items() if count >= left and node not in chosen]
    chosen[min(rest, key=best)] = left
    return chosen


def place(
    *, free: Mapping[int, Sequence[int]], cards_per_lot: int, lots: int, seed: int = 0
) -> list[int] | None:
    """Card keys for `lots` lots of `cards_per_lot` cards, each lot on ONE node; None if they do not fit.

    `free` maps a node key to its free card keys. The nodes are those of `choose_nodes`.
    """
    nodes = choose_nodes(
        free={node: len(cards) for node, cards in free.items()},
        cards_per_lot=cards_per_lot,
        lots=lots,
        seed=seed,
    )
    if nodes is None:
        return None
    return [card for node, count in nodes.items() for card in free[node][: count * cards_per_lot]]


def _shuffled(node: int, seed: int) -> int:
    """The key itself for seed 0, else a number that looks random (Knuth's multiplicative hash)."""
    return (node ^ seed) * 2654435761 % 2**32 if seed else node
