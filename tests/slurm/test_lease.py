"""Leases on the cluster as the worker drives them: from the paid hold to a login, to the end and the wipe."""

import subprocess
from collections.abc import Callable
from datetime import timedelta

import pytest

from core import clock
from core.models import Decision
from fleet.models import Lease
from fleet.providers.slurm.provider import SlurmProvider
from fleet.selectors import access_of_order, cards_of_hold
from fleet.services.watch_health import watch_health
from tests.fleet.rows import reload
from tests.slurm.cluster import Cluster
from tests.slurm.conftest import Buyer, advance, ssh, ssh_line

pytestmark = pytest.mark.django_db
Buy = Callable[..., Buyer]


def test_from_the_paid_hold_to_the_login_to_the_wipe(cluster: Cluster, buy: Buy) -> None:
    buyer = buy(lots=2)
    lease = advance(buyer.lease, until="ready")
    assert lease.test_report["passed"]
    assert lease.test_report["login"]["user"] == buyer.machine.account
    access = access_of_order(lease.order_ref)
    assert access is not None
    assert (access.host, access.port, access.user) == ("127.0.0.1", cluster.ssh_port, buyer.machine.account)
    assert (cluster.folder / "ssh_host_key.pub").read_text().split()[1] in access.known_hosts_line

    listed = ssh(cluster, buyer, "nvidia-smi", "-L")
    assert listed.stdout.count("GPU ") == 16, listed.stderr
    assert ssh(cluster, buyer, "touch", "mine").returncode == 0
    session = subprocess.Popen(ssh_line(cluster, buyer, "sleep", "600"), stdin=subprocess.DEVNULL)
    account, nodes = buyer.machine.account, set(buyer.machine.node_names)

    Lease.objects.filter(pk=lease.pk).update(ends_at=clock.now())
    lease = advance(lease, until="closed")
    assert session.wait(timeout=20) != 0, "an open session is closed"
    assert ssh(cluster, buyer, "true").returncode == 255
    assert lease.wipe_record["method"] == "wipe"
    assert len(lease.wipe_record["cards"]) == 16
    wiped = (cluster.folder / "wiped").read_text().splitlines()
    assert {line.split()[0] for line in wiped} == nodes
    assert {line.split()[1] for line in wiped} == {account}
    assert not list((cluster.folder / "home" / account).iterdir())
    assert cluster.reservations() == []


def test_a_foreign_reservation_sends_the_lease_to_another_node(cluster: Cluster, buy: Buy) -> None:
    buyer = buy()
    first = cards_of_hold(buyer.lease.hold_id)[0].node.name
    foreign = cluster.foreign_reservation(first)
    lease = advance(buyer.lease, until="ready")
    assert {card.node.name for card in cards_of_hold(lease.hold_id)}.isdisjoint({first})
    assert foreign in cluster.reservations(), "what is not ours stays"
    assert not Decision.objects.filter(kind="lease_failing", closed_at=None)


def test_a_foreign_hand_takes_the_reservation(cluster: Cluster, buy: Buy) -> None:
    """What the hooks of the cluster would have told is found by the next look, too."""
    buyer = buy()
    lease = advance(buyer.lease, until="ready")
    cluster.run("scancel", f"--user={buyer.machine.account}")
    cluster.wait(lambda: not cluster.run("squeue", "-h", "-a").strip(), "the jobs to end")
    cluster.run("scontrol", "delete", f"reservation=anchor_{lease.pk}", check=True)
    watch_health()
    assert reload(lease).status == "degraded"
    assert Decision.objects.filter(kind="machine_missing", closed_at=None).exists()


def test_keys_come_and_go_during_the_lease(cluster: Cluster, buy: Buy, provider: SlurmProvider) -> None:
    buyer = buy()
    lease = advance(buyer.lease, until="ready")
    assert ssh(cluster, buyer, "true").returncode == 0
    provider.members(lease.pk, ())
    assert ssh(cluster, buyer, "true").returncode == 255
    fingerprint = buyer.key.get_fingerprint("sha256")
    provider.members(lease.pk, (fingerprint,))
    assert ssh(cluster, buyer, "true").returncode == 0
    line = (cluster.folder / "keys" / buyer.machine.account).read_text()
    passed = f"{clock.now() - timedelta(minutes=1):%Y%m%d%H%M%SZ}"
    (cluster.folder / "keys" / buyer.machine.account).write_text(
        f'expiry-time="{passed}" {line.partition(" ")[2]}'
    )
    assert ssh(cluster, buyer, "true").returncode == 255, "the login host itself refuses after the end"
