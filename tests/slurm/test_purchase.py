"""One whole purchase on the cluster, by the shop's own services: import, quote, payment, login, end."""

import re
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from billing.services.early_end import early_end
from catalog.models import Lot
from catalog.services.seed import seed_catalog
from core import outbox
from core.models import Event, OutgoingMail
from fleet.models import Lease
from fleet.selectors import access_of_order
from orders.lifecycle import OrderStatus
from tests import scenario
from tests.factories.fleet import new_key
from tests.fleet import clients
from tests.slurm import scripts
from tests.slurm.cluster import Cluster
from tests.slurm.conftest import Buyer, advance, ssh

pytestmark = pytest.mark.django_db


@pytest.fixture
def open_shop(settings: Any, cluster: Cluster) -> None:
    """Catalogue, fleet and a network, as an operator sets them up."""
    settings.PROVIDER = "slurm"
    seed_catalog()
    Lot.objects.filter(accelerator__slug=scripts.SLUG).exclude(cards=scripts.CARDS).update(on_sale=False)
    call_command("import_slurm", "--apply", "--site", "Hall 2", "--driver", "580.95.05", stdout=StringIO())
    scenario.offer_network()


def test_from_the_quote_to_the_login_to_the_end(cluster: Cluster, open_shop: None, tmp_path: Path) -> None:
    key, public = new_key()
    quote = scenario.quote(lot=f"{scripts.SLUG}x{scripts.CARDS}", lots=2)
    order = scenario.order(quote, keys=[public])
    scenario.pay(order)
    lease = advance(Lease.objects.get(order_ref=order.public_id), until="ready")
    outbox.drain()
    order.refresh_from_db()
    assert order.status == OrderStatus.ACTIVE

    buyer = Buyer(lease=lease, key=key, key_file=clients.write_key(tmp_path, key, "id"))
    listed = ssh(cluster, buyer, "nvidia-smi", "-L").stdout.splitlines()
    assert len([line for line in listed if re.search(r"GPU \d: NVIDIA H200", line)]) == 16
    assert lease.test_report["passed"]
    access = access_of_order(order.public_id)
    assert access is not None
    assert access.user == buyer.machine.account
    assert OutgoingMail.objects.filter(order_ref=order.public_id, key__contains="ready").exists()

    early_end(order_id=order.public_id, actor="buyer")
    lease = advance(lease, until="closed")
    outbox.drain()
    order.refresh_from_db()
    assert order.status == OrderStatus.ENDED
    assert ssh(cluster, buyer, "true").returncode == 255
    assert cluster.reservations() == []
    told = list(
        Event.objects.filter(subject=f"lease:{lease.pk}", name__startswith="lease.").values_list(
            "name", flat=True
        )
    )
    for name in ("reserved", "preparing", "testing", "ready", "ending", "wiping", "closed"):
        assert told.count(f"lease.{name}") == 1
