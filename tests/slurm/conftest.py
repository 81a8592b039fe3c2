"""What tests on the cluster share: the shop set to it, leases that are stepped, logins as a buyer makes them."""

import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncssh
import pytest
from django.utils import timezone

from catalog.models import Accelerator
from fleet.models import Lease, SlurmMachine
from fleet.providers.slurm.provider import SlurmProvider
from fleet.services.work import work_lease
from tests.factories.catalog import LotFactory
from tests.factories.fleet import make_lease, new_key
from tests.fleet import clients
from tests.slurm import scripts
from tests.slurm.bench import four_nodes
from tests.slurm.cluster import Cluster

STEPS = 60


@dataclass(frozen=True)
class Buyer:
    """A lease of whole nodes and the key that opens it."""

    lease: Lease
    key: asyncssh.SSHKey
    key_file: Path

    @property
    def machine(self) -> SlurmMachine:
        return SlurmMachine.objects.get(lease_id=self.lease.pk)


@pytest.fixture
def provider() -> SlurmProvider:
    return SlurmProvider()


@pytest.fixture
def shop(settings: Any, cluster: Cluster) -> None:
    """The shop sells this cluster: four nodes of eight cards."""
    settings.PROVIDER = "slurm"
    four_nodes()


@pytest.fixture
def buy(shop: None, tmp_path: Path) -> Callable[..., Buyer]:
    """A paid lease of so many nodes, not yet begun."""

    def make(lots: int = 1) -> Buyer:
        lot = LotFactory.create(accelerator=Accelerator.objects.get(slug=scripts.SLUG), cards=scripts.CARDS)
        key, public = new_key()
        lease = make_lease(lot, lots=lots, keys=[public])
        return Buyer(lease=lease, key=key, key_file=clients.write_key(tmp_path, key, f"id-{lease.pk}"))

    return make


def advance(lease: Lease, *, until: str) -> Lease:
    """Step a lease as its worker does, without the pauses between; it must reach this state."""
    for _step in range(STEPS):
        Lease.objects.filter(pk=lease.pk).update(next_at=timezone.now())
        work_lease(lease_id=lease.pk)
        lease = Lease.objects.get(pk=lease.pk)
        if lease.status == until:
            return lease
    raise AssertionError(f"The lease is {lease.status}, not {until}: {lease.last_error}")


def ssh(cluster: Cluster, buyer: Buyer, *words: str) -> subprocess.CompletedProcess[str]:
    """A login at the cluster's login host with the host key pinned, as the order page says it."""
    return subprocess.run(
        ssh_line(cluster, buyer, *words), capture_output=True, text=True, timeout=30, check=False
    )


def ssh_line(cluster: Cluster, buyer: Buyer, *words: str) -> list[str]:
    known = buyer.key_file.parent / "known_hosts"
    host_key = (cluster.folder / "ssh_host_key.pub").read_text()
    known.write_text(f"[127.0.0.1]:{cluster.ssh_port} {host_key}")
    return [
        *(clients.openssh(), "-F", "/dev/null", "-p", str(cluster.ssh_port), "-i", str(buyer.key_file)),
        *("-o", "BatchMode=yes", "-o", "IdentitiesOnly=yes", "-o", "StrictHostKeyChecking=yes"),
        *("-o", f"UserKnownHostsFile={known}", "-o", "ConnectTimeout=10"),
        *(f"{buyer.machine.account}@127.0.0.1", *words),
    ]
