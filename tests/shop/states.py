"""Orders in states that only time or a machine can bring about, set as rows."""

from datetime import timedelta

from core import clock
from core.models import Event
from fleet.models import Lease
from orders.models import Order


def active(order: Order) -> Lease:
    """Access is open and the term runs."""
    lease = Lease.objects.get(order_ref=order.public_id)
    moment = clock.now()
    lease.status = "ready"
    lease.preparing_at = lease.testing_at = lease.ready_at = moment
    lease.ends_at = moment + timedelta(seconds=lease.hold.term_seconds)
    lease.save()
    order.refresh_from_db()
    order.status = "active"
    order.active_at = moment
    order.save()
    _tell(order, "lease.ready", {"ends_at": lease.ends_at.isoformat()})
    return lease


def ended(order: Order) -> Lease:
    """The term is over and the machine is wiped."""
    lease = Lease.objects.get(order_ref=order.public_id)
    moment = clock.now()
    lease.status = "closed"
    lease.ends_at = moment
    lease.ready_at = moment - timedelta(days=3)
    lease.closed_at = lease.wiped_at = moment
    lease.wipe_record = {"at": moment.isoformat(), "cards": ["b200-n00-0"], "method": "simulated"}
    lease.save()
    order.refresh_from_db()
    order.status = "ended"
    order.ended_at = moment
    order.save()
    return lease


def expire_clock(order: Order) -> None:
    """The time to pay is up; no worker has noticed yet."""
    past = clock.now() - timedelta(seconds=5)
    opened = past - timedelta(hours=1)
    Order.objects.filter(pk=order.pk).update(hold_expires_at=past, placed_at=opened)
    order.refresh_from_db()
    order.payment.expires_at = past
    order.payment.save()


def _tell(order: Order, name: str, payload: dict[str, str]) -> None:
    Event.objects.create(
        name=name, subject="lease:0", order_ref=order.public_id, payload=payload, at=clock.now()
    )
