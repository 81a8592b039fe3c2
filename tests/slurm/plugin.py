"""With --run-slurm (bin/test --slurm): a cluster for the run, and its driver in the common suite of the providers.

Without it tests/slurm is not collected at all; with it, whatever is missing fails the run.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings as django_settings

from anchorgpu.slurm import read_slurm
from tests.contract import providers
from tests.slurm import bench
from tests.slurm.cluster import Cluster
from tests.slurm.newer import NewerCluster


@pytest.fixture(scope="session")
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """The one cluster of the run, known to Django's settings; it ends with the run, however that ends."""
    root = request.config.getoption("--slurm-root")
    started = NewerCluster(Path(root)) if root else Cluster()
    try:
        started.start()
        configure(started)
        bench.use(started)
        yield started
    finally:
        started.stop()


@pytest.fixture(autouse=True)
def clean_cluster(cluster: Cluster) -> Iterator[None]:
    """Every test finds it empty and well."""
    yield
    cluster.reset()


def configure(cluster: Cluster) -> None:
    """Django's settings as an installation with this cluster has them; PROVIDER stays, tests that want it set it."""
    known = read_slurm(cluster.settings(), provider="slurm")
    for name, value in vars(known).items():
        setattr(django_settings, f"SLURM_{name.upper()}", value)


# Before the common suite is collected: it runs over what is in this dict.
providers.PROVIDERS["slurm"] = bench.DRIVEN
