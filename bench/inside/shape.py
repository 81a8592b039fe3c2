"""The production shape of a measurement: a chain that makes blocks, and the four programs of `bin/serve`."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings

from anchorgpu.programs import command
from anchorgpu.services.anvil import Anvil
from anchorgpu.services.ports import LOCALHOST, free_port
from anchorgpu.services.process import Process
from bench.inside.visit import Visitor
from tests.chain.lab import ChainLab, network_table

BLOCK_SECONDS = 2
SETTLE = 'mode = "confirmations", value = 3'
# Older than any order here; addresses of a measurement are called clean as of block 100.
FIRST_BLOCKS = 120


@contextmanager
def chain() -> Iterator[ChainLab]:
    """A chain of its own, which the settings of this process and of those it starts name."""
    folder = Path(os.environ["BENCH_FOLDER"])
    # Under the id of a true chain: the settings of a true installation refuse that of the demo.
    anvil = Anvil(log_file=folder / "anvil.log", chain_id=1, extra=("--prune-history", "300"))
    anvil.start()
    try:
        lab = ChainLab(anvil)
        lab.mine(FIRST_BLOCKS)
        file = folder / "load-networks.toml"
        file.write_text(
            network_table(lab, multicall=True, settle=SETTLE).replace("test = true\n", ""), encoding="utf-8"
        )
        os.environ["EVM_NETWORKS_FILE"] = settings.EVM_NETWORKS_FILE = str(file)
        anvil.rpc("evm_setIntervalMining", BLOCK_SECONDS)
        yield lab
    finally:
        anvil.stop()


@contextmanager
def programs(
    names: Sequence[str] = ("web", "worker", "beat", "gateway"),
) -> Iterator[tuple[int, list[Process]]]:
    """The port of the web server and the processes, once pages are answered."""
    folder, port = Path(os.environ["BENCH_FOLDER"]), free_port()
    env = dict(os.environ) | {
        "WEB_LISTEN": f"{LOCALHOST}:{port}",
        "SSH_LISTEN": f"{LOCALHOST}:{free_port()}",
    }
    running = [
        Process(name=f"The {name}", command=command(name), log_file=folder / f"{name}.log", env=env)
        for name in names
    ]
    try:
        for process in running:
            process.start()
        running[0].wait_until(Visitor(port).is_answered, seconds=60)
        yield port, running
    finally:
        for process in reversed(running):
            process.stop()
