"""What the buyer wants to take away before the end, in his own figures."""

from datetime import timedelta

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from core import clock
from core.errors import Conflict, Invalid
from fleet import locks
from fleet.export import export_time
from fleet.lifecycle import OVER_STATES, TEARDOWN_STATES
from fleet.models import Lease

# A petabyte is more than any lot's disks hold; a rate above 400 Gbit/s is more than any published line carries.
MAX_BYTES = 10**15
MIN_RATE_BYTES_S, MAX_RATE_BYTES_S = 10**3, 50 * 10**9
# No term and its extensions last longer; a slip of a unit is noticed here.
MAX_TIME = timedelta(days=366)


def declare(*, order_ref: str, size_bytes: int | None, rate_bytes_s: int | None) -> Lease:
    """Keep size and rate of the export; None forgets a figure. The last safe start follows from them at every look.

    Locks the lease. May be repeated. Raises Invalid(out_of_range), Conflict(not_ready, lease_over).
    """
    if size_bytes is not None and not 0 < size_bytes <= MAX_BYTES:
        raise Invalid(
            code="out_of_range",
            message=_("The data must be more than 0 and up to 1,000,000 GB."),
            field="size",
        )
    if rate_bytes_s is not None and not MIN_RATE_BYTES_S <= rate_bytes_s <= MAX_RATE_BYTES_S:
        raise Invalid(
            code="out_of_range",
            message=_("The rate must be between 0.001 MB/s and 50,000 MB/s (400 Gbit/s)."),
            field="rate",
        )
    if (
        size_bytes
        and rate_bytes_s
        and export_time(size_bytes=size_bytes, rate_bytes_s=rate_bytes_s) > MAX_TIME
    ):
        raise Invalid(
            code="out_of_range",
            message=_("At this rate the data would be under way for more than a year. Check both figures."),
            field="rate",
        )
    with transaction.atomic():
        lease = locks.lease_of_order_for_update(order_ref)
        if lease is None:
            raise Conflict(code="not_ready", message=_("There is no lease to export from yet."))
        over = lease.ends_at is not None and clock.now() >= lease.ends_at
        if over or lease.status in TEARDOWN_STATES | OVER_STATES:
            raise Conflict(
                code="lease_over", message=_("This lease is over; nothing can be taken away any more.")
            )
        lease.export_bytes = size_bytes
        lease.export_rate_bytes_s = rate_bytes_s
        lease.save(update_fields=["export_bytes", "export_rate_bytes_s"])
        return lease
