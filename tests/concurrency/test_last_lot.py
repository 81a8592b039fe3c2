"""S01: forty threads want the last lot, one gets it. The control takes the protection away and must oversell."""

import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction

from catalog.models import Lot
from core.errors import Refusal
from fleet.models import Hold, Reservation
from fleet.services.hold import hold
from tests import races
from tests.factories.fleet import hold_request, make_lot

pytestmark = pytest.mark.django_db(transaction=True)
THREADS = 40


@pytest.fixture(autouse=True)
def connection_per_thread(transactional_db: None) -> Iterator[None]:
    with races.own_connections():
        yield


@pytest.fixture
def lot() -> Lot:
    return make_lot(cards=2, nodes=(2,))


def race(lot: Lot, terms: list[int] | None = None) -> Counter[str]:
    """All threads place at the same moment, each an owner of its own; what each heard."""
    start = threading.Barrier(THREADS, timeout=30)

    def place(number: int) -> str:
        days = 3 if terms is None else terms[number % len(terms)]
        request = hold_request(lot, term_seconds=days * 24 * 3600)
        try:
            connection.ensure_connection()
            start.wait()
            with transaction.atomic():
                hold(request)
        except Refusal as refusal:
            return refusal.code
        finally:
            connection.close()
        return "held"

    with ThreadPoolExecutor(max_workers=THREADS) as threads:
        return Counter(threads.map(place, range(THREADS)))


def test_last_lot_is_sold_once(lot: Lot) -> None:
    answers = race(lot)
    assert answers["held"] == 1, answers
    assert set(answers) <= {"held", "no_capacity", "busy", "too_many_holds"}
    assert Hold.objects.count() == 1
    assert Reservation.objects.filter(status="held").count() == 2


def test_terms_of_3_7_and_30_days_race_alike(lot: Lot) -> None:
    answers = race(lot, terms=[3, 7, 30])
    assert answers["held"] == 1, answers
    assert Reservation.objects.filter(status="held").count() == 2


def test_overdue_hold_is_let_go_once_and_sold_once(lot: Lot) -> None:
    with transaction.atomic():
        old = hold(hold_request(lot))
    Hold.objects.filter(pk=old.pk).update(release_at=old.placed_at)
    answers = race(lot)
    assert answers["held"] == 1, answers
    assert Reservation.objects.filter(status="released").count() == 2
    assert Reservation.objects.filter(status="held").count() == 2


@pytest.fixture
def unprotected(lot: Lot, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with races.cards_unprotected(monkeypatch, threads=THREADS):
        yield


@pytest.mark.usefixtures("unprotected")
def test_control_without_lock_and_constraint_oversells(lot: Lot) -> None:
    assert race(lot)["held"] > 1
    assert Reservation.objects.filter(status="held").count() > 2


def test_constraint_alone_is_the_last_word(lot: Lot, monkeypatch: pytest.MonkeyPatch) -> None:
    """S02: whatever a worker believes, the database refuses the second row."""
    races.take_locks_off(monkeypatch)
    answers = race(lot)
    assert answers["held"] <= 1, answers
    assert set(answers) <= {"held", "no_capacity", "busy"}
    assert Reservation.objects.filter(status="held").count() == 2 * answers["held"]
