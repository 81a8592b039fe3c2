"""Steps of the worker for a degraded lease on its way to whole cards. The state stays; the test report counts them.

Old machine down, new one reserved, prepared, tested with a login, access open: then it is ready again.
"""

from collections.abc import Callable

from fleet.models import Lease
from fleet.providers import get_provider
from fleet.services import prepare, teardown
from fleet.services.degrade import repaired
from fleet.services.open_access import let_in
from fleet.services.prepare import STEP_FIELDS, fresh_step

Apply = Callable[[Lease], None]

RESERVED, PREPARED = "reserved", "prepared"


def next_step(lease: Lease) -> Callable[[Lease], Apply]:
    """What is due now for a lease that moves."""
    if teardown.has_left_cards(lease):
        return teardown.leave_cards
    report = lease.test_report
    if report.get("passed"):
        return open_again
    if report.get("move") == PREPARED or "differences" in report:
        return prepare.test
    return bring_up if report.get("move") == RESERVED else set_apart


def set_apart(lease: Lease) -> Apply:
    """The engine sets the new cards apart."""
    prepare.reserve_cards(lease)
    return lambda locked: _note(locked, RESERVED)


def bring_up(lease: Lease) -> Apply:
    """The new machine comes up with the image of the lease."""
    get_provider().prepare(lease.pk)
    return lambda locked: _note(locked, PREPARED)


def open_again(lease: Lease) -> Apply:
    """degraded -> ready on the new cards: access opens again, and the outages are over."""
    version = let_in(lease)

    def apply(locked: Lease) -> None:
        fresh_step(locked)
        locked.moving_at = None
        locked.applied_version = version
        repaired(locked, moved=True, also=[*STEP_FIELDS, "moving_at", "applied_version"])

    return apply


def _note(lease: Lease, reached: str) -> None:
    fresh_step(lease)
    lease.test_report = {"move": reached}
    lease.save(update_fields=[*STEP_FIELDS, "test_report"])
