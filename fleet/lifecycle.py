"""States of reservations and leases and the steps between them (docs/lifecycle.md)."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from django.db import models

from core.lifecycle import IllegalStep, Lifecycle, table
from core.locks import is_locked

if TYPE_CHECKING:
    from fleet.models import Reservation


class ReservationStatus(models.TextChoices):
    HELD = "held"
    COMMITTED = "committed"
    RELEASED = "released"


class LeaseStatus(models.TextChoices):
    RESERVED = "reserved"
    PREPARING = "preparing"
    TESTING = "testing"
    READY = "ready"
    DEGRADED = "degraded"
    SUSPENDED = "suspended"
    ENDING = "ending"
    WIPING = "wiping"
    CLOSED = "closed"
    FAILED = "failed"


RESERVATION_ALLOWED = table(
    held=[ReservationStatus.COMMITTED, ReservationStatus.RELEASED],
    committed=[ReservationStatus.RELEASED],
    released=[],
)

LEASE = Lifecycle(
    kind="lease",
    allowed=table(
        reserved=[LeaseStatus.PREPARING, LeaseStatus.SUSPENDED, LeaseStatus.ENDING, LeaseStatus.FAILED],
        # Back to reserved: other cards were taken, the preparation starts anew on them.
        preparing=[
            LeaseStatus.RESERVED,
            LeaseStatus.TESTING,
            LeaseStatus.SUSPENDED,
            LeaseStatus.ENDING,
            LeaseStatus.FAILED,
        ],
        testing=[
            LeaseStatus.RESERVED,
            LeaseStatus.READY,
            LeaseStatus.SUSPENDED,
            LeaseStatus.ENDING,
            LeaseStatus.FAILED,
        ],
        ready=[LeaseStatus.DEGRADED, LeaseStatus.SUSPENDED, LeaseStatus.ENDING],
        degraded=[LeaseStatus.READY, LeaseStatus.SUSPENDED, LeaseStatus.ENDING],
        # Back to ready where access had opened, to reserved where it never did.
        suspended=[LeaseStatus.READY, LeaseStatus.RESERVED, LeaseStatus.ENDING],
        ending=[LeaseStatus.WIPING],
        wiping=[LeaseStatus.CLOSED],
        # A failed lease still gives its machine back: what the engine made is ended and wiped under it.
        failed=[],
        closed=[],
    ),
    names={
        ("degraded", "ready"): "lease.repaired",
        ("suspended", "ready"): "lease.resumed",
        ("suspended", "reserved"): "lease.resumed",
    },
)

# States in which the buyer's keys open the gateway.
OPEN_STATES = frozenset({LeaseStatus.READY, LeaseStatus.DEGRADED})
# States in which a step of preparation is due.
PREPARATION_STATES = frozenset({LeaseStatus.RESERVED, LeaseStatus.PREPARING, LeaseStatus.TESTING})
TEARDOWN_STATES = frozenset({LeaseStatus.ENDING, LeaseStatus.WIPING})
OVER_STATES = frozenset({LeaseStatus.CLOSED, LeaseStatus.FAILED})


def advance_reservations(rows: Iterable["Reservation"], to: str) -> None:
    """Move locked reservations of one hold together, in one statement. They emit no event. Raises IllegalStep."""
    moved = list(rows)
    for row in moved:
        if not is_locked(row):
            raise RuntimeError("A reservation must be locked before its state changes.")
        if to not in RESERVATION_ALLOWED[row.status]:
            raise IllegalStep(f"reservation {row.pk}: {row.status} -> {to}")
    for row in moved:
        row.status = to
    if moved:
        type(moved[0])._default_manager.filter(pk__in=[row.pk for row in moved]).update(status=to)
