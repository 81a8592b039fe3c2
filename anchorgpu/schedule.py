"""When the sweeps run. A sweep finds due work by a query, so that a lost or late hint costs seconds only."""

from datetime import timedelta
from typing import Any

SECOND, MINUTE, DAY = 1.0, 60.0, 86400.0


def beat_schedule(*, demo: bool) -> dict[str, dict[str, Any]]:
    """Task name -> entry. In the demo chain and wallet are local and somebody watches: shorter rounds."""
    seconds = {
        "core.sweep_outbox": 2 * SECOND,
        "core.sweep_mail": 2 * SECOND,
        "core.sweep_logins": MINUTE,
        "billing.sweep_networks": 2 * SECOND if demo else 5 * SECOND,
        "billing.fill_pool": 10 * SECOND,
        "billing.sweep_missing_networks": MINUTE,
        "fleet.sweep_leases": 2 * SECOND,
        "fleet.sweep_holds": 10 * SECOND,
        "fleet.sweep_machines": MINUTE,
        "orders.sweep_quotes": 30 * SECOND,
        "anchorgpu.clear_sessions": DAY,
    }
    if demo:
        seconds["billing.sweep_demo_transfers"] = 5 * SECOND
    return {task: _entry(task, every) for task, every in seconds.items()}


def _entry(task: str, every: float) -> dict[str, Any]:
    """Worth nothing once the next one is due: a worker that was stopped finds one, not thousands."""
    return {"task": task, "schedule": timedelta(seconds=every), "options": {"expires": max(every, 2.0)}}
