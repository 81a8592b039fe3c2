"""What goes wrong on a cluster while the shop sells it: each ends by itself, or with a decision that says so."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from django.db import connection, transaction
from django.utils import timezone

from core.models import Decision
from fleet.models import Lease, Node, Outage
from fleet.providers.base import ProviderUnavailable
from fleet.providers.slurm import wiping
from fleet.selectors import cards_of_hold
from fleet.services import silence
from fleet.services.repair import move_by_decision
from fleet.services.sweep import reconcile_machines
from fleet.services.watch_health import watch_health
from fleet.services.work import work_lease
from tests.fleet.rows import reload
from tests.slurm.cluster import ROOT, Cluster
from tests.slurm.conftest import Buyer, advance, ssh
from tests.slurm.scripts import NODES

pytestmark = pytest.mark.django_db
Buy = Callable[..., Buyer]


def node_of(lease: Lease) -> str:
    return cards_of_hold(lease.hold_id)[0].node.name


def step(lease: Lease) -> bool:
    Lease.objects.filter(pk=lease.pk).update(next_at=timezone.now())
    return work_lease(lease_id=lease.pk)


def open_kinds() -> set[str]:
    return set(Decision.objects.filter(closed_at=None).values_list("kind", flat=True))


def test_foreign_reservations_on_every_node_are_a_decision_and_it_goes_on_when_one_goes(
    cluster: Cluster, buy: Buy
) -> None:
    buyer = buy()
    foreign = {name: cluster.foreign_reservation(name) for name in NODES}
    # Each node is tried until it has refused three times; the last one is where it stays.
    for _step in range(3 * len(NODES) + 2 * len(NODES)):
        step(buyer.lease)
    lease = reload(buyer.lease)
    assert lease.status == "reserved"
    assert "overlaps" in lease.last_error
    assert "lease_failing" in open_kinds()
    assert set(cluster.reservations()) == set(foreign.values()), "what is not ours stays"

    cluster.run("scontrol", "delete", f"reservation={foreign[node_of(lease)]}", check=True)
    lease = advance(lease, until="ready")
    assert "lease_failing" not in open_kinds()


def test_a_node_goes_down_in_the_term_and_comes_back(cluster: Cluster, buy: Buy) -> None:
    buyer = buy()
    lease = advance(buyer.lease, until="ready")
    name = node_of(lease)
    cluster.down(name)
    watch_health()
    assert reload(lease).status == "degraded"
    assert open_kinds() == {"node_away", "lease_degraded"}
    assert not Node.objects.get(name=name).healthy
    assert Outage.objects.filter(lease=lease, ended_at=None, cause="node").count() == 8
    cluster.up(name)
    watch_health()
    watch_health()
    assert reload(lease).status == "ready"
    assert open_kinds() == set()
    assert not Outage.objects.filter(ended_at=None).exists()
    cluster.wait(lambda: ssh(cluster, buyer, "nvidia-smi", "-L").stdout.count("GPU ") == 8, "its cards")


def test_a_lease_on_a_broken_node_moves_to_another_by_decision(cluster: Cluster, buy: Buy) -> None:
    """One card is broken for good: staff move the lease, the old node is wiped, the account and its keys stay."""
    buyer = buy()
    lease = advance(buyer.lease, until="ready")
    name, account = node_of(lease), buyer.machine.account
    lines = (cluster.folder / "cards" / name).read_text().splitlines()
    cluster.write_cards(name, [*lines[:3], lines[3].rpartition(",")[0] + ", 7", *lines[4:]])
    watch_health()
    decision = Decision.objects.get(kind="lease_degraded", closed_at=None)
    with transaction.atomic():
        move_by_decision(decision=decision, actor="ada", reason="a card is dead")
    lease = advance(lease, until="ready")
    assert node_of(lease) != name
    assert buyer.machine.account == account
    assert ssh(cluster, buyer, "nvidia-smi", "-L").stdout.count("GPU ") == 8
    assert f"{name} {account}" in (cluster.folder / "wiped").read_text().splitlines()


def test_a_node_is_drained_in_the_term_and_wiped_when_it_is_back(
    cluster: Cluster, buy: Buy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What runs there runs on; the wipe is a job, and Slurm starts none there."""
    monkeypatch.setattr(wiping, "WAIT_SECONDS", 0.3)
    buyer = buy()
    lease = advance(buyer.lease, until="ready")
    name = node_of(lease)
    cluster.run("scontrol", "update", f"NodeName={name}", "State=DRAIN", "Reason=fans", check=True)
    watch_health()
    assert reload(lease).status == "ready"
    assert ssh(cluster, buyer, "nvidia-smi", "-L").stdout.count("GPU ") == 8
    Lease.objects.filter(pk=lease.pk).update(ends_at=timezone.now())
    advance(lease, until="wiping")
    for _step in range(20):
        step(lease)
        if open_kinds():
            break
    assert "is drained" in reload(lease).last_error
    assert open_kinds() == {"wipe_failed"}
    cluster.up(name)
    monkeypatch.undo()
    advance(lease, until="closed")
    assert open_kinds() == set()
    assert cluster.reservations() == []


