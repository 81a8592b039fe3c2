"""S49 controls: without the lock of its row two members of staff act twice. Beside test_admin_actions."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db.models import Model

import fleet.locks
import orders.locks
from core.locks import mark
from core.models import AuditEntry
from fleet.models import Hold, Lease
from orders.models import Order
from tests.core.desk import staff
from tests.core.test_admin_actions import a_hold, a_lease, an_order, press_at_once


def order_unlocked(public_id: str) -> Order:
    return mark(Order.objects.select_related("quote").get(public_id=public_id))


def hold_unlocked(ref: str) -> Hold:
    return mark(Hold.objects.get(ref=ref))


def lease_unlocked(lease_id: int) -> Lease:
    return mark(Lease.objects.select_related("hold").get(pk=lease_id))


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("make", "action", "audited", "module", "name", "unlocked"),
    [
        (an_order, "cancel", "order.cancel", orders.locks, "order_for_update", order_unlocked),
        (a_hold, "release", "hold.release", fleet.locks, "hold_for_update", hold_unlocked),
        (a_lease, "end", "lease.end", fleet.locks, "lease_for_update", lease_unlocked),
    ],
    ids=["cancel", "release", "end"],
)
def test_s49_control_without_the_lock_both_act(
    monkeypatch: pytest.MonkeyPatch,
    make: Callable[[], Model],
    action: str,
    audited: str,
    module: Any,
    name: str,
    unlocked: Callable[[Any], Any],
) -> None:
    row = make()
    met = threading.Barrier(2)

    def read_then_meet(key: Any) -> Any:
        found = unlocked(key)
        met.wait(timeout=10)
        return found

    monkeypatch.setattr(module, name, read_then_meet)
    clients = [staff(f"staff-{number}", superuser=True) for number in range(2)]
    press_at_once(clients, row, action)
    assert AuditEntry.objects.filter(action=audited).count() == 2
