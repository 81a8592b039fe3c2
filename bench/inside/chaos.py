"""The course of bench.chaos: terms go by on the product's clock, faults end, all is looked at, the rest runs out."""

import json
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from anchorgpu.celery import app
from bench.chaos import parser
from bench.inside import chaos_checks, chaos_slurm, shop
from bench.inside.chaos_people import ACCELERATOR, ON_CLUSTER, People, insist
from billing.models import ChainState
from core import clock, outbox
from core.models import Decision
from fleet.lifecycle import OVER_STATES
from fleet.models import Lease, SimulatedFault
from fleet.services.sweep import due_leases
from orders.models import Order

FOLDER = Path(os.environ["CHAOS_FOLDER"])
# Orders between two skips: at least so many, more in a long run, which has about so many skips.
ORDERS_PER_STEP, STEPS = 6, 40
# A cluster of four whole nodes is sold out at most times: with short skips nothing would happen at most of them.
SKIP_MINUTES = (60, 2400) if ON_CLUSTER else (20, 600)
# The worker, which may just be starting again, gets so long for what a skip made due. Then the clock goes on.
# True logins, jobs and daemons that are started again take longer than a simulated engine.
STEP_SECONDS = 120.0 if ON_CLUSTER else 40.0
# At some skips it gets no time at all: then deliveries are late, reminders come at once, ends are passed.
IMPATIENT_SHARE = 0.15
# The promise: everything is in order again so long after the last fault, on the system's clock.
RECONCILED_WITHIN_SECONDS = 120.0
TAIL_SKIP = timedelta(days=3)
POLL_SECONDS = 0.3


def main() -> int:
    asked = parser().parse_args()
    app.loader.import_default_modules()
    people = People(chance=random.Random(asked.seed))  # noqa: S311  # a course to repeat, no secret
    _open_shop(asked.leases)
    begun, began_at = time.monotonic(), clock.now()
    (FOLDER / "faults").touch()
    _enter("faults")
    breaches = _storm(people, asked.leases)
    (FOLDER / "faults").unlink()
    _enter("calm")
    seconds = _reconcile()
    running = insist(lambda: Lease.objects.exclude(status__in=OVER_STATES).count())
    breaches += _open_ends()
    _run_out(people)
    _reconcile()
    breaches += _open_ends()
    breaches += [f"lease {pk} never ended" for pk in _not_over()]
    facts = {
        "leases": Lease.objects.count(),
        "orders": Order.objects.count(),
        "product_days": (clock.now() - began_at).days,
        "seconds": round(time.monotonic() - begun),
        "faults": SimulatedFault.objects.count(),
        "calls": (FOLDER / "calls").stat().st_size,
        "reconciled_seconds": round(seconds),
        "running_then": running,
        "ends": _ends(),
        "refusals": dict(Counter(people.heard)),
        "decisions": dict(Counter(Decision.objects.values_list("kind", flat=True))),
        "breaches": sorted(set(breaches)),
    }
    (FOLDER / "result.json").write_text(json.dumps(facts), encoding="utf-8")
    return 0


def _open_shop(leases: int) -> None:
    """Cards for what runs at one time. The chain is read by nobody: its watcher pauses, buyers bring its facts."""
    nodes = 0 if ON_CLUSTER else max(10, leases // 6)
    shop.open_shop(nodes=nodes, addresses=leases * 2 + 50, accelerator=ACCELERATOR)
    if ON_CLUSTER:
        chaos_slurm.join_fleet(ACCELERATOR)
    ChainState.objects.update(next_at=clock.system_now() + timedelta(days=1))


def _storm(people: People, leases: int) -> list[str]:
    """Orders, skips of the clock and whatever the stand outside kills, until there are so many leases."""
    breaches: list[str] = []
    each = max(ORDERS_PER_STEP, leases // STEPS)
    while insist(Lease.objects.count) < leases:
        for _order in range(people.chance.randint(1, 2 * each - 1)):
            if people.order() is None:
                break
        people.live_on()
        people.answer()
        if people.chance.random() >= IMPATIENT_SHARE:
            _wait(_is_quiet, seconds=STEP_SECONDS)
        breaches += insist(chaos_checks.wrong_now)
        _skip(timedelta(minutes=people.chance.randint(*SKIP_MINUTES)))
    return breaches


def _is_quiet() -> bool:
    """Nothing is due that the worker does not have to wait for."""
    return insist(
        lambda: (
            not due_leases()
            and not outbox.due_ids(1)
            and not (ON_CLUSTER and chaos_slurm.under_way(clock.system_now()))
        )
    )


def _reconcile() -> float:
    """Seconds until all was in order, at most those that are promised."""
    begin = time.monotonic()
    _wait(lambda: not insist(chaos_checks.unsettled), seconds=RECONCILED_WITHIN_SECONDS)
    return time.monotonic() - begin


def _open_ends() -> list[str]:
    return [*insist(chaos_checks.wrong_now), *insist(chaos_checks.unsettled)]


def _run_out(people: People) -> None:
    """The rest of all terms, as fast as the worker follows."""
    for _skip_number in range(60):
        if not _not_over():
            return
        people.answer()
        _skip(TAIL_SKIP)
        _wait(_is_quiet, seconds=STEP_SECONDS)


def _not_over() -> list[int]:
    return insist(lambda: list(Lease.objects.exclude(status__in=OVER_STATES).values_list("pk", flat=True)))


def _ends() -> str:
    """How the leases ended."""
    ends = Counter(
        f"{status} ({reason})" for status, reason in Lease.objects.values_list("status", "end_reason")
    )
    return ", ".join(f"{count} {end}" for end, count in ends.most_common())


def _skip(delta: timedelta) -> None:
    goal = insist(clock.offset) + delta

    def move() -> None:
        # An answer that was lost with the database: the clock has moved already.
        missing = goal - clock.offset()
        if missing > timedelta(0):
            clock.skip(missing)

    insist(move)


def _wait(is_done: Callable[[], bool], *, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if is_done():
            return
        time.sleep(POLL_SECONDS)


def _enter(phase: str) -> None:
    """Tell the stand outside; a half-written word must not be read."""
    half = FOLDER / "phase.new"
    half.write_text(phase, encoding="ascii")
    half.replace(FOLDER / "phase")


if __name__ == "__main__":
    sys.exit(main())
