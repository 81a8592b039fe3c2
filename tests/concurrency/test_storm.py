"""A short storm of buyers (the long one is bench.storm) and the same without any protection, which must oversell."""

from collections import Counter
from collections.abc import Iterator

import pytest
from pytest_django import Settings

from bench.inside import shop, storm
from bench.inside.storm import Answer
from fleet.models import Hold, Reservation
from tests import races

pytestmark = pytest.mark.django_db(transaction=True)

BUYERS = 36
NODES = 3


@pytest.fixture(autouse=True)
def raised_bounds(settings: Settings, transactional_db: None) -> Iterator[None]:
    settings.HOLD_ORDERS_PER_OWNER = settings.HOLD_CARDS_PER_OWNER = settings.HOLD_ORDERS_PER_PREFIX = 1000
    settings.ADDRESS_POOL_SIZE = 2 * BUYERS
    shop.open_shop(nodes=NODES, addresses=2 * BUYERS, accelerator=storm.ACCELERATOR)
    with races.own_connections():
        yield


def storm_of(buyers: int) -> list[Answer]:
    quotes = storm.make_quotes(buyers)
    answers = races.at_once(buyers, lambda number: storm.buy(number, quotes[number]))
    assert [answer for answer in answers if not isinstance(answer, Answer)] == []
    return answers


def test_a_storm_leaves_no_card_double_and_refuses_nobody_without_need() -> None:
    answers = storm_of(BUYERS)
    assert storm.breaches(answers) == []
    assert Counter(answer.code for answer in answers)["no_capacity"] > 0
    assert Reservation.objects.filter(status="held").count() == NODES * shop.CARDS_PER_NODE


def test_control_without_locks_and_constraint_cards_are_double(monkeypatch: pytest.MonkeyPatch) -> None:
    with races.cards_unprotected(monkeypatch, threads=BUYERS):
        answers = storm_of(BUYERS)
        assert [sentence for sentence in storm.breaches(answers) if "share a card" in sentence]
        assert Hold.objects.count() > NODES * 2


def test_control_a_buyer_who_is_refused_without_need_is_found() -> None:
    """The look afterwards can see it: an order that was refused while the fleet stood empty."""
    (quote,) = storm.make_quotes(1)
    assert storm.breaches([Answer(quote, "no_capacity", 0)]) == [f"the refused {quote} could still be placed"]
