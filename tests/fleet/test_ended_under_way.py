"""S05 in the term: a lease ends while a worker is in the middle of its move; the late success changes nothing."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from core import clock
from fleet.models import Lease, Outage, Reservation
from fleet.selectors import access_of_order
from fleet.services.deadlines import apply_deadlines
from fleet.services.end import end_lease
from fleet.services.end_early import end_early
from fleet.services.repair import move_degraded
from fleet.services.suspend import suspend
from fleet.services.sweep import sweep_leases
from fleet.services.watch_health import watch_health
from fleet.services.work import CLAIM_SECONDS
from tests.factories.fleet import TERM_SECONDS
from tests.fleet.doubles import FaultyProvider
from tests.fleet.open_leases import drop_card, open_lease
from tests.fleet.rows import events, reload

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_login")]
Wait = Callable[[float], None]


def term_over(lease: Lease) -> None:
    clock.skip(timedelta(seconds=TERM_SECONDS))
    apply_deadlines(lease_id=lease.pk)


def by_staff(lease: Lease) -> None:
    end_lease(lease_id=lease.pk, reason="abuse", actor="anna")


def by_the_buyer(lease: Lease) -> None:
    end_early(order_ref=lease.order_ref, actor="buyer")


def money_gone(lease: Lease) -> None:
    suspend(order_ref=lease.order_ref)
    clock.skip(timedelta(hours=25))
    apply_deadlines(lease_id=lease.pk)


CAUSES = {"term_over": term_over, "abuse": by_staff, "early_end": by_the_buyer, "reversed": money_gone}


@pytest.mark.parametrize(
    ("verb", "cause"),
    [
        *((verb, "term_over") for verb in ("end", "wipe", "reserve", "prepare", "verify", "members")),
        *(("open_access", cause) for cause in CAUSES),
    ],
)
def test_s05_a_move_that_succeeds_after_the_end_changes_nothing(
    provider: FaultyProvider, wait: Wait, verb: str, cause: str
) -> None:
    lease = open_lease(nodes=(2, 2))
    drop_card(lease)
    watch_health()
    move_degraded(order_ref=lease.order_ref, actor="buyer")
    before = len(provider.calls)
    provider.before[verb].append(lambda: CAUSES[cause](lease))
    sweep_leases()
    assert verb in provider.calls[before:]
    assert access_of_order(lease.order_ref) is None
    for _round in range(2):
        wait(CLAIM_SECONDS + 31)
        sweep_leases()
    row = reload(lease)
    assert (row.status, row.end_reason, row.moving_at) == ("closed", cause, None)
    assert provider.living() == ()
    names = events(lease)
    assert names.count("lease.ending") == names.count("lease.closed") == 1
    assert "lease.repaired" not in names
    assert not Outage.objects.filter(ended_at=None).exists()
    assert {r.status for r in Reservation.objects.filter(hold=lease.hold)} == {"released"}
