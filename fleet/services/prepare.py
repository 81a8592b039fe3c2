"""Steps of the worker on the way to access: reserve, prepare, test, open.

Each does its provider I/O outside any transaction and returns what to write on the locked lease afterwards.
"""

from collections.abc import Callable
from datetime import datetime

from core import clock
from fleet import selectors
from fleet.lifecycle import LEASE, LeaseStatus
from fleet.models import Lease
from fleet.periods import PREPARE_AHEAD
from fleet.providers import get_provider
from fleet.providers.base import CardSpec, LeaseSpec, ObservedCard, ProviderRefused, differences
from fleet.services.mismatch import handle_mismatch
from fleet.services.teardown import take_down
from fleet.services.try_login import try_login

Apply = Callable[[Lease], None]

STEP_FIELDS = ["attempts", "last_error", "next_at", "step_started_at"]


def may_begin(lease: Lease, moment: datetime) -> bool:
    """A chosen start is prepared half an hour ahead; any other at once."""
    return lease.hold.starts_at is None or moment >= lease.hold.starts_at - PREPARE_AHEAD


def start_reached(lease: Lease, moment: datetime) -> bool:
    return lease.hold.starts_at is None or moment >= lease.hold.starts_at


def fresh_step(lease: Lease) -> None:
    """A step succeeded: its failures are history."""
    lease.attempts = 0
    lease.last_error = ""
    lease.next_at = clock.system_now()
    lease.step_started_at = clock.system_now()


def lease_spec(lease: Lease) -> LeaseSpec:
    """What the engine is asked for: the cards that this lease has now, for the time in which they are ours."""
    rows = selectors.current_reservations(lease.hold_id)
    return LeaseSpec(
        lease_id=lease.pk,
        username=lease.username,
        cards=ordered_cards(lease),
        image=lease.image,
        starts_at=max(clock.now(), *(row.period.lower for row in rows)),
        ends_at=min(row.period.upper for row in rows),
    )


def ordered_cards(lease: Lease) -> tuple[CardSpec, ...]:
    """The cards of the lease with the model that was sold, whatever stands in the node now."""
    model = lease.hold.lot.accelerator.slug
    return tuple(
        CardSpec(node=card.node.name, index=card.index, serial=card.serial, model=model)
        for card in selectors.cards_of_hold(lease.hold_id)
    )


def reserve_cards(lease: Lease) -> None:
    """Have the engine set the cards of this lease apart; may be repeated. Raises ProviderError.

    What is granted must be what was asked: engines have granted less and said yes.
    """
    provider = get_provider()
    spec = lease_spec(lease)
    asked = {(card.node, card.index) for card in spec.cards}
    present = provider.observe(lease.pk)
    if present is not None and present.living and {(c.node, c.index) for c in present.cards} != asked:
        # A worker that was fenced off made it after the lease had moved.
        take_down(provider, lease.pk)
    granted = provider.reserve(spec)
    if {(card.node, card.index) for card in granted.cards} != asked:
        take_down(provider, lease.pk)
        raise ProviderRefused(f"Granted {len(granted.cards)} cards that are not the {len(asked)} asked for.")


def reserve(lease: Lease) -> Apply:
    """reserved -> preparing."""
    reserve_cards(lease)

    def apply(locked: Lease) -> None:
        fresh_step(locked)
        locked.test_report = {}
        LEASE.advance(
            locked, LeaseStatus.PREPARING, order_ref=locked.order_ref, also=[*STEP_FIELDS, "test_report"]
        )

    return apply


def prepare(lease: Lease) -> Apply:
    """preparing -> testing."""
    get_provider().prepare(lease.pk)

    def apply(locked: Lease) -> None:
        fresh_step(locked)
        LEASE.advance(locked, LeaseStatus.TESTING, order_ref=locked.order_ref, also=STEP_FIELDS)

    return apply


def test(lease: Lease) -> Apply:
    """The acceptance test: delivered equals ordered, and a login works. The state stays."""
    ordered = ordered_cards(lease)
    found = get_provider().verify(lease.pk)
    wrong = differences(ordered, found)
    report = _report(ordered, found, wrong)
    if wrong:
        return lambda locked: handle_mismatch(locked, wrong=wrong, report=report)
    report["login"] = try_login(lease, card_count=len(ordered))
    report["passed"] = True

    def apply(locked: Lease) -> None:
        fresh_step(locked)
        locked.test_report = report
        locked.save(update_fields=[*STEP_FIELDS, "test_report"])

    return apply


def _report(
    ordered: tuple[CardSpec, ...], found: tuple[ObservedCard, ...], wrong: list[dict[str, object]]
) -> dict[str, object]:
    return {
        "at": clock.now().isoformat(),
        "expected": [{"serial": card.serial, "model": card.model} for card in ordered],
        "found": [{"serial": c.serial, "model": c.model, "healthy": c.healthy} for c in found],
        "differences": wrong,
        "passed": False,
    }
