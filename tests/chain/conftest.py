"""One local chain per run with the lab's contracts; every test gets it as it was after their deployment."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest

from anchorgpu.services.anvil import Anvil
from tests.chain.endpoints import FaultyEndpoint, Rule
from tests.chain.lab import ChainLab


@pytest.fixture(scope="session")
def _deployed(anvil: Anvil) -> ChainLab:
    return ChainLab(anvil)


@pytest.fixture
def chain_lab(_deployed: ChainLab) -> Iterator[ChainLab]:
    """The lab; whatever the test does to the chain is undone."""
    snapshot = _deployed.anvil.snapshot()
    # A reverted chain goes on from the time of its snapshot, and so falls behind from test to test.
    _deployed.anvil.rpc("evm_setTime", int(time.time()))
    yield _deployed
    _deployed.anvil.revert(snapshot)


@pytest.fixture
def endpoint(chain_lab: ChainLab) -> Iterator[Callable[[Rule], FaultyEndpoint]]:
    """Makes HTTP endpoints in front of the chain that answer by a rule."""
    made: list[FaultyEndpoint] = []

    def make(rule: Rule) -> FaultyEndpoint:
        made.append(FaultyEndpoint(chain_lab.anvil.url, rule))
        return made[-1]

    yield make
    for one in made:
        one.close()