def test_the_controller_is_gone(cluster: Cluster, buy: Buy, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two looks stand for the three after which staff are asked, and a third for the ten over ten minutes after which
    nobody can vouch for the cards: each look waits for Slurm's own limit."""
    monkeypatch.setattr(silence, "LOOKS_BEFORE_ALERT", 2)
    first = advance(buy().lease, until="ready")
    second = buy().lease
    cluster.controller_stop()
    try:
        look_in_vain()
        look_in_vain()
        assert not step(second)
        assert open_kinds() == {"provider_silent"}
        assert (reload(first).status, reload(second).status) == ("ready", "reserved")
        assert reload(second).attempts == 1
        assert not Outage.objects.exists()
        monkeypatch.setattr(silence, "LOOKS_BEFORE_OUTAGE", 3)
        monkeypatch.setattr(silence, "OUTAGE_AFTER", timedelta(0))
        look_in_vain()
        assert reload(first).status == "degraded"
        assert Outage.objects.filter(lease=first, ended_at=None).count() == 8
    finally:
        cluster.controller_start()
    watch_health()
    assert open_kinds() == set()
    assert reload(first).status == "ready"
    assert not Outage.objects.filter(ended_at=None).exists()
    assert advance(second, until="ready").attempts == 0


def look_in_vain() -> None:
    with pytest.raises(ProviderUnavailable):
        watch_health()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("command", ["scontrol create", "sbatch"])
def test_a_worker_is_killed_between_the_act_and_its_record(cluster: Cluster, buy: Buy, command: str) -> None:
    buyer = buy()
    url = urlsplit(os.environ["DATABASE_URL"])
    database = url._replace(path=f"/{connection.settings_dict['NAME']}").geturl()
    ended = subprocess.run(
        [sys.executable, "-m", "tests.slurm.killed_worker", str(buyer.lease.pk), *command.split()],
        cwd=ROOT,
        env={**os.environ, **cluster.settings(), "DATABASE_URL": database},
        check=False,
        stdin=subprocess.DEVNULL,
        timeout=60,
    )
    assert ended.returncode == -signal.SIGKILL
    name = f"anchor_{buyer.lease.pk}"
    assert cluster.reservations() == [name]
    assert reload(buyer.lease).status == ("reserved" if command == "scontrol create" else "preparing")
    reconcile_machines()
    assert not open_kinds(), "a machine of a living lease is no orphan"
    # Its claim runs out after half a minute.
    Lease.objects.filter(pk=buyer.lease.pk).update(claim_until=timezone.now())
    lease = advance(buyer.lease, until="ready")
    assert cluster.reservations() == [name]
    assert len(cluster.run("squeue", "-h", "-a", "-o", "%j").split()) == 1
    assert ssh(cluster, buyer, "nvidia-smi", "-L").stdout.count("GPU ") == 8
    assert lease.test_report["passed"]
