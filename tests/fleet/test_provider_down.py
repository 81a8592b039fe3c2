"""S06: the provider does not end a machine for an hour. Ours says "ending", asks on, tells staff, and sells nothing."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from core import clock, outbox
from core.errors import Conflict
from core.models import Event, OutgoingMail
from fleet.models import Lease, Reservation
from fleet.providers.base import ProviderRefused, ProviderUnavailable, UnknownLease
from fleet.providers.simulated import SimulatedProvider
from fleet.services.sweep import sweep_leases
from fleet.services.work import TEARDOWN_FAILURES
from orders.lifecycle import OrderStatus
from tests import scenario
from tests.factories.fleet import TERM_SECONDS, make_hold
from tests.fleet.doubles import FaultyProvider
from tests.fleet.open_leases import decisions, open_lease
from tests.fleet.rows import events, reload

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_login")]
Wait = Callable[[float], None]

ANSWERS = {
    "time-out": ProviderUnavailable("no answer in 10 s"),
    "500": ProviderUnavailable("the controller answered 500"),
    "try again later": ProviderRefused("Requested reservation is in use"),
    "a broken client": ConnectionResetError("reset by peer"),
}


def sweep_for(seconds: float, lease: Lease, wait: Wait) -> None:
    """Sweep for so many seconds of the system's clock, each time when the lease is due again."""
    until = clock.system_now() + timedelta(seconds=seconds)
    while clock.system_now() < until:
        sweep_leases()
        pause = (reload(lease).next_at - clock.system_now()).total_seconds()
        wait(max(1.0, pause))


@pytest.mark.parametrize("answer", sorted(ANSWERS))
@pytest.mark.parametrize("verb", ["end", "wipe"])
def test_s06_an_hour_without_a_confirmation(
    provider: FaultyProvider, wait: Wait, verb: str, answer: str
) -> None:
    lease = open_lease(nodes=(2,))
    clock.skip(timedelta(seconds=TERM_SECONDS))
    provider.fail(verb, ANSWERS[answer], times=10_000)
    provider.calls.clear()
    sweep_for(3600, lease, wait)
    state, kind = ("ending", "end_failing") if verb == "end" else ("wiping", "wipe_failed")
    row = reload(lease)
    assert row.status == state
    assert row.closed_at is None
    # 2, 4, 8, 16, 32 s, then once a minute.
    assert 45 <= provider.calls.count(verb) <= 70
    assert row.attempts > TEARDOWN_FAILURES
    assert [decision.subject for decision in decisions(kind)] == [f"lease:{lease.pk}"]
    clock.skip(timedelta(hours=2))
    with pytest.raises(Conflict, match="no_capacity"):
        make_hold(lease.hold.lot)
    provider.before[verb].clear()
    sweep_for(70, lease, wait)
    assert reload(lease).status == "closed"
    assert events(lease).count("lease.closed") == 1
    assert not decisions(kind)
    assert make_hold(lease.hold.lot).pk
    assert SimulatedProvider().living() == ()


@pytest.mark.parametrize("verb", ["end", "wipe"])
def test_s06_not_found_is_a_confirmation(provider: FaultyProvider, verb: str) -> None:
    lease = open_lease(nodes=(2,))
    clock.skip(timedelta(seconds=TERM_SECONDS))
    provider.fail(verb, UnknownLease("no such lease"), times=3)
    sweep_leases()
    assert reload(lease).status == "closed"
    assert not Reservation.objects.filter(status="committed").exists()


def test_s06_the_order_ends_when_the_provider_has_confirmed(provider: FaultyProvider, wait: Wait) -> None:
    scenario.open_shop()
    order = scenario.order()
    scenario.pay(order)
    sweep_leases()
    outbox.drain()
    provider.fail("end", ANSWERS["time-out"], times=4)
    clock.skip(timedelta(seconds=TERM_SECONDS))
    for _round in range(4):
        sweep_leases()
        outbox.drain()
        order.refresh_from_db()
        assert order.status == OrderStatus.ACTIVE
        wait(61)
    sweep_leases()
    outbox.drain()
    order.refresh_from_db()
    assert order.status == OrderStatus.ENDED
    assert Lease.objects.get().status == "closed"
    assert Event.objects.filter(order_ref=order.public_id, name="lease.closed").count() == 1
    assert OutgoingMail.objects.filter(key__endswith=":ended").count() == 1
