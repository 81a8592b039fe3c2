"""How often a lot of eight cards cannot be sold although eight cards are free somewhere.

    python -m bench.fragmentation [--nodes 25] [--load 0.8] [--days 400] [--runs 5] [--json]

A fleet of eight-card nodes is filled and drained at random: lots of 1, 2, 4 and 8 cards for 3, 7 and 30 days arrive as
a Poisson stream that asks for `load` of all cards; an order that fits nowhere is lost. At each arrival: are eight cards
free in sum, and is there a node with eight free? The shop's own placement is compared with tightest node only, first
fit and random choice on the same stream, and with what was achievable without moving a lease: the best of many replays
of the stream, each with other choices among good ones, picked afterwards. Exit code 1 where the shop's placement is
worse than first fit or more than twice the achievable share (plus one per cent).
"""

import argparse
import heapq
import json
import random
import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from fleet.placement import choose_nodes, short_list

NODE_CARDS = 8
SIZES, SIZE_WEIGHTS = (1, 2, 4, 8), (40, 30, 20, 10)
TERMS, TERM_WEIGHTS = (3.0, 7.0, 30.0), (50, 30, 20)
# The stream needs about two of the longest terms until the fleet looks like itself.
SETTLING_DAYS = 60
REPLAYS = 40


@dataclass(frozen=True)
class Wish:
    """One order of the stream."""

    at: float
    cards: int
    days: float


@dataclass(frozen=True)
class Fleet:
    """Free cards of each node and until when a card of it is taken (0: never was)."""

    free: Mapping[int, int]
    until: Mapping[int, float]


Choice = Callable[[Fleet, Wish, random.Random], int]


def stream(*, nodes: int, load: float, days: float, seed: int) -> list[Wish]:
    """Orders whose cards times days are `load` of what the fleet has."""
    dice = random.Random(seed)  # noqa: S311  # nosec B311 # a repeatable stream, no secret
    cards = sum(a * b for a, b in zip(SIZES, SIZE_WEIGHTS, strict=True)) / sum(SIZE_WEIGHTS)
    term = sum(a * b for a, b in zip(TERMS, TERM_WEIGHTS, strict=True)) / sum(TERM_WEIGHTS)
    wishes, at = [], 0.0
    while at < days:
        at += dice.expovariate(load * nodes * NODE_CARDS / (cards * term))
        (size,), (days_of,) = dice.choices(SIZES, SIZE_WEIGHTS), dice.choices(TERMS, TERM_WEIGHTS)
        wishes.append(Wish(at, size, days_of))
    return wishes


def refused_share(wishes: Sequence[Wish], *, nodes: int, choose: Choice, seed: int) -> float:
    """Of all moments with eight cards free in sum, the share without a node that has eight."""
    dice = random.Random(seed)  # noqa: S311  # nosec B311 # a repeatable choice, no secret
    free = dict.fromkeys(range(1, nodes + 1), NODE_CARDS)
    until = dict.fromkeys(free, 0.0)
    ends: list[tuple[float, int, int]] = []
    possible = broken = 0
    for wish in wishes:
        while ends and ends[0][0] <= wish.at:
            _end, node, cards = heapq.heappop(ends)
            free[node] += cards
        if wish.at > SETTLING_DAYS and sum(free.values()) >= NODE_CARDS:
            possible += 1
            broken += max(free.values()) < NODE_CARDS
        if max(free.values()) < wish.cards:
            continue
        node = choose(Fleet(free, until), wish, dice)
        free[node] -= wish.cards
        heapq.heappush(ends, (wish.at + wish.days, node, wish.cards))
        until[node] = max(until[node], wish.at + wish.days)
    return broken / possible if possible else 0.0


def shop(fleet: Fleet, wish: Wish, dice: random.Random) -> int:
    """As a booking does it (fleet.services.hold)."""
    short = short_list(free=fleet.free, cards=wish.cards)
    return _only(
        choose_nodes(
            free={node: fleet.free[node] for node in short},
            cards_per_lot=wish.cards,
            lots=1,
            prolonged={node: _prolonged(fleet, wish, node) for node in short},
        )
    )


def tightest(fleet: Fleet, wish: Wish, dice: random.Random) -> int:
    return _only(choose_nodes(free=fleet.free, cards_per_lot=wish.cards, lots=1))


def first_fit(fleet: Fleet, wish: Wish, dice: random.Random) -> int:
    return min(_fitting(fleet, wish))


def at_random(fleet: Fleet, wish: Wish, dice: random.Random) -> int:
    return dice.choice(_fitting(fleet, wish))


def nearly_best(fleet: Fleet, wish: Wish, dice: random.Random) -> int:
    """One of the better nodes: each replay takes another way through the same stream."""
    weight = 1.0 + dice.random()

    def cost(node: int) -> float:
        return _prolonged(fleet, wish, node) + weight * fleet.free[node] * dice.random()

    return min(_fitting(fleet, wish), key=cost)


def _fitting(fleet: Fleet, wish: Wish) -> list[int]:
    return [node for node, cards in fleet.free.items() if cards >= wish.cards]


def _prolonged(fleet: Fleet, wish: Wish, node: int) -> float:
    return max(0.0, wish.at + wish.days - max(wish.at, fleet.until[node]))


def _only(nodes: Mapping[int, int] | None) -> int:
    if nodes is None:
        raise RuntimeError("The stream asks only for what fits.")
    return next(iter(nodes))


def measure(*, nodes: int, load: float, days: float, runs: int) -> dict[str, float]:
    """Mean shares over so many streams."""
    policies = {"shop": shop, "tightest": tightest, "first_fit": first_fit, "random": at_random}
    shares: dict[str, list[float]] = {name: [] for name in [*policies, "achievable"]}
    for seed in range(runs):
        wishes = stream(nodes=nodes, load=load, days=days, seed=seed)
        for name, choose in policies.items():
            shares[name].append(refused_share(wishes, nodes=nodes, choose=choose, seed=seed))
        replays = [
            refused_share(wishes, nodes=nodes, choose=nearly_best, seed=replay) for replay in range(REPLAYS)
        ]
        shares["achievable"].append(min([*replays, *(values[-1] for values in shares.values() if values)]))
    return {name: statistics.mean(values) for name, values in shares.items()}


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.fragmentation",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--nodes", type=int, default=25)
    parser.add_argument("--load", type=float, default=0.8, help="of all cards, what is asked for")
    parser.add_argument("--days", type=float, default=400)
    parser.add_argument("--runs", type=int, default=5, help="streams")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of the line")
    asked = parser.parse_args()
    shares = measure(nodes=asked.nodes, load=asked.load, days=asked.days, runs=asked.runs)
    good = shares["shop"] <= shares["first_fit"] and shares["shop"] <= 2 * shares["achievable"] + 0.01
    if asked.json:
        facts = {name: round(share, 4) for name, share in shares.items()}
        sys.stdout.write(json.dumps(facts | {"nodes": asked.nodes, "load": asked.load}) + "\n")
    else:
        told = ", ".join(f"{name} {share:.1%}" for name, share in shares.items())
        sys.stdout.write(
            f"8-card lot refused with 8 cards free, {asked.nodes} nodes at {asked.load}: {told}\n"
        )
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
