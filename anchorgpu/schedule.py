"""When the sweeps run. A sweep finds due work by a query, so that a lost or late hint costs seconds only."""

from datetime import timedelta
from typing import Any

SECOND, MINUTE, DAY = 1.0, 60.0, 86400.0


def _seconds(*, demo: bool) -> dict[str, float]:
    """In the demo chain and wallet are local and somebody watches: shorter rounds."""
    seconds: dict[str, float] = {
        "core.sweep_outbox": 2 * SECOND,
        "core.sweep_mail": 2 * SECOND,
        "core.sweep_logins": MINUTE,
        "core.sweep_late_sweeps": 30 * SECOND,
        "billing.sweep_networks": 2 * SECOND if demo else 5 * SECOND,
        "billing.fill_pool": 10 * SECOND,
        "billing.sweep_lost_orders": 10 * SECOND if demo else MINUTE,
        "billing.sweep_missing_networks": MINUTE,
        "billing.sweep_prices": MINUTE,
        "billing.sweep_refunds": 2 * SECOND if demo else 10 * SECOND,
        "billing.sweep_offers": 5 * SECOND if demo else MINUTE,
        "billing.sweep_revenue": 10 * SECOND if demo else 10 * MINUTE,
        "billing.sweep_card_events": 5 * SECOND,
        "billing.sweep_card_sessions": 2 * SECOND if demo else 5 * SECOND,
        "billing.sweep_card_refunds": 10 * SECOND,
        "fleet.sweep_leases": 2 * SECOND,
        "fleet.sweep_holds": 10 * SECOND,
        "fleet.sweep_health": 5 * SECOND if demo else MINUTE,
        "fleet.sweep_machines": MINUTE,
        "fleet.sweep_reminders": 10 * SECOND,
        "orders.sweep_quotes": 30 * SECOND,
        "orders.sweep_searches": 30 * SECOND,
        "billing.sweep_invoices": 10 * SECOND,
        "partners.sweep_webhooks": 2 * SECOND,
        "partners.sweep_answers": 10 * MINUTE,
        "anchorgpu.clear_sessions": DAY,
    }
    if demo:
        seconds["billing.sweep_demo_transfers"] = 5 * SECOND
        seconds["billing.sweep_demo_cards"] = 2 * SECOND
    return seconds


def beat_schedule(*, demo: bool) -> dict[str, dict[str, Any]]:
    """Task name -> entry."""
    return {task: _entry(task, every) for task, every in _seconds(demo=demo).items()}


def sweep_intervals(*, demo: bool) -> dict[str, float]:
    """Name of a sweep -> seconds between two rounds: its task is named `app.sweep_<name>` or `app.fill_<name>`."""
    found = {}
    for task, every in _seconds(demo=demo).items():
        verb, _under, name = task.partition(".")[2].partition("_")
        if verb in {"sweep", "fill"}:
            found[name] = every
    return found


def _entry(task: str, every: float) -> dict[str, Any]:
    """Worth nothing once the next one is due: a worker that was stopped finds one, not thousands."""
    return {"task": task, "schedule": timedelta(seconds=every), "options": {"expires": max(every, 2.0)}}
