"""Where lots go: pure choice of cards among free ones, best fit so that large lots stay possible."""

from collections.abc import Mapping, Sequence


def place(*, free: Mapping[int, Sequence[int]], cards_per_lot: int, lots: int) -> list[int] | None:
    """Card keys for `lots` lots of `cards_per_lot` cards, each lot on ONE node; None if they do not fit.

    `free` maps a node key to its free card keys. One node that takes all lots is preferred, the one that is left
    with the fewest free cards; otherwise the fullest nodes that take most lots are filled first.
    """
    if cards_per_lot < 1 or lots < 1:
        raise ValueError("A lot has at least one card and an order at least one lot.")
    needed = cards_per_lot * lots
    fitting = [node for node, cards in free.items() if len(cards) >= needed]
    if fitting:
        node = min(fitting, key=lambda key: (len(free[key]), key))
        return list(free[node][:needed])
    chosen: list[int] = []
    left = lots
    # A node whose free cards divide evenly into lots leaves no fragment behind.
    order = sorted(free, key=lambda key: (len(free[key]) % cards_per_lot, -len(free[key]), key))
    for node in order:
        take = min(left, len(free[node]) // cards_per_lot)
        chosen.extend(free[node][: take * cards_per_lot])
        left -= take
        if left == 0:
            return chosen
    return None
