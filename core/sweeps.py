"""Sweeps find due work by a query; each leaves the time of its last run for staff and /readyz."""

import time
from collections.abc import Callable, Iterable
from datetime import timedelta
from functools import wraps
from typing import TypeVar

import structlog
from celery.exceptions import SoftTimeLimitExceeded
from django.conf import settings

from core import clock
from core.models import SweepRun

log = structlog.get_logger(__name__)

T = TypeVar("T")

# So many rounds may be missed before somebody is told; of a sweep that runs every few seconds as many as two minutes
# hold, since a restart of the worker takes some.
MISSED_ROUNDS = 3
SHORTEST_LIMIT = timedelta(minutes=2)

_names: set[str] = set()


def sweep(name: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """Record start, end and error of a sweep. The product's time of a full run is kept too, so that the demo's
    clock command can wait until every sweep has seen the new time."""
    _names.add(name)

    def wrap(function: Callable[[], None]) -> Callable[[], None]:
        @wraps(function)
        def run() -> None:
            product = clock.now()
            SweepRun.objects.update_or_create(name=name, defaults={"last_started_at": clock.system_now()})
            try:
                function()
            except Exception as error:
                SweepRun.objects.filter(name=name).update(
                    last_error=f"{type(error).__name__}: {error}"[:2000]
                )
                raise
            SweepRun.objects.filter(name=name).update(
                last_finished_at=clock.system_now(), last_product_at=product, last_error=""
            )

        return run

    return wrap


def each(rows: Iterable[T], act: Callable[[T], object], *, seconds: float | None = None) -> int:
    """Act on one row after the other; how many said that something was done. One that breaks holds up no other; the
    first error is raised at the end, so that the sweep shows it.

    `seconds`: no row is begun after so long; the next round goes on with the rest.
    """
    ends = None if seconds is None else time.monotonic() + seconds
    first: Exception | None = None
    done = 0
    for row in rows:
        if ends is not None and time.monotonic() >= ends:
            break
        try:
            done += bool(act(row))
        except SoftTimeLimitExceeded:
            raise
        except Exception as error:
            log.exception("sweep_row_failed", row=str(row))
            first = first or error
    if first is not None:
        raise first
    return done


def names() -> frozenset[str]:
    """All sweeps known to this process."""
    return frozenset(_names)


def limit(name: str) -> timedelta:
    """How long ago a sweep may have finished, by its interval in settings.SWEEP_INTERVALS."""
    seconds: float = settings.SWEEP_INTERVALS.get(name, 0.0)
    return max(SHORTEST_LIMIT, timedelta(seconds=MISSED_ROUNDS * seconds))


def is_late(run: SweepRun) -> bool:
    """Whether a scheduled sweep has not finished for longer than its limit. Shown by /readyz, and a decision."""
    if run.name not in settings.SWEEP_INTERVALS:
        return False
    since = run.last_finished_at or run.last_started_at
    return since is not None and clock.system_now() - since > limit(run.name)


def late() -> list[SweepRun]:
    """The late ones by name. A sweep that has never run has no row: a new one is not late."""
    return [run for run in SweepRun.objects.order_by("name") if is_late(run)]
