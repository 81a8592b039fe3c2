"""Where lots go: whole lots on one node, few nodes, the tightest one, and large lots stay possible."""

from collections.abc import Mapping
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.placement import choose_nodes, place

FREE = st.dictionaries(st.integers(1, 50), st.integers(0, 8), max_size=6)
SIZES = st.sampled_from([1, 2, 3, 4, 8])


def fewest_nodes(free: Mapping[int, int], cards_per_lot: int, lots: int) -> int | None:
    """By trying all: the smallest number of nodes that hold so many lots."""
    capacity = [count // cards_per_lot for count in free.values()]
    for number in range(1, len(capacity) + 1):
        if any(sum(some) >= lots for some in combinations(capacity, number)):
            return number
    return None


@given(FREE, SIZES, st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_lots_fit_exactly_where_they_can_and_on_the_fewest_nodes(
    free: Mapping[int, int], cards_per_lot: int, lots: int, seed: int
) -> None:
    chosen = choose_nodes(free=free, cards_per_lot=cards_per_lot, lots=lots, seed=seed)
    fewest = fewest_nodes(free, cards_per_lot, lots)
    assert (chosen is None) == (fewest is None)
    if chosen is None:
        return
    assert sum(chosen.values()) == lots
    assert len(chosen) == fewest
    assert all(0 < count * cards_per_lot <= free[node] for node, count in chosen.items())


@given(FREE, SIZES, st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_on_one_node_no_other_would_have_been_tighter(
    free: Mapping[int, int], cards_per_lot: int, lots: int, seed: int
) -> None:
    chosen = choose_nodes(free=free, cards_per_lot=cards_per_lot, lots=lots, seed=seed)
    if chosen is None or len(chosen) > 1:
        return
    (node,) = chosen
    assert free[node] == min(count for count in free.values() if count >= cards_per_lot * lots)


@given(FREE, st.data(), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_a_small_lot_opens_no_whole_node_while_a_broken_one_takes_it(
    free: Mapping[int, int], data: st.DataObject, cards_per_lot: int, seed: int
) -> None:
    """How many lots of eight are left: one less only where every other place was too small. An empty node would be
    in use for the whole term more, a broken one for a part of it or not at all."""
    term = 7.0
    prolonged = {
        node: term if count == 8 else data.draw(st.floats(0, term), label=f"node {node}")
        for node, count in free.items()
    }
    chosen = choose_nodes(free=free, cards_per_lot=cards_per_lot, lots=1, prolonged=prolonged, seed=seed)
    if chosen is None:
        return
    (node,) = chosen
    assert free[node] < 8 or not [count for count in free.values() if cards_per_lot <= count < 8]


def test_the_node_that_is_in_use_anyway_comes_before_a_tighter_one() -> None:
    """Node 2 has two free cards and would be kept a week longer; node 1 is taken until later in any case."""
    assert choose_nodes(free={1: 6, 2: 2}, cards_per_lot=2, lots=1) == {2: 1}
    assert choose_nodes(free={1: 6, 2: 2}, cards_per_lot=2, lots=1, prolonged={2: 7.0}) == {1: 1}


@given(st.integers(1, 2**32 - 1))
def test_the_seed_decides_between_equal_nodes_only(seed: int) -> None:
    assert choose_nodes(free={1: 8, 2: 4, 3: 8}, cards_per_lot=4, lots=1, seed=seed) == {2: 1}


def test_rivals_with_seeds_of_their_own_spread_over_equal_nodes() -> None:
    free = dict.fromkeys(range(1, 11), 8)
    wanted = {
        node
        for seed in range(1, 101)
        for node in choose_nodes(free=free, cards_per_lot=8, lots=1, seed=seed) or ()
    }
    assert len(wanted) == 10


def test_several_lots_prefer_one_node_then_the_fewest() -> None:
    assert choose_nodes(free={1: 4, 2: 8, 3: 6}, cards_per_lot=2, lots=3) == {3: 3}
    assert choose_nodes(free={1: 4, 2: 8, 3: 6}, cards_per_lot=2, lots=5) == {2: 4, 1: 1}
    assert choose_nodes(free={1: 4, 2: 8, 3: 6}, cards_per_lot=2, lots=10) is None


def test_cards_are_those_of_the_chosen_nodes() -> None:
    assert place(free={1: [11, 12, 13], 2: [21, 22]}, cards_per_lot=2, lots=1) == [21, 22]
    assert place(free={1: [11, 12, 13], 2: [21, 22]}, cards_per_lot=2, lots=3) is None


@pytest.mark.parametrize(("cards_per_lot", "lots"), [(0, 1), (1, 0), (-1, 1)])
def test_nothing_is_no_lot(cards_per_lot: int, lots: int) -> None:
    with pytest.raises(ValueError, match="at least one"):
        choose_nodes(free={1: 8}, cards_per_lot=cards_per_lot, lots=lots)
