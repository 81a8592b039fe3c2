"""The last step: access opens and the term starts, in one moment (DESIGN rule 3)."""

from collections.abc import Callable
from datetime import timedelta

from django.db.backends.postgresql.psycopg_any import DateTimeTZRange

from core import clock, decisions
from fleet import locks, selectors
from fleet.lifecycle import LEASE, LeaseStatus
from fleet.models import Lease
from fleet.periods import turnaround
from fleet.providers import get_provider
from fleet.services.deadlines import fail_late, last_ready_moment, make_room
from fleet.services.outages import record_late
from fleet.services.prepare import STEP_FIELDS, fresh_step
from fleet.services.sync import members_of

# What is no longer a question once the buyer is in.
_SETTLED_BY_READY = ("lease_failing", "lease_late")


def open_access(lease: Lease) -> Callable[[Lease], None]:
    """testing -> ready, once the test is passed and the start is reached."""
    version = let_in(lease)
    return lambda locked: _start_term(locked, version=version)


def let_in(lease: Lease) -> int:
    """Open the machine to the members; the version of access that the engine has then. Raises ProviderError."""
    # Read before the members are: a change in between is told once more (fleet.services.sync).
    version = lease.wanted_version
    members = members_of(lease)
    provider = get_provider()
    provider.open_access(lease.pk, members)
    provider.members(lease.pk, members)
    return version


def _start_term(lease: Lease, *, version: int) -> None:
    moment = clock.now()
    if moment >= last_ready_moment(lease):
        # Payment or a pause for reversed money took the slack of the hold: what nobody else wants is taken first.
        make_room(lease)
    if moment >= last_ready_moment(lease):
        # The calendar no longer holds a whole term: late is late, whatever the provider achieved meanwhile.
        fail_late(lease)
        return
    begins = moment if lease.hold.starts_at is None else max(moment, lease.hold.starts_at)
    lease.ends_at = begins + timedelta(seconds=lease.hold.term_seconds)
    _cut_reservations(lease)
    record_late(
        lease,
        card_ids=[row.card_id for row in selectors.current_reservations(lease.hold_id)],
        ready_at=moment,
    )
    lease.applied_version = version
    fresh_step(lease)
    LEASE.advance(
        lease,
        LeaseStatus.READY,
        order_ref=lease.order_ref,
        payload={"ends_at": lease.ends_at.isoformat()},
        at=moment,
        also=[*STEP_FIELDS, "ends_at", "applied_version"],
    )
    for kind in _SETTLED_BY_READY:
        decisions.close_open(kind=kind, subject=f"lease:{lease.pk}", reason="Access is open.")


def _cut_reservations(lease: Lease) -> None:
    """What the slack of the hold reserved too much goes back on sale."""
    if lease.ends_at is None:
        raise ValueError("The term has no end yet.")
    upper = lease.ends_at + turnaround()
    for row in locks.reservations_for_update(lease.hold):
        if row.left_at is None and upper < row.period.upper:
            row.period = DateTimeTZRange(row.period.lower, upper, "[)")
            row.save(update_fields=["period"])
