"""The one way a status changes: only along the table, only on a locked row, with one event in one transaction."""

import itertools
from datetime import timedelta

import pytest
from django.db import transaction

from billing.lifecycle import PAYMENT, REFUND
from catalog.models import Lot
from core import clock
from core.lifecycle import IllegalStep, Lifecycle
from core.locks import is_locked, mark
from core.models import Event
from fleet.lifecycle import LEASE
from fleet.models import Lease
from orders.lifecycle import ORDER, QUOTE
from tests.factories.fleet import make_lease, make_lot

TABLES = [QUOTE, ORDER, LEASE, PAYMENT, REFUND]


@pytest.fixture
def lot(db: None) -> Lot:
    return make_lot()


@pytest.mark.parametrize("lifecycle", TABLES, ids=lambda found: found.kind)
def test_a_table_names_only_states_that_it_has(lifecycle: Lifecycle) -> None:
    states = set(lifecycle.allowed)
    assert set().union(*lifecycle.allowed.values()) <= states
    assert {state for pair in lifecycle.names for state in pair} <= states
    assert all(lifecycle.can(origin, to) for origin, to in lifecycle.names)


def lease_rows() -> list[tuple[str, str]]:
    return list(itertools.product(LEASE.allowed, LEASE.allowed))


@pytest.mark.parametrize(("origin", "to"), lease_rows())
def test_every_pair_of_states_follows_the_table(lot: Lot, origin: str, to: str) -> None:
    lease = make_lease(lot)
    moment = clock.now()
    Lease.objects.filter(pk=lease.pk).update(
        status=origin, ready_at=moment, ends_at=moment + timedelta(days=3)
    )
    before = Event.objects.count()
    with transaction.atomic():
        row = mark(Lease.objects.select_for_update().get(pk=lease.pk))
        if to not in LEASE.allowed[origin]:
            with pytest.raises(IllegalStep):
                LEASE.advance(row, to, order_ref=row.order_ref)
        else:
            LEASE.advance(row, to, order_ref=row.order_ref)
    allowed = to in LEASE.allowed[origin]
    row = Lease.objects.get(pk=lease.pk)
    assert row.status == (to if allowed else origin)
    names = list(Event.objects.order_by("pk").values_list("name", flat=True)[before:])
    assert names == ([LEASE.event_name(origin, to)] if allowed else [])


def test_a_row_that_is_not_locked_does_not_move(lot: Lot) -> None:
    lease = make_lease(lot)
    with transaction.atomic():
        row = Lease.objects.get(pk=lease.pk)
        assert not is_locked(row)
        with pytest.raises(RuntimeError, match="locked"):
            LEASE.advance(row, "preparing", order_ref="x")
    assert Lease.objects.get(pk=lease.pk).status == "reserved"


@pytest.mark.django_db(transaction=True)
def test_a_lock_ends_with_its_transaction() -> None:
    lease = make_lease(make_lot())
    with transaction.atomic():
        row = mark(Lease.objects.select_for_update().get(pk=lease.pk))
    assert not is_locked(row)
    with pytest.raises(RuntimeError):
        LEASE.advance(row, "preparing", order_ref="x")
    with pytest.raises(RuntimeError):
        mark(row)


@pytest.mark.django_db(transaction=True)
def test_a_step_that_is_rolled_back_leaves_no_event() -> None:
    lease = make_lease(make_lot())
    before = Event.objects.count()
    with transaction.atomic():
        row = mark(Lease.objects.select_for_update().get(pk=lease.pk))
        LEASE.advance(row, "preparing", order_ref=row.order_ref)
        assert Event.objects.count() == before + 1
        transaction.set_rollback(True)
    assert Event.objects.count() == before
    assert Lease.objects.get(pk=lease.pk).status == "reserved"


def test_the_time_of_the_step_is_written(lot: Lot) -> None:
    lease = make_lease(lot)
    with transaction.atomic():
        row = mark(Lease.objects.select_for_update().get(pk=lease.pk))
        LEASE.advance(row, "preparing", order_ref=row.order_ref)
    assert Lease.objects.get(pk=lease.pk).preparing_at is not None
