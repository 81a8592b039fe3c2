"""The short form of bench.chaos, and that each of its checks finds what it looks for."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from django.db import connection, transaction

from bench.inside import chaos_checks
from core import clock, decisions, events
from core.models import Decision, OutboxRow, OutgoingMail
from fleet.models import Hold, Lease, Reservation, SimulatedMachine
from orders.models import Order
from tests import scenario
from tests.races import CONSTRAINT
from tests.terms import active_order, lease_of, take_logins_for_good

ROOT = Path(__file__).resolve().parents[2]
# Enough for some of the six programs and servers; the long form kills each several times.
LEASES, KILLS = 8, 4


def test_s08_short_chaos() -> None:
    """Web, worker, beat, gateway, Valkey and PostgreSQL killed, the engine failing: all is in order afterwards."""
    command = [sys.executable, "-m", "bench.chaos", "--json"]
    done = subprocess.run(
        [*command, "--leases", str(LEASES), "--kills", str(KILLS), "--seed", "7"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    facts = json.loads(done.stdout)
    assert facts["breaches"] == []
    assert facts["leases"] >= LEASES
    assert facts["faults"] > 0
    assert 0 < sum(facts["kills"].values()) <= KILLS


@pytest.fixture
def order(db: None, monkeypatch: pytest.MonkeyPatch) -> Order:
    """A shop with one lease in its term, told and mailed."""
    take_logins_for_good(monkeypatch)
    scenario.open_shop()
    row = active_order()
    OutgoingMail.objects.update(status=OutgoingMail.Status.SENT)
    return row


def found() -> list[str]:
    return [*chaos_checks.wrong_now(), *chaos_checks.unsettled()]


def _card_twice(order: Order) -> None:
    row = Reservation.objects.filter(hold__lease=lease_of(order)).first()
    assert row is not None
    other = scenario.order()
    Reservation.objects.filter(hold__ref=other.public_id).delete()
    Reservation.objects.create(card_id=row.card_id, hold=_hold(other), period=row.period, status=row.status)


def _card_twice_in_the_past(order: Order) -> None:
    """Two leases that are over and had one card at one time."""
    _card_twice(order)
    other = Reservation.objects.order_by("-pk")[0].hold
    lease = lease_of(order)
    Lease.objects.create(
        hold=other,
        order_ref=other.ref,
        username="other",
        ready_by=lease.ready_by,
        reserved_at=lease.reserved_at,
        next_at=lease.next_at,
        status="failed",
        wiped_at=clock.now(),
    )
    Reservation.objects.update(status="released")


def _hold(order: Order) -> Hold:
    return Hold.objects.get(ref=order.public_id)


def _machine_twice(order: Order) -> None:
    machine = SimulatedMachine.objects.get()
    machine.pk, machine.lease_id = None, machine.lease_id + 1000
    machine.save()


def _machine_gone(order: Order) -> None:
    SimulatedMachine.objects.update(state="wiped")


def _stuck(order: Order) -> None:
    Lease.objects.update(status="preparing", ends_at=None, ready_at=None)
    Order.objects.update(status="provisioning")


def _degraded_in_silence(order: Order) -> None:
    Lease.objects.update(status="degraded")


def _after_its_end(order: Order) -> None:
    lease = lease_of(order)
    Lease.objects.update(ends_at=clock.now(), ready_at=lease.reserved_at)


def _not_wiped(order: Order) -> None:
    Lease.objects.update(status="closed")
    Order.objects.update(status="ended")


def _order_behind(order: Order) -> None:
    Order.objects.update(status="paid")


def _reminded_twice(order: Order) -> None:
    for _time in range(2):
        events.emit(
            name="lease.reminder",
            subject=f"lease:{lease_of(order).pk}",
            order_ref=order.public_id,
            payload={"kind": "1h", "ends_at": "2026-01-01T00:00:00+00:00"},
        )


def _ready_twice(order: Order) -> None:
    events.emit(name="lease.ready", subject=f"lease:{lease_of(order).pk}", order_ref=order.public_id)


def _unheard(order: Order) -> None:
    OutboxRow.objects.update(status="pending")


def _parked_in_silence(order: Order) -> None:
    OutboxRow.objects.update(status="parked")


def _mail_waits(order: Order) -> None:
    OutgoingMail.objects.update(status="queued")


HARMS: dict[Callable[[Order], None], str] = {
    _card_twice: "is taken by hold",
    _card_twice_in_the_past: "both had card",
    _machine_twice: "the engine has 2 machines",
    _machine_gone: "without a machine",
    _stuck: "nobody was told",
    _degraded_in_silence: "degraded, and nobody was told",
    _after_its_end: "after its end",
    _not_wiped: "not wiped",
    _order_behind: "is paid and its lease ready",
    _reminded_twice: "was reminded 2 times",
    _ready_twice: "events lease.ready",
    _unheard: "are pending",
    _parked_in_silence: "is parked",
    _mail_waits: "mails are not sent",
}


def test_each_check_finds_its_breach(order: Order) -> None:
    """Each harm in a transaction of its own that is rolled back."""
    for harm, word in HARMS.items():
        assert found() == [], harm
        with transaction.atomic():
            _without_constraint()
            harm(order)
            assert [sentence for sentence in found() if word in sentence], (harm, found())
            transaction.set_rollback(True)


def _without_constraint() -> None:
    """Until the rollback."""
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute(f"ALTER TABLE fleet_reservation DROP CONSTRAINT {CONSTRAINT}")


def test_a_stuck_lease_is_no_breach_where_a_decision_tells_of_it(order: Order) -> None:
    _stuck(order)
    decisions.open_decision(kind="lease_failing", subject=f"lease:{lease_of(order).pk}")
    assert found() == []
    Decision.objects.update(closed_at=clock.now())
    assert len(found()) == 1
