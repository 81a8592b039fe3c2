"""Due work is found by a query: leases to step, holds to let go, machines that nobody should have."""

from datetime import timedelta

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import F, Q

from core import claims, clock
from core.models import SweepRun
from fleet import locks
from fleet.extensions import paid_extensions
from fleet.lifecycle import OPEN_STATES, OVER_STATES, PREPARATION_STATES, TEARDOWN_STATES, LeaseStatus
from fleet.models import Hold, Lease
from fleet.periods import PREPARE_AHEAD
from fleet.providers import get_provider
from fleet.providers.base import ProviderError
from fleet.services import after_restore, orphans
from fleet.services.release import release_locked
from fleet.services.teardown import take_down
from fleet.services.work import work_lease

log = structlog.get_logger(__name__)

# The longest way in a row is a move that finds wrong cards once: twice old machine down, reserve, prepare, test; open.
MAX_STEPS = 10
# The sweeps it waits for run every few seconds.
CAUGHT_UP_WITHIN = timedelta(minutes=1)


def due_leases(limit: int = 200) -> list[int]:
    """Leases with a step or a deadline that has come, oldest need first.

    A chosen start that lies ahead is not due, whatever its pause says: it is asked of the product's clock.
    """
    moment, system = clock.now(), clock.system_now()
    waiting = Q(hold__starts_at__gt=moment + PREPARE_AHEAD) & Q(status=LeaseStatus.RESERVED)
    tested = Q(hold__starts_at__gt=moment) & Q(
        status=LeaseStatus.TESTING, test_report__contains={"passed": True}
    )
    step = (
        Q(status__in=[*PREPARATION_STATES, *TEARDOWN_STATES]) | Q(status=LeaseStatus.FAILED, wiped_at=None)
    ) & ~(waiting | tested)
    deadline = Q(status__in=PREPARATION_STATES, ready_by__lte=moment) | Q(
        status__in=[*OPEN_STATES, LeaseStatus.SUSPENDED], ends_at__lte=moment
    )
    deadline |= Q(status=LeaseStatus.SUSPENDED, suspended_at__lte=moment - _reversed_grace())
    export = Q(status__in=OPEN_STATES, export_window_at=None, ends_at__lte=moment + timedelta(days=1))
    step |= Q(
        status__in=OPEN_STATES,
        moving_at=None,
        ends_at__gt=moment,
        pk__in=paid_extensions().values("extends_id"),
    )
    step |= Q(status=LeaseStatus.DEGRADED, moving_at__isnull=False)
    step |= Q(
        status__in=[*OPEN_STATES, LeaseStatus.SUSPENDED],
        ready_at__isnull=False,
        moving_at=None,
        applied_version__lt=F("wanted_version"),
    )
    due = (step & Q(next_at__lte=system) & claims.free()) | deadline | export
    return list(Lease.objects.filter(due).order_by("next_at", "pk").values_list("pk", flat=True)[:limit])


def sweep_leases() -> None:
    """Take every due lease as far as it goes now. A lease that breaks holds up no other."""
    for lease_id in due_leases():
        try:
            advance_lease(lease_id=lease_id)
        except Exception:
            log.exception("lease_sweep_failed", lease=lease_id)


def advance_lease(*, lease_id: int) -> None:
    """Step a lease until nothing more is due. Safe to run twice and at once: each step has its own claim."""
    for _step in range(MAX_STEPS):
        if not work_lease(lease_id=lease_id):
            return


def release_overdue_holds() -> int:
    """Let go of unpaid holds whose release time has passed; how many. Each in a transaction of its own.

    The time is read again under the lock: billing may just have moved it because money was seen.
    """
    if not _caught_up():
        return 0
    refs = Hold.objects.filter(committed_at=None, released_at=None, release_at__lte=clock.now()).values_list(
        "ref", flat=True
    )
    return sum(_release_if_overdue(ref) for ref in list(refs[:500]))


def _caught_up() -> bool:
    """After an outage the chains are read first (C30): money may have come in time while nobody looked.

    A rival's booking lets overdue holds go all the same, so a sweep that never comes back keeps no card off sale.
    """
    limit = clock.system_now() - CAUGHT_UP_WITHIN
    stale = SweepRun.objects.filter(name__in=settings.HOLDS_WAIT_FOR_SWEEPS).exclude(
        last_finished_at__gte=limit
    )
    return not stale.exists()


def _release_if_overdue(ref: str) -> bool:
    with transaction.atomic():
        hold = locks.hold_for_update(ref)
        if hold is None or not hold.is_open or hold.release_at > clock.now():
            return False
        release_locked(hold)
        return True


def reconcile_machines() -> None:
    """Compare what the engine runs with our leases: what a lease left behind goes, what no lease knows is reported.

    A worker that was killed between the engine's act and our record leaves such a machine only where the lease ended
    meanwhile; all other leases take it up again by themselves.
    """
    provider = get_provider()
    living = provider.living()
    orphans.close_gone(living)
    after_restore.give_back(living)
    known = {lease.pk: lease for lease in Lease.objects.filter(pk__in=living)}
    for lease_id in living:
        lease = known.get(lease_id)
        if lease is None:
            orphans.judge(provider, lease_id)
        elif lease.status in OVER_STATES and lease.wiped_at is not None:
            try:
                take_down(provider, lease_id)
                log.warning("left_machine_taken_down", lease=lease_id, status=lease.status)
            except ProviderError as error:
                log.warning("left_machine_stays", lease=lease_id, reason=error.reason)


def _reversed_grace() -> timedelta:
    return timedelta(seconds=settings.REVERSED_GRACE_SECONDS)
