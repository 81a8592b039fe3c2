"""The acceptance test found something else than was ordered: off sale, staff told, other cards if there are some."""

from datetime import timedelta
from typing import Any

from core import clock, decisions
from fleet import locks
from fleet.models import Card, Lease
from fleet.services.moving import begin_moving
from fleet.services.pauses import pause_seconds
from fleet.services.take_other_cards import move_to_other_cards


def handle_mismatch(lease: Lease, *, wrong: list[dict[str, Any]], report: dict[str, Any]) -> None:
    """Write the finding on a locked lease. Nothing is promised to the buyer and no term starts.

    Locks all cards of the accelerator by key, then reservations. Where no other cards are free the test is repeated
    with growing pauses, until staff or the lateness rule settle it.
    """
    lease.test_report = report
    lease.attempts += 1
    lease.last_error = "; ".join(f"{entry['serial']}: {entry['problem']}" for entry in wrong)[:2000]
    lease.next_at = clock.system_now() + timedelta(seconds=pause_seconds(lease.attempts))
    lease.save(update_fields=["test_report", "attempts", "last_error", "next_at"])
    candidates = locks.candidate_cards_for_update(accelerator_id=lease.hold.lot.accelerator_id)
    _take_off_sale(lease, wrong)
    decisions.open_decision(
        kind="delivery_mismatch",
        subject=f"lease:{lease.pk}",
        order_ref=lease.order_ref,
        facts={"expected": report["expected"], "found": report["found"], "differences": wrong},
    )
    if move_to_other_cards(lease, candidates=candidates, why="mismatch") and lease.moving_at is not None:
        begin_moving(lease)


def _take_off_sale(lease: Lease, wrong: list[dict[str, Any]]) -> None:
    serials = {str(entry["serial"]) for entry in wrong}
    serials |= {
        str(entry["found"]["serial"]) for entry in wrong if entry["found"] and "serial" in entry["found"]
    }
    for card in Card.objects.filter(serial__in=serials, in_service=True):
        problem = next((str(e["problem"]) for e in wrong if e["serial"] == card.serial), "found in its place")
        Card.objects.filter(pk=card.pk).update(
            in_service=False, note=f"Acceptance test of {lease.username}: {problem}"[:200]
        )
