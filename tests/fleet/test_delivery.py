"""What goes wrong on the way to access: no answer, a short grant, other cards than ordered."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from core import clock
from core.models import Decision
from fleet.models import Card, Reservation, SimulatedMachine
from fleet.providers.base import ObservedCard, ProviderUnavailable
from fleet.selectors import access_of_order, busy_card_ids, cards_of_hold
from fleet.services.sweep import advance_lease, sweep_leases
from fleet.services.work import work_lease
from tests.factories.fleet import TERM_SECONDS, make_lease, make_lot
from tests.fleet.doubles import FaultyProvider
from tests.fleet.rows import events, reload

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_login")]
Wait = Callable[[float], None]
NO_ANSWER = ProviderUnavailable("no answer in time")


@pytest.mark.parametrize("verb", ["reserve", "prepare", "verify", "open_access"])
@pytest.mark.parametrize("after_effect", [False, True])
def test_no_answer_is_tried_again_with_growing_pauses(
    provider: FaultyProvider, wait: Wait, verb: str, after_effect: bool
) -> None:
    """Also where the verb took effect and only the answer was lost: one machine, one access."""
    provider.fail(verb, NO_ANSWER, times=3, after_effect=after_effect)
    lease = make_lease(make_lot())
    pauses = []
    for _failure in range(3):
        advance_lease(lease_id=lease.pk)
        row = reload(lease)
        assert row.last_error == "no answer in time"
        pauses.append(round((row.next_at - clock.system_now()).total_seconds()))
        assert not work_lease(lease_id=lease.pk), "the pause is kept"
        wait(pauses[-1] + 1)
    assert pauses == [2, 4, 8]
    decision = Decision.objects.get(kind="lease_failing")
    assert decision.facts["attempts"] == 3
    assert decision.closed_at is None
    advance_lease(lease_id=lease.pk)
    assert reload(lease).status == "ready"
    assert SimulatedMachine.objects.count() == 1
    assert events(lease).count("lease.ready") == 1
    decision.refresh_from_db()
    assert decision.closed_at is not None, "a decision whose cause is gone closes itself"


def test_pause_grows_to_a_minute_and_no_further(provider: FaultyProvider, wait: Wait) -> None:
    provider.fail("reserve", NO_ANSWER, times=10)
    lease = make_lease(make_lot())
    for _failure in range(10):
        advance_lease(lease_id=lease.pk)
        wait(61)
    advance_lease(lease_id=lease.pk)
    assert reload(lease).status == "ready"


def test_a_broken_step_is_recorded_and_does_not_spin(provider: FaultyProvider) -> None:
    provider.fail("prepare", ZeroDivisionError("a bug"))
    lease = make_lease(make_lot())
    advance_lease(lease_id=lease.pk)
    row = reload(lease)
    assert (row.status, row.attempts, row.last_error) == ("preparing", 1, "ZeroDivisionError: a bug")
    assert row.claim_token is None


def test_short_grant_is_refused_and_given_back(provider: FaultyProvider) -> None:
    """An engine that grants fewer cards and says yes (seen on a real one)."""
    provider.granted = lambda granted: replace(granted, cards=granted.cards[:1])
    lease = make_lease(make_lot())
    advance_lease(lease_id=lease.pk)
    assert reload(lease).status == "reserved"
    assert "Granted 1 cards" in reload(lease).last_error
    assert provider.living() == ()


Alter = Callable[[tuple[ObservedCard, ...]], tuple[ObservedCard, ...]]


def _only_first_node(alter: Alter, cards: tuple[ObservedCard, ...], node: str) -> tuple[ObservedCard, ...]:
    return alter(cards) if cards and cards[0].node == node else cards


@pytest.mark.parametrize(
    ("problem", "alter", "affected"),
    [
        ("missing", lambda cards: cards[:-1], 1),
        ("other_model", lambda cards: tuple(replace(c, model=c.model + " PCIe") for c in cards), 2),
        ("unhealthy", lambda cards: (cards[0], replace(cards[1], healthy=False)), 1),
        ("other_card", lambda cards: (cards[0], replace(cards[1], serial="swapped")), 1),
    ],
)
def test_wrong_delivery_is_never_ready_and_other_cards_are_taken(
    provider: FaultyProvider, problem: str, alter: Alter, affected: int
) -> None:
    """S03: staff see expected and found, the unit goes off sale, the term starts on sound cards only."""
    lease = make_lease(make_lot(cards=2, nodes=(2, 2)))
    first = cards_of_hold(lease.hold_id)
    node = first[0].node.name
    provider.seen = lambda cards: _only_first_node(alter, cards, node)
    advance_lease(lease_id=lease.pk)
    row = reload(lease)
    assert row.status == "ready", row.last_error
    decision = Decision.objects.get(kind="delivery_mismatch")
    assert {entry["problem"] for entry in decision.facts["differences"]} == {problem}
    assert [entry["serial"] for entry in decision.facts["expected"]] == [card.serial for card in first]
    off_sale = Card.objects.filter(in_service=False)
    assert off_sale.count() == affected
    assert all(lease.username in card.note for card in off_sale)
    now_cards = cards_of_hold(lease.hold_id)
    assert {card.node_id for card in now_cards}.isdisjoint({card.node_id for card in first})
    assert events(lease).count("lease.ready") == 1
    assert events(lease).count("lease.reserved") == 2
    released = Reservation.objects.filter(hold=lease.hold, left_at__isnull=False)
    assert {r.status for r in released} == {"released"}, "the cards that were left came back after their wipe"
    assert SimulatedMachine.objects.get(lease_id=lease.pk).node_names == [now_cards[0].node.name]


def test_wrong_delivery_without_other_cards_waits_for_staff(provider: FaultyProvider, wait: Wait) -> None:
    provider.seen = lambda cards: cards[:-1]
    lease = make_lease(make_lot(cards=2, nodes=(2,)))
    for _try in range(4):
        advance_lease(lease_id=lease.pk)
        wait(61)
    row = reload(lease)
    assert row.status == "testing"
    assert row.ends_at is None
    assert "lease.ready" not in events(lease)
    assert Decision.objects.filter(kind="delivery_mismatch", closed_at=None).count() == 1
    assert access_of_order(lease.order_ref) is None
    provider.seen = None
    advance_lease(lease_id=lease.pk)
    assert reload(lease).status == "ready"


def test_sound_card_of_its_own_is_kept_where_nothing_else_is_free(provider: FaultyProvider) -> None:
    lease = make_lease(make_lot(cards=2, nodes=(3,)))
    bad = cards_of_hold(lease.hold_id)[0]
    provider.seen = lambda cards: tuple(replace(c, healthy=c.serial != bad.serial) for c in cards)
    advance_lease(lease_id=lease.pk)
    assert reload(lease).status == "ready"
    assert bad.pk not in {card.pk for card in cards_of_hold(lease.hold_id)}
    assert Reservation.objects.filter(hold=lease.hold, status="committed").count() == 2


def test_model_is_matched_by_identifier_not_by_text(provider: FaultyProvider) -> None:
    provider.seen = lambda cards: tuple(
        replace(c, model=f"  {c.model.upper()} ".replace("-", "  ")) for c in cards
    )
    lease = make_lease(make_lot())
    advance_lease(lease_id=lease.pk)
    assert reload(lease).status == "ready"


def test_cards_of_an_unconfirmed_wipe_are_not_on_sale(provider: FaultyProvider, wait: Wait) -> None:
    """S06: hours after its period the card is still not sold, because nobody confirmed that it is clean."""
    lot = make_lot(cards=2, nodes=(2,))
    lease = make_lease(lot)
    advance_lease(lease_id=lease.pk)
    provider.fail("end", NO_ANSWER, times=6)
    clock.skip(timedelta(seconds=TERM_SECONDS) + timedelta(hours=3))
    for _try in range(6):
        sweep_leases()
        assert reload(lease).status == "ending"
        wait(61)
    row = Reservation.objects.filter(hold=lease.hold).first()
    assert row is not None
    assert row.period.upper < clock.now()
    period = type(row.period)(clock.now(), clock.now() + timedelta(days=3))
    cards = list(Card.objects.values_list("pk", flat=True))
    assert busy_card_ids(card_ids=cards, period=period) == set(cards)
    assert Decision.objects.get(kind="end_failing").closed_at is None
    sweep_leases()
    assert reload(lease).status == "closed"
    assert busy_card_ids(card_ids=cards, period=period) == set()
    assert Decision.objects.get(kind="end_failing").closed_at is not None
