"""A shop is backed up while it sells, goes on selling, and is lost: what the restored one must not do again (C17)."""

import os
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
import time_machine
from django.core.management import call_command
from django.db import connection, connections, transaction
from django.db.backends.postgresql.base import DatabaseWrapper

from anchorgpu.addresses import database
from anchorgpu.services.postgres import Postgres
from billing.models import DepositAddress
from billing.services.fill_pool import fill_pool
from billing.services.issue_invoice import issue_for_paid
from billing.services.reconcile import reconcile
from billing.services.search_gap import search_gap
from billing.services.watch import watch_network
from core import outbox
from core.errors import Conflict, Unavailable
from core.mail import queue_mail
from core.models import Decision, OutgoingMail, Restoration, SweepRun
from core.services.send_held_mails import send_held_mails
from fleet.models import Card, Lease, Node, SimulatedMachine
from fleet.services.sweep import reconcile_machines, sweep_leases
from fleet.services.watch_health import watch_health
from orders.models import Order
from tests import scenario
from tests.chain.lab import FINALITY, ChainLab

ROOT = Path(__file__).resolve().parent.parent.parent
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.chain]

NETWORK = """
[networks.local]
name = "Anchor test chain"
chain_id = 31337
rpc_urls = ["{url}"]
block_seconds = 2
test = true
settle = {{ mode = "finalized" }}

[[networks.local.assets]]
symbol = "USDC"
name = "USD Coin"
contract = "{usdc}"
decimals = 6
price = "1"
"""


@pytest.fixture
def shop(chain_lab: ChainLab, networks_file: Callable[..., None], settings: Any) -> ChainLab:
    """Open, with a pool of 8, one order paid on the chain and its machine running."""
    networks_file(NETWORK.format(url=chain_lab.anvil.url, usdc=chain_lab.usdc))
    settings.ADDRESS_POOL_SIZE = 8
    settings.RESTORE_ADDRESS_GAP = 20
    scenario.open_shop(offered=False)
    assert watch_network("local")
    fill_pool()
    paid(chain_lab, scenario.order())
    return chain_lab


@pytest.fixture
def new_cluster(tmp_path: Path) -> Iterator[Postgres]:
    server = Postgres(folder=tmp_path / "new", log_file=tmp_path / "new.log", durable=False)
    server.start()
    server.create_database("shop")
    yield server
    server.stop()


def paid(lab: ChainLab, order: Order) -> Order:
    lab.pay(order.payment.crypto.address, order.payment.crypto.due_units)
    lab.mine(FINALITY)
    assert watch_network("local")
    outbox.drain()
    sweep_leases()
    return order


def index_of(order: Order) -> int:
    return DepositAddress.objects.get(address=order.payment.crypto.address).index


def let_go() -> None:
    """Its connections, those of the pool too."""
    connection.close()
    wrapper = connections["default"]
    assert isinstance(wrapper, DatabaseWrapper)
    wrapper.close_pool()


@contextmanager
def pointed_at(url: str) -> Iterator[None]:
    """This process uses another database, as the programs of a restored shop do."""
    known = dict(connection.settings_dict)
    let_go()
    found = database(url)
    connection.settings_dict.update({key: value for key, value in found.items() if key != "OPTIONS"})
    try:
        yield
    finally:
        let_go()
        connection.settings_dict.update(known)


@contextmanager
def written_to(url: str) -> Iterator[list[int]]:
    """Somebody sells meanwhile: rows in pairs, as many transactions as fit, the first of them before the block begins.
    Yields how many there were."""
    begun, stop, written = threading.Event(), threading.Event(), [0]

    def write() -> None:
        with psycopg.connect(url, autocommit=True) as own:
            while not stop.is_set():
                own.execute(
                    "INSERT INTO core_event (name, subject, order_ref, audience, payload, at)"
                    " SELECT 'test.pair', 'pair:' || n, '', 'staff', '{}', now() FROM generate_series(1, 2) n"
                )
                written[0] += 2
                begun.set()

    thread = threading.Thread(target=write)
    thread.start()
    try:
        assert begun.wait(30)
        yield written
    finally:
        stop.set()
        thread.join()


def url_of_this() -> str:
    known = connection.settings_dict
    return f"postgresql://{known['USER']}:{known['PASSWORD']}@{known['HOST']}:{known['PORT']}/{known['NAME']}"


