"""Orders whose term really runs, by the services and the worker's steps, for tests of what may happen in it."""

from typing import Any

import pytest

from billing.services.checkout import CryptoChoice, anonymous_limits
from billing.services.extend import ExtendRequest, extend
from core import outbox
from fleet.models import Lease
from fleet.services import try_login
from fleet.services.sweep import sweep_leases
from orders.models import Order
from tests import scenario

USDC = CryptoChoice("local", "USDC")


def take_logins_for_good(monkeypatch: pytest.MonkeyPatch) -> None:
    """The acceptance test's login; tests of the gateway do it truly."""
    monkeypatch.setattr(try_login, "check_login", lambda **_rest: "")


def work() -> None:
    """What the worker does in a round: steps of leases, then everybody hears of them."""
    sweep_leases()
    outbox.drain()


def active_order(**changes: Any) -> Order:
    """Paid, prepared, open: the term runs."""
    order = scenario.order(**changes)
    scenario.pay(order)
    work()
    order.refresh_from_db()
    assert order.status == "active"
    return order


def extension(order: Order, *, days: int = 3, prefix: str = "10.9.9.0/24") -> Order:
    """An extension that waits for its payment."""
    return extend(
        ExtendRequest(
            order_id=order.public_id, days=days, pay_with=USDC, prefix=prefix, limits=anonymous_limits()
        )
    )


def joined_extension(order: Order, *, days: int = 3) -> Order:
    """An extension that is part of the term."""
    row = extension(order, days=days)
    scenario.pay(row)
    work()
    row.refresh_from_db()
    assert row.status == "active"
    return row


def lease_of(order: Order) -> Lease:
    return Lease.objects.get(order_ref=(order.extends or order).public_id)
