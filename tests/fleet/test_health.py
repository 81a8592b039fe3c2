"""A card that drops out of an open lease: degraded, on record from..to, off sale, told, and ready when it is back."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from core import clock, outbox
from core.models import Event, OutgoingMail
from fleet.lifecycle import LeaseStatus
from fleet.models import Card, EngineSilence, Lease, Node, Outage, SimulatedMachine
from fleet.providers.base import ObservedCard, ProviderUnavailable
from fleet.providers.faults import Kind
from fleet.selectors import access_of_order, outages_of_order
from fleet.services import degrade
from fleet.services import watch_health as watch_health_module
from fleet.services.end import end_lease
from fleet.services.silence import LOOKS_BEFORE_ALERT, LOOKS_BEFORE_OUTAGE, OUTAGE_AFTER
from fleet.services.suspend import resume, suspend
from fleet.services.sweep import sweep_leases
from fleet.services.watch_health import watch_health
from tests import scenario
from tests.factories.fleet import TERM_SECONDS, make_lease, make_lot
from tests.fleet.doubles import FaultyProvider
from tests.fleet.open_leases import decisions, drop_card, fault, mend, nodes, open_lease, serials
from tests.fleet.rows import events, reload

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_login")]
Wait = Callable[[float], None]


def test_a_look_at_a_whole_lease_writes_nothing(django_assert_max_num_queries: Any) -> None:
    for _lease in range(3):
        open_lease()
    with django_assert_max_num_queries(20) as seen:
        watch_health()
    assert not any("FOR UPDATE" in query["sql"] for query in seen)
    assert not Outage.objects.exists()
    assert not Event.objects.filter(name="lease.degraded").exists()


@pytest.mark.parametrize("kind", [Kind.CARD_MISSING, Kind.CARD_UNHEALTHY])
def test_a_card_drops_and_comes_back(kind: str) -> None:
    lease = open_lease()
    struck, sound = serials(lease)
    row = fault(kind, card_serial=struck)
    began = clock.now()
    watch_health()
    found = reload(lease)
    assert found.status == "degraded"
    assert found.degraded_at is not None
    assert found.degraded_at >= began
    outage = Outage.objects.get()
    assert (outage.lease_id, outage.card.serial, outage.cause, outage.ended_at) == (
        lease.pk,
        struck,
        "card",
        None,
    )
    assert [Card.objects.get(serial=serial).healthy for serial in (struck, sound)] == [False, True]
    assert access_of_order(lease.order_ref) is not None, "the other cards go on"
    event = Event.objects.get(name="lease.degraded")
    assert [card["serial"] for card in event.payload["cards"]] == [struck]
    assert decisions("lease_degraded")
    assert decisions("card_unsound")

    clock.skip(timedelta(minutes=9, seconds=1))
    watch_health()
    assert Outage.objects.count() == 1, "one outage, however often it is seen"
    assert Event.objects.filter(name="lease.degraded").count() == 1
    mend(row)
    watch_health()
    found = reload(lease)
    assert (found.status, found.ready_at) == ("ready", lease.ready_at)
    outage.refresh_from_db()
    assert outage.ended_at is not None
    assert outage.minutes == 10
    assert outages_of_order(lease.order_ref) == [outage]
    assert Card.objects.get(serial=struck).healthy
    assert not decisions("lease_degraded")
    assert not decisions("card_unsound")
    assert events(lease)[-2:] == ["lease.degraded", "lease.repaired"]


def test_a_node_that_goes_away_takes_all_its_cards_along() -> None:
    lease = open_lease(cards=2, nodes=(2, 4))
    name = next(iter(nodes(lease)))
    row = fault(Kind.NODE_AWAY, node_name=name)
    watch_health()
    assert reload(lease).status == "degraded"
    assert {(o.card.serial, o.cause) for o in Outage.objects.all()} == {
        (serial, "node") for serial in serials(lease)
    }
    assert not Node.objects.get(name=name).healthy
    assert Card.objects.filter(healthy=True).count() == 6, "the node is off sale, its cards are not blamed"
    assert decisions("node_away")
    mend(row)
    watch_health()
    assert reload(lease).status == "ready"
    assert Node.objects.get(name=name).healthy
    assert not decisions("node_away")
    assert not Outage.objects.filter(ended_at=None).exists()


def test_a_node_is_never_off_sale_without_a_question(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that is killed between the two leaves neither."""
    lease = open_lease()
    fault(Kind.NODE_AWAY, node_name=next(iter(nodes(lease))))

    def killed(**_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("core.decisions.open_decision", killed)
        with pytest.raises(KeyboardInterrupt):
            watch_health()
    assert not Node.objects.filter(healthy=False).exists()
    watch_health()
    assert Node.objects.filter(healthy=False).count() == len(decisions("node_away")) == 1


def test_a_node_that_comes_back_without_a_card_goes_on_as_a_card() -> None:
    lease = open_lease(nodes=(2,))
    away = fault(Kind.NODE_AWAY, node_name=next(iter(nodes(lease))))
    watch_health()
    mend(away)
    row = drop_card(lease)
    watch_health()
    assert reload(lease).status == "degraded"
    assert sorted((o.cause, o.ended_at is None) for o in Outage.objects.all()) == [
        ("card", True),
        ("node", False),
        ("node", False),
    ]
    mend(row)
    watch_health()
    assert reload(lease).status == "ready"


def test_a_card_that_nobody_sees_any_more_is_not_sound_for_that() -> None:
    """Its node goes away: another outage, the same card. It is sold again when a look finds it sound."""
    lease = open_lease(nodes=(2,))
    row = drop_card(lease)
    struck = Card.objects.filter(serial=serials(lease)[0], healthy=False)
    watch_health()
    away = fault(Kind.NODE_AWAY, node_name=next(iter(nodes(lease))))
    watch_health()
    assert struck.exists()
    assert decisions("card_unsound")
    mend(row)
    mend(away)
    watch_health()
    assert not struck.exists()
    assert not decisions("card_unsound")


def test_a_second_card_is_a_second_outage_and_no_second_event() -> None:
    lease = open_lease()
    first = drop_card(lease, 0)
    watch_health()
    drop_card(lease, 1)
    watch_health()
    assert Outage.objects.filter(ended_at=None).count() == 2
    assert len(decisions("lease_degraded")[0].facts["cards"]) == 2
    mend(first)
    watch_health()
    assert reload(lease).status == "degraded"
    assert Outage.objects.filter(ended_at=None).count() == 1
    assert events(lease).count("lease.degraded") == 1


CHANGES: dict[str, Callable[[ObservedCard], ObservedCard]] = {
    "model": lambda card: replace(card, model="other"),
    "serial": lambda card: replace(card, serial="other"),
}


@pytest.mark.parametrize("change", sorted(CHANGES))
def test_another_card_than_ordered_in_the_term_is_a_missing_card(
    provider: FaultyProvider, change: str
) -> None:
    lease = open_lease()
    provider.seen = lambda cards: (CHANGES[change](cards[0]), *cards[1:])
    watch_health()
    assert reload(lease).status == "degraded"
    assert Outage.objects.get().card.serial == serials(lease)[0]


def test_outages_end_with_the_term_however_late_the_sweep(wait: Wait) -> None:
    lease = open_lease()
    drop_card(lease)
    watch_health()
    clock.skip(timedelta(seconds=TERM_SECONDS, hours=5))
    watch_health()
    sweep_leases()
    row = reload(lease)
    assert row.status == "closed"
    outage = Outage.objects.get()
    assert outage.ended_at == row.ends_at
    assert not decisions("lease_degraded")


def test_outages_end_with_an_early_end() -> None:
    lease = open_lease()
    drop_card(lease)
    watch_health()
    clock.skip(timedelta(hours=1))
    end_lease(lease_id=lease.pk, reason="early_end")
    ended = Outage.objects.get().ended_at
    assert ended is not None
    assert abs(ended - clock.now()) < timedelta(seconds=10)


def test_a_suspension_is_no_outage() -> None:
    lease = open_lease()
    drop_card(lease)
    watch_health()
    suspend(order_ref=lease.order_ref)
    outage = Outage.objects.get()
    assert outage.ended_at is not None
    clock.skip(timedelta(hours=2))
    watch_health()
    assert Outage.objects.count() == 1
    resume(order_ref=lease.order_ref)
    assert reload(lease).status == "ready"
    watch_health()
    assert reload(lease).status == "degraded", "the card is still missing"
    assert Outage.objects.filter(ended_at=None).count() == 1


def test_late_delivery_is_on_record_for_every_card(provider: FaultyProvider, wait: Wait) -> None:
    from_now = timedelta(hours=2, minutes=7, seconds=30)
    provider.fail("prepare", ProviderUnavailable("no answer"))
    lease = make_lease(make_lot())
    sweep_leases()
    clock.skip(from_now)
    wait(61)
    sweep_leases()
    row = reload(lease)
    assert row.status == "ready"
    assert row.ready_at is not None
    rows = outages_of_order(lease.order_ref)
    assert [(o.cause, o.began_at, o.ended_at, o.minutes) for o in rows] == [
        ("late", row.ready_by, row.ready_at, 8)
    ] * 2


def test_a_silent_engine_is_no_outage_of_cards_at_first(provider: FaultyProvider, wait: Wait) -> None:
    """Machines run on while their controller is down: N looks in a row over M minutes, from the first on."""
    lease = open_lease()
    provider.fail("health", ProviderUnavailable("no answer"), times=LOOKS_BEFORE_OUTAGE)
    first = None
    for look in range(1, LOOKS_BEFORE_OUTAGE + 1):
        with pytest.raises(ProviderUnavailable):
            watch_health()
        first = first or clock.now()
        assert bool(decisions("provider_silent")) == (look >= LOOKS_BEFORE_ALERT)
        if look < LOOKS_BEFORE_OUTAGE:
            assert reload(lease).status == "ready"
        wait(OUTAGE_AFTER.total_seconds() / (LOOKS_BEFORE_OUTAGE - 1))
    assert reload(lease).status == "degraded"
    silence = EngineSilence.objects.get()
    assert {o.began_at for o in Outage.objects.all()} == {silence.began_at}
    assert Outage.objects.count() == 2
    watch_health()
    assert reload(lease).status == "ready"
    assert EngineSilence.objects.get().ended_at is not None
    assert not decisions("provider_silent")
    assert not Outage.objects.filter(ended_at=None).exists()


def test_many_looks_in_a_short_time_are_no_outage_either(provider: FaultyProvider) -> None:
    lease = open_lease()
    provider.fail("health", ProviderUnavailable("no answer"), times=2 * LOOKS_BEFORE_OUTAGE)
    for _look in range(2 * LOOKS_BEFORE_OUTAGE):
        with pytest.raises(ProviderUnavailable):
            watch_health()
    assert reload(lease).status == "ready"
    assert not Outage.objects.exists()


def test_what_changed_while_the_engine_was_asked_is_left_to_the_next_look(provider: FaultyProvider) -> None:
    """A lease that ends, is suspended or moves meanwhile must not be degraded by an answer from before."""
    lease = open_lease()
    drop_card(lease)
    provider.after["health"].append(lambda: end_lease(lease_id=lease.pk, reason="early_end"))
    watch_health()
    assert reload(lease).status == "ending"
    assert not Outage.objects.exists()
    assert "lease.degraded" not in events(lease)


def test_one_lease_that_breaks_holds_up_no_other(
    provider: FaultyProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken, other = open_lease(), open_lease()
    drop_card(broken)
    drop_card(other)
    real = degrade.apply_look

    def apply_look(look: Any, **values: Any) -> bool:
        if look.lease.pk == broken.pk:
            raise ZeroDivisionError
        return real(look, **values)

    monkeypatch.setattr(watch_health_module, "apply_look", apply_look)
    watch_health()
    assert reload(broken).status == "ready"
    assert reload(other).status == "degraded"


def test_the_buyer_is_told_once_of_each(wait: Wait) -> None:
    scenario.open_shop()
    order = scenario.order()
    scenario.pay(order)
    sweep_leases()
    outbox.drain()
    lease = Lease.objects.get(order_ref=order.public_id)
    for _time in range(2):
        row = drop_card(lease)
        watch_health()
        outbox.drain()
        clock.skip(timedelta(minutes=2))
        mend(row)
        watch_health()
        outbox.drain()
        clock.skip(timedelta(minutes=2))
    mails = OutgoingMail.objects.filter(order_ref=order.public_id)
    told = mails.filter(subject__contains="A card has a problem")
    assert told.count() == 2
    first = told.first()
    assert first is not None
    assert serials(lease)[0] in first.text
    assert "Each started minute of each missing card is credited" in first.text
    assert mails.filter(subject__contains="whole again").count() == 2
    order.refresh_from_db()
    assert order.status == "active"


def test_free_cards_and_machines_past_their_end_are_not_looked_at() -> None:
    lease = open_lease()
    clock.skip(timedelta(seconds=TERM_SECONDS))
    drop_card(lease)
    watch_health()
    assert reload(lease).status == LeaseStatus.READY
    assert SimulatedMachine.objects.get().state == "open"
    assert not Outage.objects.exists()
