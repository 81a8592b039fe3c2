"""Tell the engine who may log in and until when, whenever that has changed."""

from collections.abc import Callable

from core import decisions
from fleet import selectors
from fleet.lifecycle import LeaseStatus
from fleet.models import AccessKey, Lease
from fleet.providers import get_provider
from fleet.services.prepare import STEP_FIELDS, fresh_step

KIND = "access_sync_failing"


def is_due(lease: Lease) -> bool:
    """Whether the engine has been told less than we know. What never opened is told when it opens."""
    return lease.ready_at is not None and lease.applied_version < lease.wanted_version


def members_of(lease: Lease) -> tuple[str, ...]:
    """Fingerprints that may log in now; none while the lease is suspended."""
    if lease.status == LeaseStatus.SUSPENDED:
        return ()
    return tuple(
        AccessKey.objects.filter(lease=lease, purpose=AccessKey.Purpose.BUYER, removed_at=None)
        .order_by("pk")
        .values_list("fingerprint", flat=True)
    )


def sync_access(lease: Lease) -> Callable[[Lease], None]:
    """The state stays. The version was read before the members: a change in between is told once more."""
    version = lease.wanted_version
    provider = get_provider()
    provider.members(lease.pk, members_of(lease))
    # Too early would cut the term; too late would stand in the way of whoever follows.
    needed = min(row.period.upper for row in selectors.current_reservations(lease.hold_id))
    record = provider.observe(lease.pk)
    if record is not None and record.ends_at != needed:
        provider.extend(lease.pk, needed)

    def apply(locked: Lease) -> None:
        fresh_step(locked)
        locked.applied_version = max(locked.applied_version, version)
        locked.save(update_fields=[*STEP_FIELDS, "applied_version"])
        decisions.close_open(
            kind=KIND, subject=f"lease:{locked.pk}", reason="The provider has confirmed the change."
        )

    return apply
