"""The fleet as `import_slurm` takes it from the cluster itself; refusals are in tests/fleet/test_import_slurm.py."""

from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

from core.models import Decision
from fleet.models import Lease, Node
from fleet.providers.slurm import holding
from fleet.selectors import cards_of_hold
from tests.factories.catalog import AcceleratorFactory, LotFactory
from tests.factories.fleet import make_lease
from tests.slurm import scripts
from tests.slurm.cluster import Cluster
from tests.slurm.conftest import Buyer, advance
from tests.slurm.scripts import NODES

pytestmark = pytest.mark.django_db


def run(*arguments: str) -> str:
    out = StringIO()
    call_command("import_slurm", *arguments, stdout=out)
    return out.getvalue()


def test_nodes_join_drain_and_come_back(cluster: Cluster, settings: Any) -> None:
    settings.PROVIDER = "slurm"
    accelerator = AcceleratorFactory.create(slug=scripts.SLUG, board_power_w=700)
    assert run().count(f": 8 cards of {scripts.SLUG}") == len(NODES)
    run("--apply", "--site", "Hall 2", "--driver", "580.95.05")
    node = Node.objects.get(name=NODES[0])
    assert [card.serial for card in node.cards.all()] == [scripts.serial(NODES[0], n) for n in range(8)]

    lease = make_lease(LotFactory.create(accelerator=accelerator, cards=8))
    name = cards_of_hold(lease.hold_id)[0].node.name
    for drained in NODES[:2]:
        cluster.run("scontrol", "update", f"NodeName={drained}", "State=DRAIN", "Reason=fans", check=True)
    cluster.down(NODES[2])
    run("--apply")
    assert set(Node.objects.filter(in_service=False).values_list("name", flat=True)) == set(NODES[:2])
    assert [node.name for node in Node.objects.filter(healthy=False)] == [NODES[2]]
    asked = Decision.objects.filter(kind="node_drained", closed_at=None)
    assert [row.subject for row in asked] == ([f"node:{name}"] if name in NODES[:2] else [])

    for back in NODES[:3]:
        cluster.up(back)
    run("--apply")
    assert Node.objects.filter(in_service=True, healthy=True).count() == len(NODES)
    assert not Decision.objects.filter(closed_at=None).exists()
    assert run() == "The fleet is what the cluster has.\n"


def test_a_lease_leaves_a_node_that_was_drained_before_anybody_looked(
    cluster: Cluster, buy: Callable[..., Buyer], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Slurm reserves a drained node and starts nothing on it."""
    monkeypatch.setattr(holding, "START_SECONDS", 0.5)
    buyer = buy()
    name = cards_of_hold(buyer.lease.hold_id)[0].node.name
    cluster.run("scontrol", "update", f"NodeName={name}", "State=DRAIN", "Reason=fans", check=True)
    lease = advance(buyer.lease, until="ready")
    assert cards_of_hold(Lease.objects.get(pk=lease.pk).hold_id)[0].node.name != name
