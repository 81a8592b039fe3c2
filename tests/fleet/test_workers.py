"""Several workers, slow workers, workers that are gone: one machine, one record."""

from collections.abc import Callable

import pytest

from fleet.lifecycle import LeaseStatus
from fleet.models import Card, Lease, Reservation, SimulatedMachine
from fleet.providers.base import Observation, ProviderRefused, ProviderUnavailable
from fleet.selectors import cards_of_hold
from fleet.services.sweep import advance_lease, due_leases, sweep_leases
from fleet.services.work import CLAIM_SECONDS, work_lease
from tests.factories.fleet import make_lease, make_lot
from tests.fleet.doubles import FaultyProvider
from tests.fleet.rows import events, reload

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_login")]
Wait = Callable[[float], None]
NO_ANSWER = ProviderUnavailable("no answer in time")


def test_second_worker_finds_the_lease_taken(provider: FaultyProvider) -> None:
    lease = make_lease(make_lot())
    others: list[bool] = []
    provider.before["reserve"].append(lambda: others.append(work_lease(lease_id=lease.pk)))
    assert work_lease(lease_id=lease.pk)
    assert others == [False]
    assert provider.calls == ["reserve"]


def test_stale_worker_writes_nothing(provider: FaultyProvider, wait: Wait) -> None:
    """A worker that slept over its claim: the other one's result stands, and nothing is taken down under it."""
    lease = make_lease(make_lot())

    def overtaken() -> None:
        wait(CLAIM_SECONDS + 1)
        advance_lease(lease_id=lease.pk)

    provider.after["reserve"].append(overtaken)
    assert work_lease(lease_id=lease.pk) is False
    assert reload(lease).status == "ready"
    assert provider.living() == (lease.pk,)
    assert SimulatedMachine.objects.get(lease_id=lease.pk).state == "open"
    assert events(lease) == ["lease.reserved", "lease.preparing", "lease.testing", "lease.ready"]


@pytest.mark.parametrize("verb", ["reserve", "prepare", "verify", "open_access"])
def test_aborted_between_effect_and_record_ends_in_one_machine(
    provider: FaultyProvider, wait: Wait, verb: str
) -> None:
    """S08 without a process: the worker is gone after the act, before our record. Nothing is caught on the way."""
    lease = make_lease(make_lot())

    class Killed(BaseException):
        pass

    def die() -> None:
        raise Killed

    provider.after[verb].append(die)
    with pytest.raises(Killed):
        advance_lease(lease_id=lease.pk)
    assert due_leases() == [], "the dead worker's claim still counts"
    wait(CLAIM_SECONDS + 1)
    assert due_leases() == [lease.pk]
    sweep_leases()
    assert reload(lease).status == "ready"
    assert SimulatedMachine.objects.count() == 1
    assert events(lease) == ["lease.reserved", "lease.preparing", "lease.testing", "lease.ready"]


def test_one_broken_lease_holds_up_no_other(provider: FaultyProvider) -> None:
    lot = make_lot(cards=1, nodes=(2,))
    first, second = make_lease(lot), make_lease(lot)
    provider.fail("reserve", ProviderRefused("not this one"))
    sweep_leases()
    states = {reload(first).status, reload(second).status}
    assert states == {LeaseStatus.RESERVED, LeaseStatus.READY}


def test_machine_on_old_cards_of_a_fenced_worker_goes_first(provider: FaultyProvider) -> None:
    """reserve() meets a machine of this lease on other cards than those it has now."""
    lot = make_lot(cards=1, nodes=(1, 1))
    lease = make_lease(lot)
    spare = Card.objects.exclude(pk=cards_of_hold(lease.hold_id)[0].pk).get()
    work_lease(lease_id=lease.pk)
    Reservation.objects.filter(hold=lease.hold).update(card=spare)
    Lease.objects.filter(pk=lease.pk).update(status="reserved")
    advance_lease(lease_id=lease.pk)
    assert reload(lease).status == "ready"
    observed = provider.observe(lease.pk)
    assert isinstance(observed, Observation)
    assert [card.serial for card in observed.cards] == [spare.serial]
