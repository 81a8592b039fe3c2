"""One suite over every provider: whoever drives machines behaves like this, simulated or real."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import transaction

from core import clock
from fleet import providers
from fleet.models import Card
from fleet.providers import get_provider
from fleet.providers.base import (
    CardSpec,
    LeaseSpec,
    NodeAway,
    Provider,
    ProviderRefused,
    ProviderUnavailable,
    UnknownLease,
    differences,
)
from tests.contract.providers import KEYS, PROVIDERS, Bench, Driven, Unit

pytestmark = pytest.mark.django_db
A, B, C = KEYS


@pytest.fixture(params=sorted(PROVIDERS))
def driven(request: pytest.FixtureRequest) -> Driven:
    return PROVIDERS[request.param]


@pytest.fixture
def provider(driven: Driven) -> Provider:
    return driven.make()


@pytest.fixture
def bench(driven: Driven) -> Bench:
    return driven.bench


def test_every_provider_of_the_product_is_held_to_this_suite() -> None:
    """A cluster joins with its plugin (bin/test --slurm)."""
    assert set(providers._PROVIDERS) == {"simulated", "slurm"}
    assert set(PROVIDERS) - {"double"} in ({"simulated"}, {"simulated", "slurm"})


class Stock:
    """Four units of what an engine sets apart, cut like a list of units: `cards[:2]` are the cards of the first two."""

    def __init__(self, units: list[Unit]) -> None:
        self._units = units

    def __getitem__(self, part: slice) -> tuple[CardSpec, ...]:
        return tuple(card for unit in self._units[part] for card in unit)

    @property
    def first(self) -> CardSpec:
        return self._units[0][0]


@pytest.fixture
def cards(driven: Driven) -> Stock:
    return Stock(driven.stock())


def spec(
    cards: tuple[CardSpec, ...], *, lease_id: int = 1, begins: float = 0, hours: float = 72
) -> LeaseSpec:
    moment = clock.now() + timedelta(hours=begins)
    return LeaseSpec(
        lease_id=lease_id,
        username=f"l{lease_id}",
        cards=cards,
        image="pytorch",
        starts_at=moment,
        ends_at=moment + timedelta(hours=hours),
    )


def open_lease(provider: Provider, cards: tuple[CardSpec, ...], lease_id: int = 1) -> None:
    provider.reserve(spec(cards, lease_id=lease_id))
    provider.prepare(lease_id)
    provider.open_access(lease_id, (A,))


def test_whole_life(provider: Provider, cards: Stock) -> None:
    granted = provider.reserve(spec(cards[:2]))
    assert [(c.node, c.index) for c in granted.cards] == [(c.node, c.index) for c in cards[:2]]
    provider.prepare(1)
    assert differences(cards[:2], provider.verify(1)) == []
    provider.open_access(1, (B, A))
    observed = provider.observe(1)
    assert observed is not None
    assert observed.living
    assert observed.members == (A, B)
    assert provider.living() == (1,)
    provider.end(1)
    observed = provider.observe(1)
    assert observed is not None
    assert observed.members == ()
    report = provider.wipe(1)
    assert report.cards == tuple(card.serial for card in cards[:2])
    observed = provider.observe(1)
    assert observed is not None
    assert not observed.living
    assert provider.living() == ()


def test_every_verb_may_be_repeated(provider: Provider, cards: Stock) -> None:
    asked = spec(cards[:2])
    assert provider.reserve(asked) == provider.reserve(asked)
    for _time in range(2):
        provider.prepare(1)
    assert provider.verify(1) == provider.verify(1)
    for _time in range(2):
        provider.open_access(1, (A,))
    # A late repeat of an earlier verb takes nothing back.
    provider.prepare(1)
    provider.reserve(asked)
    observed = provider.observe(1)
    assert observed is not None
    assert observed.members == (A,)
    for _time in range(2):
        provider.extend(1, asked.ends_at + timedelta(hours=1))
        provider.members(1, (C,))
    for _time in range(2):
        provider.end(1)
    assert provider.wipe(1) == provider.wipe(1)
    provider.end(1)


def test_unknown_lease(provider: Provider) -> None:
    assert provider.observe(7) is None
    calls: list[Callable[[], Any]] = [
        lambda: provider.prepare(7),
        lambda: provider.verify(7),
        lambda: provider.open_access(7, ()),
        lambda: provider.members(7, ()),
        lambda: provider.extend(7, clock.now() + timedelta(days=1)),
        lambda: provider.end(7),
        lambda: provider.wipe(7),
    ]
    for call in calls:
        with pytest.raises(UnknownLease):
            call()


def test_overlap_is_refused(provider: Provider, cards: Stock) -> None:
    provider.reserve(spec(cards[:2]))
    with pytest.raises(ProviderRefused, match="overlaps"):
        provider.reserve(spec(cards[1:3], lease_id=2))
    assert provider.observe(2) is None
    provider.reserve(spec(cards[2:], lease_id=2))
    provider.reserve(spec(cards[:1], lease_id=3, begins=72))


def test_machine_past_its_time_still_blocks_until_wiped(
    provider: Provider, bench: Bench, cards: Stock
) -> None:
    open_lease(provider, cards[:2])
    bench.pass_its_time(1)
    with pytest.raises(ProviderRefused, match="overlaps"):
        provider.reserve(spec(cards[:2], lease_id=2))
    provider.end(1)
    with pytest.raises(ProviderRefused, match="overlaps"):
        provider.reserve(spec(cards[:2], lease_id=2))
    provider.wipe(1)
    provider.reserve(spec(cards[:2], lease_id=2))


def test_past_and_backward_periods_are_refused(provider: Provider, cards: Stock) -> None:
    with pytest.raises(ProviderRefused, match="past"):
        provider.reserve(spec(cards[:2], begins=-1))
    with pytest.raises(ProviderRefused, match="end"):
        provider.reserve(spec(cards[:2], hours=-1))
    with pytest.raises(ProviderRefused):
        provider.reserve(spec(()))
    provider.reserve(spec(cards[:2]))
    with pytest.raises(ProviderRefused, match="end"):
        provider.extend(1, clock.now() - timedelta(hours=1))


def test_extension_over_a_follower_is_refused(provider: Provider, cards: Stock) -> None:
    provider.reserve(spec(cards[:2]))
    follower = spec(cards[:1], lease_id=2, begins=80)
    provider.reserve(follower)
    provider.extend(1, follower.starts_at)
    with pytest.raises(ProviderRefused, match="overlaps"):
        provider.extend(1, follower.starts_at + timedelta(seconds=1))
    observed = provider.observe(1)
    assert observed is not None
    assert observed.ends_at == follower.starts_at


def test_cards_that_the_engine_does_not_have_are_refused(provider: Provider, cards: Stock) -> None:
    unknown = CardSpec(node=cards.first.node, index=99, serial="x", model=cards.first.model)
    with pytest.raises(ProviderRefused):
        provider.reserve(spec((*cards[:1], unknown)))
    assert provider.living() == ()


def test_living_lease_keeps_its_cards(provider: Provider, cards: Stock) -> None:
    provider.reserve(spec(cards[:2]))
    with pytest.raises(ProviderRefused, match="other cards"):
        provider.reserve(spec(cards[2:]))


def test_wiped_lease_may_be_reserved_anew_on_other_cards(provider: Provider, cards: Stock) -> None:
    open_lease(provider, cards[:2])
    provider.end(1)
    provider.wipe(1)
    granted = provider.reserve(spec(cards[2:]))
    assert [c.index for c in granted.cards] == [c.index for c in cards[2:]]
    assert granted.members == ()


def test_order_of_verbs(provider: Provider, cards: Stock) -> None:
    provider.reserve(spec(cards[:2]))
    with pytest.raises(ProviderRefused):
        provider.verify(1)
    with pytest.raises(ProviderRefused):
        provider.open_access(1, ())
    provider.prepare(1)
    with pytest.raises(ProviderRefused, match="ended first"):
        provider.wipe(1)
    provider.end(1)
    for call in (provider.prepare, provider.verify):
        with pytest.raises(ProviderRefused):
            call(1)
    with pytest.raises(ProviderRefused):
        provider.open_access(1, ())


def test_verify_and_health_report_what_is_there_now(provider: Provider, bench: Bench, cards: Stock) -> None:
    open_lease(provider, cards[:2])
    for break_it, problem in ((bench.card_unhealthy, "unhealthy"), (bench.card_missing, "missing")):
        mend = break_it(cards.first.serial)
        for found in (provider.verify(1), provider.health((1,))[1].cards):
            assert [entry["problem"] for entry in differences(cards[:2], found)] == [problem]
        mend()
        assert differences(cards[:2], provider.verify(1)) == []
        assert differences(cards[:2], provider.health((1,))[1].cards) == []


def test_the_engine_has_its_own_word_on_health(provider: Provider, cards: Stock) -> None:
    """Otherwise what we have written down once could never be taken back by a look."""
    open_lease(provider, cards[:2])
    Card.objects.update(healthy=False)
    assert differences(cards[:2], provider.health((1,))[1].cards) == []


def test_a_node_that_is_away_is_named(provider: Provider, bench: Bench, cards: Stock) -> None:
    open_lease(provider, cards[:2])
    assert provider.nodes_away() == ()
    mend = bench.node_away(cards.first.node)
    assert provider.nodes_away() == (cards.first.node,)
    assert cards.first.node not in {card.node for card in provider.health((1,))[1].cards}
    with pytest.raises(NodeAway):
        provider.members(1, ())
    mend()
    assert provider.nodes_away() == ()
    assert differences(cards[:2], provider.health((1,))[1].cards) == []


def test_health_of_many_leases_in_one_call(provider: Provider, cards: Stock) -> None:
    open_lease(provider, cards[:2], lease_id=1)
    provider.reserve(spec(cards[2:], lease_id=2))
    found = provider.health((1, 2, 7))
    assert set(found) == {1, 2}, "what the engine does not have is not in the answer"
    assert found[1].record == provider.observe(1)
    assert provider.health(()) == {}
    provider.end(1)
    assert not provider.health((1,))[1].record.running
    provider.wipe(1)
    assert provider.health((1,)) == {}


def test_members_are_replaced_as_a_whole(provider: Provider, cards: Stock) -> None:
    open_lease(provider, cards[:2])
    for members in ((B, C), (C,), ()):
        provider.members(1, members)
        observed = provider.observe(1)
        assert observed is not None
        assert observed.members == members


def test_end_with_members_logged_in_closes_them_out(provider: Provider, cards: Stock) -> None:
    """An engine that will not end what is in use must be made to: the term is over."""
    open_lease(provider, cards[:2])
    provider.members(1, (A, B))
    provider.end(1)
    observed = provider.observe(1)
    assert observed is not None
    assert (observed.members, observed.running, observed.living) == ((), False, True)
    with pytest.raises(ProviderRefused):
        provider.members(1, (A,))
    with pytest.raises(ProviderRefused):
        provider.extend(1, clock.now() + timedelta(days=9))


def test_the_end_may_be_moved_forward_and_back(provider: Provider, cards: Stock) -> None:
    asked = spec(cards[:2])
    provider.reserve(asked)
    for hours in (5, -5, -5):
        provider.extend(1, asked.ends_at + timedelta(hours=hours))
        observed = provider.observe(1)
        assert observed is not None
        assert observed.ends_at == asked.ends_at + timedelta(hours=hours)
    provider.reserve(spec(cards[:2], lease_id=2, begins=67))


def test_the_grant_is_all_or_nothing(provider: Provider, cards: Stock) -> None:
    """Engines have granted two nodes of three and said yes; ours answers what was asked, or no."""
    open_lease(provider, cards[:1], lease_id=1)
    with pytest.raises(ProviderRefused):
        provider.reserve(spec(cards[:], lease_id=2))
    assert provider.observe(2) is None
    granted = provider.reserve(spec(cards[1:], lease_id=2))
    assert [(c.node, c.index) for c in granted.cards] == [(c.node, c.index) for c in cards[1:]]


@pytest.mark.parametrize(
    ("verb", "call", "holds"),
    [
        ("reserve", lambda p, cards: p.reserve(spec(cards[:2])), "reserved"),
        ("prepare", lambda p, cards: p.prepare(1), "prepared"),
        ("open_access", lambda p, cards: p.open_access(1, (A,)), "open"),
        ("members", lambda p, cards: p.members(1, (B,)), "members"),
        ("extend", lambda p, cards: p.extend(1, clock.now() + timedelta(days=9)), "extended"),
        ("end", lambda p, cards: p.end(1), "ended"),
        ("wipe", lambda p, cards: p.wipe(1), "wiped"),
    ],
)
def test_an_answer_that_was_lost_is_found_by_asking_again(
    provider: Provider,
    bench: Bench,
    cards: Stock,
    verb: str,
    call: Callable[[Provider, Stock], Any],
    holds: str,
) -> None:
    """The verb took effect, the caller did not hear of it: `observe` shows it, and a repeat changes nothing more."""
    steps: dict[str, Callable[[], Any]] = {
        "reserve": lambda: provider.reserve(spec(cards[:2])),
        "prepare": lambda: provider.prepare(1),
        "open_access": lambda: provider.open_access(1, (A,)),
        "members": lambda: None,
        "extend": lambda: None,
        "end": lambda: provider.end(1),
        "wipe": lambda: provider.wipe(1),
    }
    for before in list(steps)[: list(steps).index(verb)]:
        steps[before]()
    bench.answer_lost(verb)
    with pytest.raises(ProviderUnavailable):
        call(provider, cards)
    seen = provider.observe(1)
    assert seen is not None
    reached = {
        "reserved": seen.living,
        "prepared": seen.running,
        "open": seen.members == (A,),
        "members": seen.members == (B,),
        "extended": seen.ends_at > clock.now() + timedelta(days=8),
        "ended": not seen.running and seen.living,
        "wiped": not seen.living,
    }
    assert reached[holds]
    call(provider, cards)
    again = provider.observe(1)
    assert again is not None
    assert (again.state, again.living, again.members) == (seen.state, seen.living, seen.members)


def test_gone_is_a_confirmation_of_the_end(provider: Provider, cards: Stock) -> None:
    """What the engine does not know any more need not be ended: UnknownLease says so, and nothing is left of it."""
    for call in (provider.end, provider.wipe):
        with pytest.raises(UnknownLease):
            call(7)
    assert provider.observe(7) is None
    assert 7 not in provider.living()


@pytest.mark.django_db(transaction=True)
def test_a_callers_transaction_is_refused(provider: Provider, cards: Stock) -> None:
    """What the engine does must stand although its caller is rolled back."""
    with pytest.raises(RuntimeError, match="durable"), transaction.atomic():
        provider.reserve(spec(cards[:2]))


def test_unknown_provider_is_named(settings: Any) -> None:
    settings.PROVIDER = "cloud"
    with pytest.raises(
        ImproperlyConfigured, match="'cloud', which is not known; it may be: simulated, slurm"
    ):
        get_provider()
