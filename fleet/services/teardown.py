"""Steps of the worker that take a machine down and give its cards back once the provider has confirmed it."""

from collections.abc import Callable

from django.db.backends.postgresql.psycopg_any import DateTimeTZRange

from core import clock, decisions
from fleet import locks
from fleet.lifecycle import LEASE, LeaseStatus, ReservationStatus, advance_reservations
from fleet.models import Lease, Reservation
from fleet.providers import get_provider
from fleet.providers.base import Provider, UnknownLease, WipeReport

Apply = Callable[[Lease], None]

# What is no longer a question once the cards are back.
_SETTLED_BY_WIPE = (
    "lease_failing",
    "lease_late",
    "end_failing",
    "wipe_failed",
    "lease_degraded",
    "access_sync_failing",
    "machine_missing",
    "machine_differs",
)


_STEP_FIELDS = ["attempts", "last_error", "next_at"]
_WIPE_FIELDS = ["wiped_at", "wipe_record"]


def take_down(provider: Provider, lease_id: int) -> WipeReport:
    """End and wipe; what the engine does not know (any more) counts as confirmed. Raises ProviderError."""
    try:
        provider.end(lease_id)
        return provider.wipe(lease_id)
    except UnknownLease:
        return WipeReport(cards=(), method="nothing_there")


def end_machine(lease: Lease) -> Apply:
    """ending -> wiping."""
    try:
        get_provider().end(lease.pk)
    except UnknownLease:
        pass

    def apply(locked: Lease) -> None:
        _fresh_step(locked)
        LEASE.advance(locked, LeaseStatus.WIPING, order_ref=locked.order_ref, also=_STEP_FIELDS)

    return apply


def wipe_machine(lease: Lease) -> Apply:
    """wiping -> closed. `end` comes first once more: a late success may have made a machine since."""
    report = take_down(get_provider(), lease.pk)

    def apply(locked: Lease) -> None:
        _fresh_step(locked)
        _record_wipe(locked, report)
        give_back_cards(locked)
        LEASE.advance(
            locked, LeaseStatus.CLOSED, order_ref=locked.order_ref, also=[*_STEP_FIELDS, *_WIPE_FIELDS]
        )
        _settle_decisions(locked)

    return apply


def clear_failed(lease: Lease) -> Apply:
    """A failed lease stays failed; its machine goes and its cards come back."""
    report = take_down(get_provider(), lease.pk)

    def apply(locked: Lease) -> None:
        _fresh_step(locked)
        _record_wipe(locked, report)
        give_back_cards(locked)
        locked.save(update_fields=[*_STEP_FIELDS, *_WIPE_FIELDS])
        _settle_decisions(locked)

    return apply


def leave_cards(lease: Lease) -> Apply:
    """reserved, after a move: the old machine goes, then the cards that were left come back on sale."""
    take_down(get_provider(), lease.pk)

    def apply(locked: Lease) -> None:
        _fresh_step(locked)
        locked.save(update_fields=_STEP_FIELDS)
        rows = [row for row in locks.reservations_for_update(locked.hold) if row.left_at is not None]
        _cut_and_release(rows)

    return apply


def give_back_cards(lease: Lease) -> None:
    """Cut the reservations of a locked lease to this moment and release them: the cards are on sale again."""
    _cut_and_release(locks.reservations_for_update(lease.hold))


def has_left_cards(lease: Lease) -> bool:
    """Whether cards of an earlier placement still wait for their wipe."""
    return (
        Reservation.objects.filter(hold_id=lease.hold_id, left_at__isnull=False)
        .exclude(status=ReservationStatus.RELEASED)
        .exists()
    )


def take_down_late_success(lease_id: int) -> None:
    """Undo at the provider what a late success made for a lease that is over. Raises ProviderError."""
    take_down(get_provider(), lease_id)


def _fresh_step(lease: Lease) -> None:
    lease.attempts = 0
    lease.last_error = ""
    lease.next_at = clock.system_now()


def _record_wipe(lease: Lease, report: WipeReport) -> None:
    lease.wiped_at = clock.now()
    lease.wipe_record = {
        "at": lease.wiped_at.isoformat(),
        "cards": list(report.cards),
        "method": report.method,
    }


def _cut_and_release(rows: list[Reservation]) -> None:
    moment = clock.now()
    for row in rows:
        if row.period.lower < moment < row.period.upper:
            row.period = DateTimeTZRange(row.period.lower, moment, "[)")
            row.save(update_fields=["period"])
    advance_reservations(rows, ReservationStatus.RELEASED)


def _settle_decisions(lease: Lease) -> None:
    for kind in _SETTLED_BY_WIPE:
        decisions.close_open(
            kind=kind, subject=f"lease:{lease.pk}", reason="The cards were wiped and given back."
        )
