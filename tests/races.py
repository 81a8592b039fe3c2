"""What race tests share: a common start, a connection for every thread, and the protections taken off."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Barrier
from typing import Any

import pytest
from django.db import connection, connections

from fleet import locks, selectors
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


def unlocked_cards(*, accelerator_id: int) -> list[Card]:
    """The candidates as everybody may read them at once."""
    return list(
        Card.objects.filter(node__accelerator_id=accelerator_id).select_related("node").order_by("pk")
    )


@contextmanager
def cards_unprotected(monkeypatch: pytest.MonkeyPatch, *, threads: int) -> Iterator[None]:
    """No lock on the cards and no constraint; every thread has read before the first one writes."""
    everybody_has_read = Barrier(threads, timeout=30)
    read = selectors.busy_card_ids

    def read_and_wait(**arguments: Any) -> set[int]:
        busy = read(**arguments)
        everybody_has_read.wait()
        return busy

    monkeypatch.setattr(hold_module, "busy_card_ids", read_and_wait)
    monkeypatch.setattr(locks, "candidate_cards_for_update", unlocked_cards)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = %s", [CONSTRAINT])
        (definition,) = cursor.fetchone()
        cursor.execute(f"ALTER TABLE fleet_reservation DROP CONSTRAINT {CONSTRAINT}")
    yield
    Reservation.objects.all().delete()
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE fleet_reservation ADD CONSTRAINT {CONSTRAINT} {definition}")
