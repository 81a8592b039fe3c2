"""S05 seen from the order: it stays cancelled, nothing is mailed or shown, and the log has both in their order."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import transaction
from django.db.backends.postgresql.psycopg_any import DateTimeTZRange
from django.test import Client

from billing.models import Refund
from core import clock, outbox
from core.models import OutgoingMail
from fleet.models import Lease, Reservation
from fleet.selectors import access_of_order, free_lots
from fleet.services import work
from fleet.services.sweep import sweep_leases
from fleet.services.work import CLAIM_SECONDS, work_lease
from orders.models import Order
from orders.services.cancel import cancel
from tests import scenario
from tests.fleet.doubles import FaultyProvider
from tests.fleet.rows import events

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_login")]


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the worker writes in its log, each entry with the order's last event at that moment."""
    entries: list[str] = []

    class Log:
        def warning(self, name: str, *, lease: int, **_facts: object) -> None:
            entries.append(f"{events(Lease.objects.get(pk=lease))[-1]}, then {name}")

    monkeypatch.setattr(work, "log", Log())
    return entries


def free(order: Order) -> int:
    period = DateTimeTZRange(clock.now(), clock.now() + timedelta(days=3))
    return free_lots(lot=order.quote.lot, period=period).lots


@pytest.mark.parametrize("closed_before", [False, True], ids=["while it ends", "after it was closed"])
def test_s05_success_after_staff_cancelled_changes_nothing(
    provider: FaultyProvider,
    wait: Callable[[float], None],
    log: list[str],
    closed_before: bool,
) -> None:
    scenario.open_shop()
    order = scenario.order()
    before = free(order)
    scenario.pay(order)
    lease = Lease.objects.get(order_ref=order.public_id)

    def staff_cancel_after_a_minute() -> None:
        clock.skip(timedelta(minutes=1))
        with transaction.atomic():
            cancel(order_id=order.public_id, actor="anna", reason="asked by phone")
        if closed_before:
            wait(CLAIM_SECONDS + 1)
            sweep_leases()

    provider.before["reserve" if closed_before else "prepare"].append(staff_cancel_after_a_minute)
    if not closed_before:
        assert work_lease(lease_id=lease.pk), "reserved in good time"
    assert work_lease(lease_id=lease.pk) is False, "the success came too late"
    wait(CLAIM_SECONDS + 1)
    sweep_leases()
    outbox.drain()
    order.refresh_from_db()
    lease.refresh_from_db()
    assert (order.status, lease.status) == ("cancelled", "closed")
    assert provider.living() == ()
    told = "lease.closed" if closed_before else "order.cancelled"
    assert log == [f"{told}, then lease_late_success_undone"]
    names = events(lease)
    assert names.index("order.cancelled") < names.index("lease.closed")
    assert names.count("order.cancelled") == names.count("lease.closed") == 1
    assert not {"lease.testing", "lease.ready", "order.active"} & set(names)
    assert access_of_order(order.public_id) is None
    mails = [
        key.rsplit(":", 1)[-1] for key in OutgoingMail.objects.order_by("id").values_list("key", flat=True)
    ]
    assert mails == ["placed", "paid", "cancelled", "needed"]
    page = Client().get(f"/en/orders/{order.token}/").content.decode()
    assert lease.username not in page
    assert "data-access" not in page
    assert free(order) == before + 1
    assert {row.status for row in Reservation.objects.filter(hold=lease.hold)} == {"released"}
    assert Refund.objects.filter(order=order).count() == 1
