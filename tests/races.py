"""What race tests share: a common start, a connection for every thread, and the protections taken off."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Barrier
from typing import Any

import pytest
from django.db import connection, connections

from fleet import free_cards, locks
from fleet.models import Card, Reservation
from fleet.services import hold as hold_module

CONSTRAINT = "reservation_no_overlap"


def at_once(count: int, act: Callable[[int], Any]) -> list[Any]:
    """Run `act(0..count-1)` in as many threads, started together; results or the exceptions."""
    barrier = Barrier(count)

    def run(number: int) -> Any:
        try:
            barrier.wait(timeout=30)
            return act(number)
        except Exception as error:
            return error
        finally:
            connection.close()

    with ThreadPoolExecutor(count) as threads:
        return list(threads.map(run, range(count)))


@contextmanager
def own_connections() -> Iterator[None]:
    """The pool of a process would let eight through at a time and make the race tamer than it is."""
    options = connections["default"].settings_dict["OPTIONS"]
    connection.close()
    pool, options["pool"] = options["pool"], False
    yield
    connection.close()
    options["pool"] = pool


def take_locks_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """A booking reads the cards of its nodes and locks none of them, neither at the first look nor at the last."""

    def unlocked(node_ids: Iterable[int], **_options: bool) -> list[int]:
        return list(
            Card.objects.filter(node_id__in=list(node_ids)).order_by("pk").values_list("pk", flat=True)
        )

    def unlocked_candidates(*, accelerator_id: int) -> list[Card]:
        cards = Card.objects.filter(node__accelerator_id=accelerator_id).select_related("node")
        return list(cards.order_by("pk"))

    monkeypatch.setattr(locks, "cards_of_nodes_for_update", unlocked)
    monkeypatch.setattr(locks, "candidate_cards_for_update", unlocked_candidates)


@contextmanager
def cards_unprotected(monkeypatch: pytest.MonkeyPatch, *, threads: int) -> Iterator[None]:
    """No lock on the cards and no constraint; every thread has read before the first one writes."""
    everybody_has_read = Barrier(threads, timeout=30)
    read = free_cards.free_among

    def read_and_wait(**arguments: Any) -> dict[int, list[int]]:
        free = read(**arguments)
        everybody_has_read.wait()
        return free

    monkeypatch.setattr(hold_module, "free_among", read_and_wait)
    take_locks_off(monkeypatch)
    with without_constraint():
        yield


@contextmanager
def without_constraint() -> Iterator[None]:
    """The database has no last word either; what was sold twice is removed before it comes back."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = %s", [CONSTRAINT])
        (definition,) = cursor.fetchone()
        cursor.execute(f"ALTER TABLE fleet_reservation DROP CONSTRAINT {CONSTRAINT}")
    try:
        yield
    finally:
        Reservation.objects.all().delete()
        with connection.cursor() as cursor:
            cursor.execute(f"ALTER TABLE fleet_reservation ADD CONSTRAINT {CONSTRAINT} {definition}")
