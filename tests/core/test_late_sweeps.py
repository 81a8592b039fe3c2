"""A sweep that stands still is a decision and shows in /readyz, by the same limit; it closes itself."""

from datetime import timedelta

import pytest
from django.conf import settings

from anchorgpu.schedule import beat_schedule, sweep_intervals
from core import clock, sweeps
from core.models import Decision, SweepRun
from core.services.watch_sweeps import KIND, OWN_NAME, watch_sweeps
from shop.readiness import readiness

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def own_round(db: None) -> None:
    """The watcher itself has run a moment ago."""
    ran(OWN_NAME, ago=10)


def ran(name: str, *, ago: float) -> None:
    moment = clock.system_now() - timedelta(seconds=ago)
    SweepRun.objects.update_or_create(
        name=name, defaults={"last_started_at": moment, "last_finished_at": moment, "last_error": ""}
    )


def late() -> list[str]:
    return sorted(d.subject for d in Decision.objects.filter(kind=KIND, closed_at=None))


def failing() -> list[str]:
    return [name for name in readiness()["failing"] if name.startswith("sweep:")]


@pytest.mark.parametrize("demo", [True, False])
def test_every_sweep_has_an_interval(demo: bool) -> None:
    """A sweep whose task is named otherwise would never be missed."""
    demo_only = {"demo_transfers", "demo_cards"} if not demo else set()
    assert sweeps.names() - demo_only <= set(sweep_intervals(demo=demo))
    assert beat_schedule(demo=demo)["fleet.sweep_machines"]["schedule"] == timedelta(minutes=1)


@pytest.mark.parametrize("name", ["machines", "health", "outbox", "quotes"])
def test_late_is_missed_rounds_and_closes_itself(name: str) -> None:
    limit = sweeps.limit(name).total_seconds()
    assert limit >= sweeps.MISSED_ROUNDS * settings.SWEEP_INTERVALS[name]
    ran(name, ago=limit - 5)
    watch_sweeps()
    assert late() == []
    ran(name, ago=limit + 5)
    watch_sweeps()
    assert late() == [f"sweep:{name}"]
    ran(name, ago=1)
    watch_sweeps()
    assert late() == []


def test_readyz_names_the_same_sweep() -> None:
    ran("machines", ago=sweeps.limit("machines").total_seconds() - 5)
    assert failing() == []
    ran("machines", ago=sweeps.limit("machines").total_seconds() + 5)
    assert failing() == ["sweep:machines"]


def test_one_that_started_and_never_came_back_is_late() -> None:
    SweepRun.objects.create(name="machines", last_started_at=clock.system_now() - timedelta(hours=1))
    watch_sweeps()
    assert late() == ["sweep:machines"]
    assert failing() == ["sweep:machines"]


def test_after_a_pause_of_the_whole_worker_the_others_get_one_round() -> None:
    ran(OWN_NAME, ago=4000)
    ran("machines", ago=4000)
    watch_sweeps()
    assert late() == []
    ran(OWN_NAME, ago=0)
    watch_sweeps()
    assert late() == ["sweep:machines"]


def test_a_row_of_a_sweep_that_is_no_longer_scheduled_is_not_late() -> None:
    ran("forgotten", ago=100_000)
    watch_sweeps()
    assert late() == []
