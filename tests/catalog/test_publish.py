"""A price table is made once, whoever presses the button, and never from nothing."""

import threading
import time
from decimal import Decimal

import pytest
from django.db import IntegrityError, connection, connections

from catalog.models import Accelerator, LotPrice, PriceVersion
from catalog.services import publish
from catalog.services.publish import publish_prices
from core.clock import now
from core.errors import Refusal
from tests.factories.catalog import AcceleratorFactory, LotFactory, TermFactory


@pytest.mark.django_db
def test_nothing_to_publish_is_refused() -> None:
    with pytest.raises(Refusal) as refused:
        publish_prices()
    assert refused.value.code == "nothing_to_publish"
    assert not PriceVersion.objects.exists()


@pytest.mark.django_db
def test_price_that_rounds_to_nothing_is_refused() -> None:
    TermFactory.create(days=1, discount=Decimal("0.99"))
    lot = LotFactory.create(accelerator=AcceleratorFactory.create(card_hour_amount=Decimal("0.0001")))
    with pytest.raises(Refusal) as refused:
        publish_prices()
    assert refused.value.code == "price_too_small"
    assert refused.value.text == f"The price of {lot.code} rounds to nothing. Term in days: 1."
    assert not PriceVersion.objects.exists()


@pytest.mark.django_db
def test_table_records_when_and_in_which_currency() -> None:
    TermFactory.create(days=3)
    LotFactory.create()
    before = now()
    publish_prices(note="first")
    version = PriceVersion.objects.get()
    assert (version.number, version.currency, version.note) == (1, "USD", "first")
    assert before <= version.published_at <= now()


def two_publishers_at_once(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Both have read the current table before either writes, unless a lock makes the second wait."""
    arrived: list[int] = []

    def met_or_waiting() -> bool:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM pg_locks JOIN pg_database d ON d.oid = database"
                " WHERE locktype = 'advisory' AND NOT granted AND d.datname = current_database()"
            )
            waiting: int = cursor.fetchone()[0]
        return len(arrived) == 2 or waiting > 0

    def rendezvous() -> object:
        arrived.append(1)
        deadline = time.monotonic() + 10
        while not met_or_waiting():
            assert time.monotonic() < deadline, "the second publisher never came"
            threading.Event().wait(0.01)
        return now()

    outcomes: list[object] = []

    def run() -> None:
        try:
            outcomes.append(publish_prices().created)
        except IntegrityError as error:
            outcomes.append(error)
        finally:
            connections.close_all()

    monkeypatch.setattr(publish, "now", rendezvous)
    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    return outcomes


@pytest.fixture
def changed_prices(transactional_db: None) -> None:
    TermFactory.create(days=3)
    LotFactory.create(accelerator=AcceleratorFactory.create(slug="h200", card_hour_amount=Decimal("4.00")))
    publish_prices()
    Accelerator.objects.update(card_hour_amount=Decimal("5.00"))


def test_two_publishers_make_one_table(changed_prices: None, monkeypatch: pytest.MonkeyPatch) -> None:
    assert sorted(map(str, two_publishers_at_once(monkeypatch))) == ["False", "True"]
    assert [v.number for v in PriceVersion.objects.order_by("number")] == [1, 2]
    assert LotPrice.objects.count() == 2


def no_lock() -> None:
    """Stands in for the protection that the control takes away."""


def test_control_without_the_lock_one_of_them_fails(
    changed_prices: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publish, "price_table_for_update", no_lock)
    outcomes = two_publishers_at_once(monkeypatch)
    assert [type(outcome) for outcome in outcomes].count(IntegrityError) == 1
