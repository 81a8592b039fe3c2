"""The cluster's entry in the common suite of the providers: how it is made, broken and mended there."""

from collections.abc import Callable
from typing import Any

from fleet.providers.base import NotYet, Provider, ProviderUnavailable
from fleet.providers.slurm.provider import SlurmProvider
from fleet.providers.slurm.tools import TOOL_SECONDS, Tools, as_user
from tests.contract.providers import KEYS, Driven, Undo, Unit, specs
from tests.factories.catalog import AcceleratorFactory
from tests.factories.fleet import CardFactory, NodeFactory
from tests.slurm import scripts
from tests.slurm.cluster import Cluster
from tests.slurm.scripts import NODES

# One cluster for the run: the suite's dict of providers is filled before there are fixtures.
_running: list[Cluster] = []


def use(cluster: Cluster) -> None:
    """The cluster that the entry drives."""
    _running[:] = [cluster]


class SlurmBench:
    """Breaks what the nodes show, a node's state, or the way of an answer to its caller."""

    def __init__(self) -> None:
        self.lost: set[str] = set()

    def card_unhealthy(self, serial: str) -> Undo:
        return self._show(serial, lambda line: [line.rpartition(",")[0] + ", 3"])

    def card_missing(self, serial: str) -> Undo:
        return self._show(serial, lambda line: [])

    def node_away(self, name: str) -> Undo:
        _running[0].down(name)
        return lambda: _running[0].up(name)

    def answer_lost(self, verb: str) -> Undo:
        self.lost.add(verb)
        return lambda: self.lost.discard(verb)

    def pass_its_time(self, lease_id: int) -> None:
        """What Slurm leaves of a reservation once its end has passed: nothing, and no job."""
        cluster = _running[0]
        for account in cluster.accounts:
            cluster.run("scancel", f"--user={account}")
        cluster.wait(lambda: not cluster.run("squeue", "-h", "-a").strip(), "the jobs to end")
        cluster.run("scontrol", "delete", f"reservation=anchor_{lease_id}", check=True)

    def _show(self, serial: str, change: Any) -> Undo:
        name = serial.split("-")[1]
        lines = scripts.card_lines(name)
        shown = [new for line in lines for new in (change(line) if f" {serial}," in line else [line])]
        _running[0].write_cards(name, shown)
        return lambda: _running[0].write_cards(name, lines)


def patiently(call: Callable[..., Any], *args: Any) -> Any:
    """The answer of a verb, however often the engine says that it is still at it."""
    for _time in range(20):
        try:
            return call(*args)
        except NotYet:
            continue
    raise AssertionError("The engine never got done.")


class Lossy:
    """The driver as a worker calls it: what is not done yet is asked for again. A verb whose answer is to be lost does
    its work and tells nobody."""

    def __init__(self, inner: SlurmProvider, bench: SlurmBench) -> None:
        self._inner, self._bench = inner, bench

    def __getattr__(self, verb: str) -> Any:
        call = getattr(self._inner, verb)

        def run(*args: Any) -> Any:
            answer = patiently(call, *args)
            if verb in self._bench.lost:
                self._bench.lost.discard(verb)
                raise ProviderUnavailable("No answer in time (test).")
            return answer

        return run


class PlacedTools(Tools):
    """The tools of the cluster's own Slurm, wherever that is: a step on the nodes needs those of its version."""

    def run(self, *command: str, user: str = "", seconds: float = TOOL_SECONDS) -> str:
        return super().run(*_running[0].inside, *as_user(user), *command, seconds=seconds)


BENCH = SlurmBench()


def make() -> Provider:
    """The suite's keys stand in no row."""
    BENCH.lost.clear()
    provider: Any = Lossy(
        SlurmProvider(
            tools=PlacedTools(), key_lines=lambda _lease_id, wanted: [KEYS[name] for name in wanted]
        ),
        BENCH,
    )
    return provider  # type: ignore[no-any-return]


def four_nodes() -> list[Unit]:
    """The fleet as an import of the cluster would make it: a unit is a node of eight cards."""
    accelerator = AcceleratorFactory.create(slug=scripts.SLUG, board_power_w=700)
    for name in NODES:
        node = NodeFactory.create(name=name, accelerator=accelerator)
        for index in range(scripts.CARDS):
            CardFactory.create(node=node, index=index, serial=scripts.serial(name, index))
    found = specs()
    return [tuple(card for card in found if card.node == name) for name in NODES]


DRIVEN = Driven(make, BENCH, four_nodes)
