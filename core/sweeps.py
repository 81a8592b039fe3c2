"""Sweeps find due work by a query; each leaves the time of its last run for staff and /readyz."""

from collections.abc import Callable
from functools import wraps

from core import clock
from core.models import SweepRun

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


def names() -> frozenset[str]:
    """All sweeps known to this process."""
    return frozenset(_names)
