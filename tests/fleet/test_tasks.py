"""The Celery faces: each calls one service, and a sweep leaves the time of its run."""

from datetime import timedelta

import pytest

from core import clock
from core.models import SweepRun
from fleet import tasks
from fleet.models import Hold, Lease
from tests.factories.fleet import TERM_SECONDS, make_hold, make_lease, make_lot

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_login")]


def test_work_task_takes_a_lease_as_far_as_it_goes_and_may_run_twice() -> None:
    lease = make_lease(make_lot())
    for _time in range(2):
        tasks.work_lease(lease.pk)
    assert Lease.objects.get(pk=lease.pk).status == "ready"


def test_sweeps_find_everything_without_a_hint() -> None:
    lot = make_lot(cards=1, nodes=(2,))
    lease, held = make_lease(lot), make_hold(lot)
    tasks.sweep_leases()
    assert Lease.objects.get(pk=lease.pk).status == "ready"
    clock.skip(timedelta(seconds=TERM_SECONDS, hours=1))
    for sweep in (tasks.sweep_leases, tasks.sweep_holds, tasks.sweep_machines):
        sweep()
    assert Lease.objects.get(pk=lease.pk).status == "closed"
    assert Hold.objects.get(pk=held.pk).released_at is not None
    runs = {run.name: run for run in SweepRun.objects.all()}
    assert set(runs) == {"leases", "holds", "machines"}
    assert all(run.last_finished_at and not run.last_error for run in runs.values())
    product = runs["leases"].last_product_at
    assert product is not None
    assert product > clock.system_now() + timedelta(days=2), "the product's time of the run is kept"


def test_broken_sweep_leaves_its_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> int:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("fleet.services.sweep.release_overdue_holds", broken)
    with pytest.raises(ZeroDivisionError):
        tasks.sweep_holds()
    assert SweepRun.objects.get(name="holds").last_error == "ZeroDivisionError: a bug"
