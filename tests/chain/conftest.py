"""One local chain per run with the lab's contracts; every test gets it as it was after their deployment."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from anchorgpu.services.anvil import CHAIN_ID, Anvil
from tests.chain.endpoints import FaultyEndpoint, Rule
from tests.chain.lab import SECOND_CHAIN_ID, ChainLab

# A node holds the states of 500 blocks in memory, those of undone tests too. Older ones it forgets, and a deep reorg
# then ends at a state without the contracts. So a young node takes its place in good time: that costs half a second.
BLOCKS_OF_A_NODE = 300


class Deployed:
    """The lab on a chain of its own, as long as the node is young enough."""

    def __init__(self, folder: Path, *, chain_id: int) -> None:
        self._folder = folder
        self._chain_id = chain_id
        self._lab: ChainLab | None = None

    def lab(self) -> ChainLab:
        if self._lab is None or self._lab.blocks_made > BLOCKS_OF_A_NODE:
            self.stop()
            anvil = Anvil(log_file=self._folder / "anvil.log", chain_id=self._chain_id)
            anvil.start()
            self._lab = ChainLab(anvil)
        return self._lab

    def stop(self) -> None:
        if self._lab is not None:
            self._lab.anvil.stop()


def _undone_at_the_end(lab: ChainLab) -> Iterator[ChainLab]:
    snapshot = lab.anvil.snapshot()
    # A reverted chain goes on from the time of its snapshot, and so falls behind from test to test.
    lab.anvil.rpc("evm_setTime", int(time.time()))
    yield lab
    lab.anvil.revert(snapshot)


@pytest.fixture(scope="session")
def _deployed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployed]:
    found = Deployed(tmp_path_factory.mktemp("chain"), chain_id=CHAIN_ID)
    yield found
    found.stop()


@pytest.fixture
def chain_lab(_deployed: Deployed) -> Iterator[ChainLab]:
    """The lab; whatever the test does to the chain is undone."""
    yield from _undone_at_the_end(_deployed.lab())


@pytest.fixture(scope="session")
def _second_deployed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployed]:
    found = Deployed(tmp_path_factory.mktemp("second"), chain_id=SECOND_CHAIN_ID)
    yield found
    found.stop()


@pytest.fixture
def second_lab(_second_deployed: Deployed) -> Iterator[ChainLab]:
    """Another network with the same contracts."""
    yield from _undone_at_the_end(_second_deployed.lab())


@pytest.fixture
def networks_file(tmp_path: Path, settings: Any) -> Callable[..., None]:
    """Writes the networks file anew: tables of networks as `network_table` makes them."""

    def write(*tables: str) -> None:
        file = tmp_path / "networks.toml"
        file.write_text("\n".join(tables), encoding="utf-8")
        settings.EVM_NETWORKS_FILE = str(file)

    return write


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