def restore(archive: Path, url: str, folder: Path, settings: Any) -> str:
    """bin/restore as an operator on a new machine runs it: the settings are there, the keys are not."""
    keys = {name: str(folder / "keys" / name) for name in ("QUOTE_KEYS_FILE", "SSH_HOST_KEY_FILE")}
    done = subprocess.run(
        [ROOT / "bin" / "restore", archive, "--into", url],
        env={**os.environ, **keys, "EVM_NETWORKS_FILE": settings.EVM_NETWORKS_FILE},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    for name, path in keys.items():
        assert Path(path).read_bytes() == Path(getattr(settings, name)).read_bytes()
        assert Path(path).stat().st_mode & 0o777 == 0o600
    return done.stdout


def test_what_went_out_after_the_backup_goes_out_no_second_time(
    shop: ChainLab, new_cluster: Postgres, tmp_path: Path, settings: Any
) -> None:
    before = Order.objects.get()
    queue_mail(key="waiting", to="ada@example.com", language="en", subject="Waiting", text="It waits.")
    with written_to(url_of_this()) as written:
        call_command("backup", str(tmp_path / "kept"))
    archive = next((tmp_path / "kept").glob("anchorgpu-*.tar"))
    assert archive.stat().st_mode & 0o777 == 0o600
    assert SweepRun.objects.get(name="backup").last_finished_at is not None

    # The shop goes on: one order is paid and runs, one is not paid yet.
    lost, unpaid = paid(shop, scenario.order()), scenario.order()
    lease = Lease.objects.get(order_ref=lost.public_id)
    machine = SimulatedMachine.objects.get(lease_id=lease.pk)
    spoken_for = [index_of(lost), index_of(unpaid)]

    said = restore(archive, new_cluster.url("shop"), tmp_path, settings)
    assert "The database is restored." in said
    with pointed_at(new_cluster.url("shop")):
        _no_half_rows(written[0])
        assert [order.public_id for order in Order.objects.all()] == [before.public_id]
        assert [row.found for row in reconcile(looks=1) if row.about == "restore"] == ["not yet", "not yet"]
        _without_the_gap_the_index_is_given_again(spoken_for[0])

        # Elsewhere the machine runs on; here nobody knows its lease.
        machine.pk = None
        machine.save()
        SimulatedMachine.objects.filter(lease_id=Lease.objects.get().pk).update(state="open")
        _nothing_is_sold_before_the_provider_has_spoken(machine)
        _no_address_before_the_search()

        fresh = scenario.order()
        assert index_of(fresh) > max(spoken_for)
        assert fresh.pk > max(lost.pk, unpaid.pk)
        _money_of_lost_orders_is_asked_about(shop, lost, unpaid)
        paid(shop, fresh)
        assert SimulatedMachine.objects.filter(
            lease_id=Lease.objects.get(order_ref=fresh.public_id).pk
        ).exists()
        _documents_have_numbers_of_their_own(fresh)
        _held_mail_leaves_when_staff_say_so()
        assert [str(row) for row in reconcile(looks=1)] == []


def _no_half_rows(written: int) -> None:
    """One snapshot: whole transactions, and not what came later."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM core_event WHERE name = 'test.pair'")
        count = cursor.fetchone()[0]
        cursor.execute("SELECT count(*) FROM django_session")
        assert cursor.fetchone() == (0,)
    assert count % 2 == 0
    assert 0 < count <= written


def _without_the_gap_the_index_is_given_again(spoken_for: int) -> None:
    """The control: with the rows as the backup had them, the next buyer gets the address of another."""
    with transaction.atomic():
        DepositAddress.objects.filter(status="gap").update(status="pooled")
        Node.objects.update(healthy=True)
        Restoration.objects.all().delete()
        assert index_of(scenario.order()) == spoken_for
        transaction.set_rollback(True)


def _nothing_is_sold_before_the_provider_has_spoken(machine: SimulatedMachine) -> None:
    with pytest.raises(Conflict) as refused:
        scenario.order()
    assert refused.value.code == "no_capacity"
    watch_health()
    assert not Node.objects.filter(healthy=False).exists()
    taken = {str(card["serial"]) for card in machine.cards}
    assert set(Card.objects.filter(healthy=False).values_list("serial", flat=True)) == taken
    assert {row.subject for row in Decision.objects.filter(kind="card_unsound")} == {
        f"card:{serial}" for serial in taken
    }
    reconcile_machines()
    assert Decision.objects.filter(kind="orphan_machine", closed_at=None).count() == 1
    assert set(Card.objects.filter(healthy=False).values_list("serial", flat=True)) == taken


def _no_address_before_the_search() -> None:
    assert watch_network("local")
    fill_pool()
    with pytest.raises(Unavailable) as refused:
        scenario.order()
    assert refused.value.code == "payment_unavailable"
    search_gap()
    fill_pool()


def _money_of_lost_orders_is_asked_about(lab: ChainLab, lost: Order, unpaid: Order) -> None:
    found = Decision.objects.filter(kind="payment_after_backup", closed_at=None)
    assert [row.facts["address"] for row in found] == [lost.payment.crypto.address]
    assert found.get().facts["token_units"] == {"USDC": str(lost.payment.crypto.due_units)}
    # A buyer who pays only now, and one who pays a second time; a day later nothing has changed.
    lab.pay(unpaid.payment.crypto.address, 7)
    with time_machine.travel(_later(hours=2), tick=True):
        search_gap()
    assert {row.facts["address"] for row in found.all()} == {
        order.payment.crypto.address for order in (lost, unpaid)
    }
    found.update(closed_at=_later())
    with time_machine.travel(_later(hours=30), tick=True):
        search_gap()
    assert not found.exists()


def _documents_have_numbers_of_their_own(order: Order) -> None:
    with transaction.atomic():
        (invoice, _receipt) = issue_for_paid(order.public_id)
    restored_at = Restoration.objects.get().restored_at
    assert str(invoice) == f"INV-{restored_at:%Y}-R{restored_at:%m%d%H%M}-000001"


def _held_mail_leaves_when_staff_say_so() -> None:
    mail = OutgoingMail.objects.get(key="waiting")
    assert mail.status == "failed"
    decision = Decision.objects.get(kind="mails_held")
    send_held_mails(decision=decision, actor="ada", reason="Nothing was sent that day.")
    mail.refresh_from_db()
    assert mail.status == "queued"


def _later(**delta: int) -> Any:
    return Restoration.objects.get().restored_at + timedelta(**delta)
