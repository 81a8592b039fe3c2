"""S13: the same job delivered five times and two beats at once: each step once, one mail, one change of stock."""

from typing import Any

import pytest

from core import claims, clock, outbox
from core.models import Event, OutgoingMail
from fleet import tasks
from fleet.models import Lease, Reservation, SimulatedMachine
from fleet.services.work import work_lease
from tests import scenario
from tests.factories.fleet import make_lease, make_lot
from tests.fleet.doubles import FaultyProvider
from tests.fleet.rows import events, reload
from tests.races import at_once, own_connections

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("no_login")]

DELIVERIES, BEATS = 5, 2


def deliver(lease: Lease) -> None:
    """One job five times and two schedulers, all in the same moment; then what is left is found by the next sweep."""

    def run(number: int) -> None:
        if number < DELIVERIES:
            tasks.work_lease(lease.pk)
        else:
            tasks.sweep_leases()

    with own_connections():
        results = at_once(DELIVERIES + BEATS, run)
    assert [result for result in results if isinstance(result, BaseException)] == []
    tasks.sweep_leases()
    outbox.drain()


def test_s13_provision_and_end_delivered_five_times_with_two_beats(provider: FaultyProvider) -> None:
    scenario.open_shop()
    order = scenario.order()
    scenario.pay(order)
    lease = Lease.objects.get(order_ref=order.public_id)
    deliver(lease)
    assert reload(lease).status == "ready"
    assert [provider.calls.count(verb) for verb in ("reserve", "prepare", "open_access")] == [1, 1, 1]
    ends_at = reload(lease).ends_at
    assert ends_at is not None
    clock.skip(ends_at - clock.now())
    deliver(lease)
    assert reload(lease).status == "closed"
    # The machine is ended by its own step, and once more before the wipe: a late success may have made one since.
    assert (provider.calls.count("end"), provider.calls.count("wipe")) == (2, 1)
    assert SimulatedMachine.objects.count() == 1
    names = [name for name in events(lease) if name.startswith("lease.")]
    assert sorted(names) == sorted(set(names)), "no step is told twice"
    for kind in ("ready", "ended"):
        assert OutgoingMail.objects.filter(key=f"order:{order.pk}:{kind}").count() == 1
    assert Event.objects.filter(name="order.ended").count() == 1
    assert {row.status for row in Reservation.objects.filter(hold=lease.hold)} == {"released"}


@pytest.mark.parametrize("protected", [True, False], ids=["as built", "control without claims"])
def test_s13_a_second_delivery_in_the_middle_of_a_step_is_turned_away_by_the_claim(
    provider: FaultyProvider, monkeypatch: pytest.MonkeyPatch, protected: bool
) -> None:
    """The control shows what the test above rests on: without the claim the provider is called again."""
    lease = make_lease(make_lot())
    if not protected:
        real = claims.claim

        def claim_whoever_holds_it(rows: Any, *, seconds: int) -> Any:
            rows.update(claim_until=None)
            return real(rows, seconds=seconds)

        monkeypatch.setattr(claims, "claim", claim_whoever_holds_it)
    provider.before["reserve"].append(lambda: work_lease(lease_id=lease.pk))
    work_lease(lease_id=lease.pk)
    assert provider.calls.count("reserve") == (1 if protected else 2)
