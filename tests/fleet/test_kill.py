"""S08 with real processes: a worker killed with SIGKILL at every point ends in one machine and one access."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.db import connection, transaction

from core import outbox
from core.models import Event, OutgoingMail
from fleet.models import AccessKey, Lease, Reservation, SimulatedMachine
from fleet.providers.simulated import SimulatedProvider
from fleet.services.end import end_lease
from fleet.services.extend import ExtensionRequest, commit_extension, hold_extension
from fleet.services.repair import move_degraded
from fleet.services.sweep import due_leases, sweep_leases
from fleet.services.watch_health import watch_health
from fleet.services.work import CLAIM_SECONDS
from tests import scenario
from tests.factories.fleet import NO_LIMITS, TERM_SECONDS, make_lease, make_lot
from tests.fleet.open_leases import drop_card

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("no_login")]
ROOT = Path(__file__).resolve().parents[2]
Kill = Callable[[Lease, str], str]

PREPARATION = [
    *[
        f"{when}:{verb}"
        for verb in ("reserve", "prepare", "verify", "open_access")
        for when in ("before", "after")
    ],
    "login",
    *[f"commit:{number}" for number in (1, 2, 3, 4)],
]
MOVE = [
    *[
        f"{when}:{verb}"
        for verb in ("end", "wipe", "reserve", "prepare", "verify", "open_access", "members")
        for when in ("before", "after")
    ],
    "login",
    *[f"commit:{number}" for number in (1, 2, 3, 4, 5)],
]
EXTENSION = ["before:extend", "after:extend", "commit:1"]
TEARDOWN = ["before:end", "after:end", "before:wipe", "after:wipe", "commit:1", "commit:2"]


@pytest.fixture
def kill(transactional_db: None) -> Iterator[Kill]:
    """A worker process on the test's database that is killed at the point; what became of it."""
    url = urlsplit(os.environ["DATABASE_URL"])
    database = url._replace(path=f"/{connection.settings_dict['NAME']}").geturl()
    with subprocess.Popen(
        [sys.executable, "-m", "tests.fleet.killed_worker"],
        cwd=ROOT,
        env={**os.environ, "DATABASE_URL": database},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:

        def order(lease: Lease, point: str) -> str:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(f"{lease.pk} {point}\n")
            process.stdin.flush()
            while True:
                line: str = process.stdout.readline().strip()
                if line in {"alive", str(int(signal.SIGKILL)), ""}:
                    return line

        yield order


def test_killed_at_every_step_of_preparation(kill: Kill, wait: Callable[[float], None]) -> None:
    lot = make_lot(cards=1, nodes=(len(PREPARATION),))
    leases = {point: make_lease(lot) for point in PREPARATION}
    for point, lease in leases.items():
        assert kill(lease, point) == "9", f"the worker outlived {point}"
        assert Lease.objects.get(pk=lease.pk).status != "ready", point
    assert due_leases() == [], "the claims of the dead still count"
    wait(CLAIM_SECONDS + 1)
    sweep_leases()
    for point, lease in leases.items():
        lease.refresh_from_db()
        assert lease.status == "ready", (point, lease.last_error)
        assert SimulatedMachine.objects.filter(lease_id=lease.pk, state="open").count() == 1
        names = list(Event.objects.filter(order_ref=lease.order_ref).values_list("name", flat=True))
        assert names == ["lease.reserved", "lease.preparing", "lease.testing", "lease.ready"], point
        keys = AccessKey.objects.filter(lease=lease, removed_at=None)
        assert [key.purpose for key in keys] == ["buyer"], point
    assert len(SimulatedProvider().living()) == len(PREPARATION)


@pytest.mark.parametrize("point", ["before:reserve", "after:reserve", "commit:4", "mail"])
def test_s08_an_order_is_ready_with_one_machine_and_one_mail(
    kill: Kill, wait: Callable[[float], None], point: str
) -> None:
    """Killed before the create call, after it, before the last commit, and after it before the mail."""
    scenario.open_shop()
    order = scenario.order()
    scenario.pay(order)
    lease = Lease.objects.get(order_ref=order.public_id)
    assert kill(lease, point) == "9", f"the worker outlived {point}"
    assert not OutgoingMail.objects.filter(key__endswith=":ready").exists()
    wait(CLAIM_SECONDS + 1)
    sweep_leases()
    outbox.drain()
    order.refresh_from_db()
    assert order.status == "active"
    assert SimulatedProvider().living() == (lease.pk,)
    assert AccessKey.objects.filter(lease=lease, removed_at=None).count() == 1
    assert OutgoingMail.objects.filter(key__endswith=":ready").count() == 1


def test_killed_at_every_step_of_the_end(kill: Kill, wait: Callable[[float], None]) -> None:
    lot = make_lot(cards=1, nodes=(len(TEARDOWN),))
    leases = {point: make_lease(lot) for point in TEARDOWN}
    sweep_leases()
    for point, lease in leases.items():
        end_lease(lease_id=lease.pk, reason="early_end")
        assert kill(lease, point) == "9", f"the worker outlived {point}"
    wait(CLAIM_SECONDS + 1)
    sweep_leases()
    for point, lease in leases.items():
        lease.refresh_from_db()
        assert lease.status == "closed", (point, lease.last_error)
        closed = Event.objects.filter(order_ref=lease.order_ref, name="lease.closed")
        assert closed.count() == 1, point
    assert SimulatedProvider().living() == ()


def test_s08_killed_at_every_step_of_a_move_to_whole_cards(kill: Kill, wait: Callable[[float], None]) -> None:
    lot = make_lot(cards=1, nodes=(len(MOVE), len(MOVE)))
    leases = {point: make_lease(lot) for point in MOVE}
    sweep_leases()
    for lease in leases.values():
        drop_card(lease)
    watch_health()
    for point, lease in leases.items():
        move_degraded(order_ref=lease.order_ref, actor="buyer")
        assert kill(lease, point) == "9", f"the worker outlived {point}"
        assert Lease.objects.get(pk=lease.pk).status == "degraded", point
    wait(CLAIM_SECONDS + 1)
    sweep_leases()
    for point, lease in leases.items():
        lease.refresh_from_db()
        assert (lease.status, lease.moving_at) == ("ready", None), (point, lease.last_error)
        assert SimulatedMachine.objects.filter(lease_id=lease.pk, state="open").count() == 1
        names = list(Event.objects.filter(order_ref=lease.order_ref).values_list("name", flat=True))
        assert names[-3:] == ["lease.degraded", "lease.moved", "lease.repaired"], point
        assert [key.purpose for key in lease.keys.filter(removed_at=None)] == ["buyer"], point
        assert not lease.outages.filter(ended_at=None).exists()
    assert len(SimulatedProvider().living()) == len(MOVE)
    assert Reservation.objects.filter(status="committed").count() == len(MOVE)


def test_s08_killed_at_every_step_of_an_extension(kill: Kill, wait: Callable[[float], None]) -> None:
    lot = make_lot(cards=1, nodes=(len(EXTENSION),))
    leases = {point: make_lease(lot) for point in EXTENSION}
    sweep_leases()
    for number, (point, lease) in enumerate(leases.items()):
        with transaction.atomic():
            hold_extension(_extension(lease, number))
        with transaction.atomic():
            assert commit_extension(ref=f"extension-{number}")
        assert kill(lease, point) == "9", f"the worker outlived {point}"
    wait(CLAIM_SECONDS + 1)
    sweep_leases()
    for point, lease in leases.items():
        lease.refresh_from_db()
        assert lease.ready_at is not None
        assert lease.ends_at == lease.ready_at + 2 * timedelta(seconds=TERM_SECONDS), point
        names = list(Event.objects.filter(order_ref=lease.order_ref).values_list("name", flat=True))
        assert names.count("lease.extended") == 1, point
        assert SimulatedMachine.objects.get(lease_id=lease.pk).ends_at > lease.ends_at
    assert Reservation.objects.filter(status="committed").count() == len(EXTENSION)


def _extension(lease: Lease, number: int) -> ExtensionRequest:
    return ExtensionRequest(
        ref=f"extension-{number}",
        lease_ref=lease.order_ref,
        owner=f"buyer-{number}",
        prefix="",
        term_seconds=TERM_SECONDS,
        hold_for=timedelta(hours=1),
        limits=NO_LIMITS,
    )
