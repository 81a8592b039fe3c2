"""The Slurm cluster of bench.chaos --provider slurm: started for the run, and its daemons killed in it."""

import random
import time

from tests.slurm.cluster import Cluster

# The controller, and the daemon of one of the nodes.
ENGINE = ("slurmctld", "slurmd")
AWAY_SECONDS = 1.5


class Engine:
    """Four nodes of eight fake cards on this machine (docs/slurm.md). Needs root."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._cluster = Cluster()

    def start(self) -> None:
        self._cluster.start()

    def stop(self) -> None:
        self._cluster.stop()

    def settings(self) -> dict[str, str]:
        """Those of a shop that sells this cluster."""
        return self._cluster.settings()

    def kill(self, name: str) -> None:
        """SIGKILL, and after a moment it is started again with what it had on disk."""
        process = (
            self._cluster.controller
            if name == "slurmctld"
            else self._cluster.nodes[self._chance.choice(sorted(self._cluster.nodes))]
        )
        process.kill()
        time.sleep(self._chance.uniform(0.0, AWAY_SECONDS))
        process.start()
