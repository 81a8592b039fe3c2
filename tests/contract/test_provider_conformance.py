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
from fleet.providers.base import CardSpec, LeaseSpec, Provider, ProviderRefused, UnknownLease, differences
from tests.factories.fleet import make_lot
from tests.fleet.doubles import FaultyProvider

pytestmark = pytest.mark.django_db
# The double of the other tests is held to the same behaviour as what it stands for.
PROVIDERS: dict[str, Callable[[], Provider]] = {**providers._PROVIDERS, "double": FaultyProvider}


@pytest.fixture(params=sorted(PROVIDERS))
def provider(request: pytest.FixtureRequest) -> Provider:
    return PROVIDERS[request.param]()


@pytest.fixture
def cards() -> tuple[CardSpec, ...]:
    """A node of four cards."""
    make_lot(cards=2, nodes=(4,))
    return tuple(
        CardSpec(node=c.node.name, index=c.index, serial=c.serial, model=c.node.accelerator.slug)
        for c in Card.objects.select_related("node__accelerator").order_by("index")
    )


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
    provider.open_access(lease_id, ("SHA256:a",))


def test_whole_life(provider: Provider, cards: tuple[CardSpec, ...]) -> None:
    granted = provider.reserve(spec(cards[:2]))
    assert [(c.node, c.index) for c in granted.cards] == [(c.node, c.index) for c in cards[:2]]
    provider.prepare(1)
    assert differences(cards[:2], provider.verify(1)) == []
    provider.open_access(1, ("SHA256:b", "SHA256:a"))
    observed = provider.observe(1)
    assert observed is not None
    assert observed.living
    assert observed.members == ("SHA256:a", "SHA256:b")
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


def test_every_verb_may_be_repeated(provider: Provider, cards: tuple[CardSpec, ...]) -> None:
    asked = spec(cards[:2])
    assert provider.reserve(asked) == provider.reserve(asked)
    for _time in range(2):
        provider.prepare(1)
    assert provider.verify(1) == provider.verify(1)
    for _time in range(2):
        provider.open_access(1, ("SHA256:a",))
    # A late repeat of an earlier verb takes nothing back.
    provider.prepare(1)
    provider.reserve(asked)
    observed = provider.observe(1)
    assert observed is not None
    assert observed.members == ("SHA256:a",)
    for _time in range(2):
        provider.extend(1, asked.ends_at + timedelta(hours=1))
        provider.members(1, ("SHA256:c",))
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


def test_overlap_is_refused(provider: Provider, cards: tuple[CardSpec, ...]) -> None:
    provider.reserve(spec(cards[:2]))
    with pytest.raises(ProviderRefused, match="overlaps"):
        provider.reserve(spec(cards[1:3], lease_id=2))
    assert provider.observe(2) is None
    provider.reserve(spec(cards[2:], lease_id=2))
    provider.reserve(spec(cards[:1], lease_id=3, begins=72))


def test_machine_past_its_time_still_blocks_until_wiped(
    provider: Provider, cards: tuple[CardSpec, ...]
) -> None:
    open_lease(provider, cards[:2])
    clock.skip(timedelta(hours=100))
    with pytest.raises(ProviderRefused, match="overlaps"):
        provider.reserve(spec(cards[:2], lease_id=2))
    provider.end(1)
    with pytest.raises(ProviderRefused, match="overlaps"):
        provider.reserve(spec(cards[:2], lease_id=2))
    provider.wipe(1)
    provider.reserve(spec(cards[:2], lease_id=2))


def test_past_and_backward_periods_are_refused(provider: Provider, cards: tuple[CardSpec, ...]) -> None:
    with pytest.raises(ProviderRefused, match="past"):
        provider.reserve(spec(cards[:2], begins=-1))
    with pytest.raises(ProviderRefused, match="end"):
        provider.reserve(spec(cards[:2], hours=-1))
    with pytest.raises(ProviderRefused):
        provider.reserve(spec(()))
    provider.reserve(spec(cards[:2]))
    with pytest.raises(ProviderRefused, match="end"):
        provider.extend(1, clock.now() - timedelta(hours=1))


def test_extension_over_a_follower_is_refused(provider: Provider, cards: tuple[CardSpec, ...]) -> None:
    provider.reserve(spec(cards[:2]))
    follower = spec(cards[:1], lease_id=2, begins=80)
    provider.reserve(follower)
    provider.extend(1, follower.starts_at)
    with pytest.raises(ProviderRefused, match="overlaps"):
        provider.extend(1, follower.starts_at + timedelta(seconds=1))
    observed = provider.observe(1)
    assert observed is not None
    assert observed.ends_at == follower.starts_at


def test_cards_that_the_engine_does_not_have_are_refused(
    provider: Provider, cards: tuple[CardSpec, ...]
) -> None:
    unknown = CardSpec(node=cards[0].node, index=99, serial="x", model=cards[0].model)
    with pytest.raises(ProviderRefused):
        provider.reserve(spec((cards[0], unknown)))
    assert provider.living() == ()


def test_living_lease_keeps_its_cards(provider: Provider, cards: tuple[CardSpec, ...]) -> None:
    provider.reserve(spec(cards[:2]))
    with pytest.raises(ProviderRefused, match="other cards"):
        provider.reserve(spec(cards[2:]))


def test_wiped_lease_may_be_reserved_anew_on_other_cards(
    provider: Provider, cards: tuple[CardSpec, ...]
) -> None:
    open_lease(provider, cards[:2])
    provider.end(1)
    provider.wipe(1)
    granted = provider.reserve(spec(cards[2:]))
    assert [c.index for c in granted.cards] == [c.index for c in cards[2:]]
    assert granted.members == ()


def test_order_of_verbs(provider: Provider, cards: tuple[CardSpec, ...]) -> None:
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


def test_verify_reports_what_is_there_now(provider: Provider, cards: tuple[CardSpec, ...]) -> None:
    provider.reserve(spec(cards[:2]))
    provider.prepare(1)
    Card.objects.filter(serial=cards[0].serial).update(healthy=False)
    assert [c.healthy for c in provider.verify(1)] == [False, True]
    assert [entry["problem"] for entry in differences(cards[:2], provider.verify(1))] == ["unhealthy"]


@pytest.mark.django_db(transaction=True)
def test_simulated_engine_refuses_a_callers_transaction(cards: tuple[CardSpec, ...]) -> None:
    """What the engine does must stand although its caller is rolled back."""
    with pytest.raises(RuntimeError, match="durable"), transaction.atomic():
        get_provider().reserve(spec(cards[:2]))


def test_unknown_provider_is_named(settings: Any) -> None:
    settings.PROVIDER = "slurm"
    with pytest.raises(ImproperlyConfigured, match="'slurm', which is not known; it may be: simulated"):
        get_provider()
