"""After a restore: cards of machines that no row of ours explains are not sold, until they are explained or gone."""

from datetime import timedelta

import pytest

from core import clock, restored
from core.models import Decision
from fleet.models import Card, Lease, Node, SimulatedMachine
from fleet.providers.base import ProviderUnavailable
from fleet.services import after_restore
from fleet.services.sweep import reconcile_machines
from fleet.services.watch_health import watch_health
from tests.fleet.doubles import FaultyProvider
from tests.fleet.open_leases import decisions, open_lease, serials

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_login")]


def restore() -> None:
    restored.begin(backup_at=clock.system_now() - timedelta(hours=6), version="0.1.0")
    after_restore.begin()


def machine_of_nobody(lease: Lease, serial: str) -> SimulatedMachine:
    """What a lease left at the provider that was made after the backup."""
    card = Card.objects.select_related("node").get(serial=serial)
    machine = SimulatedMachine.objects.get(lease_id=lease.pk)
    place = {"node": card.node.name, "index": card.index, "serial": serial}
    machine.pk, machine.lease_id, machine.username = None, lease.pk + 500, "lost"
    machine.cards = [{**machine.cards[0], **place}]
    machine.save()
    return machine


def spare(lease: Lease) -> str:
    """A card that the lease has not."""
    return Card.objects.exclude(serial__in=serials(lease)).order_by("pk").values_list("serial", flat=True)[0]


def off_sale() -> set[str]:
    return set(Card.objects.filter(healthy=False).values_list("serial", flat=True))


def test_nothing_is_sold_until_the_provider_answers(provider: FaultyProvider) -> None:
    open_lease()
    restore()
    assert not Node.objects.filter(healthy=True).exists()
    provider.fail("health", ProviderUnavailable("no answer"), times=1)
    with pytest.raises(ProviderUnavailable):
        watch_health()
    assert not Node.objects.filter(healthy=True).exists()
    assert restored.awaits(after_restore.STEP)
    watch_health()
    assert not Node.objects.filter(healthy=False).exists()
    assert not restored.awaits(after_restore.STEP)
    assert off_sale() == set(), "what our lease has is ours"


def test_a_card_of_an_unknown_machine_is_off_sale_until_the_machine_is_gone() -> None:
    lease = open_lease()
    serial = spare(lease)
    machine = machine_of_nobody(lease, serial)
    watch_health()
    assert off_sale() == set(), "without a restore the look is not made"
    restore()
    watch_health()
    reconcile_machines()
    assert off_sale() == {serial}
    assert [row.facts["machine"] for row in decisions("card_unsound")] == [machine.lease_id]
    SimulatedMachine.objects.filter(pk=machine.pk).update(state="wiped")
    reconcile_machines()
    assert off_sale() == set()
    assert not decisions("card_unsound")


def test_a_card_that_a_known_machine_took_after_the_backup_is_off_sale_too() -> None:
    lease = open_lease()
    serial = spare(lease)
    card = Card.objects.select_related("node").get(serial=serial)
    machine = SimulatedMachine.objects.get(lease_id=lease.pk)
    machine.cards[0] |= {"node": card.node.name, "index": card.index, "serial": serial}
    machine.save()
    restore()
    watch_health()
    assert serial in off_sale()
    reconcile_machines()
    assert serial in off_sale(), "the machine still stands"


def test_a_lease_that_the_provider_keeps_longer_is_a_question() -> None:
    lease = open_lease()
    machine = SimulatedMachine.objects.get(lease_id=lease.pk)
    restore()
    SimulatedMachine.objects.update(ends_at=machine.ends_at + timedelta(days=3))
    watch_health()
    found = Decision.objects.get(kind="lease_end_differs")
    assert found.order_ref == lease.order_ref
    assert found.due_at == lease.ends_at
    assert found.facts["at_the_provider"] == (machine.ends_at + timedelta(days=3)).isoformat()


def test_the_look_is_made_once() -> None:
    lease = open_lease()
    restore()
    watch_health()
    machine_of_nobody(lease, spare(lease))
    watch_health()
    assert off_sale() == set()
