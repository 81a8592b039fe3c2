"""Look at all open leases: what each has is compared with what it should have, and what is missing goes on record.

From..to are the moments of the looks that found it and no longer found it: at most one interval of the sweep late at
both ends. The engine is asked outside any transaction; a finding counts only where the lease has not changed since.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any

import structlog
from django.db import transaction

from core import clock, decisions
from core.models import Decision
from fleet.lifecycle import OPEN_STATES, LeaseStatus, ReservationStatus
from fleet.models import AccessKey, Card, Lease, Node, Outage, Reservation
from fleet.providers import get_provider
from fleet.providers.base import CardSpec, Health, Provider, ProviderError, differences
from fleet.services import after_restore, silence
from fleet.services.degrade import Finding, Look, apply_look

log = structlog.get_logger(__name__)

# One call of a real controller lists its whole cluster; a hundred keep the answer small.
BATCH = 100


def watch_health() -> None:
    """One round over every open or suspended lease that is not moving. Safe to run twice and at once.

    Raises ProviderError where the engine does not answer, after noting it; a lease that breaks holds up no other.
    """
    looks = _watched()
    provider = get_provider()
    try:
        away = frozenset(provider.nodes_away())
        after_restore.look(provider, away=away)
        found = _ask(provider, [look.lease.pk for look in looks])
    except ProviderError as error:
        since = silence.note_silence(error.reason)
        if since is not None:
            _each(looks, lambda look: _unseen(look, since))
        raise
    silence.note_answer()
    mark_nodes(away)
    asked = _open_questions()
    _each(looks, lambda look: _compare(look, found.get(look.lease.pk), away=away, asked=asked))


def _watched() -> list[Look]:
    leases = list(
        Lease.objects.filter(
            status__in=[*OPEN_STATES, LeaseStatus.SUSPENDED],
            moving_at=None,
            ready_at__isnull=False,
            ends_at__gt=clock.now(),
        ).select_related("hold__lot__accelerator")
    )
    cards: dict[int, list[Card]] = defaultdict(list)
    rows = Reservation.objects.filter(
        hold_id__in=[lease.hold_id for lease in leases], left_at=None, status=ReservationStatus.COMMITTED
    )
    for row in rows.select_related("card__node").order_by("card__node__name", "card__index"):
        cards[row.hold_id].append(row.card)
    members: dict[int, list[str]] = defaultdict(list)
    keys = AccessKey.objects.filter(lease__in=leases, purpose=AccessKey.Purpose.BUYER, removed_at=None)
    for lease_id, fingerprint in keys.values_list("lease_id", "fingerprint"):
        members[lease_id].append(fingerprint)
    return [
        Look(lease=lease, cards=tuple(cards[lease.hold_id]), members=tuple(sorted(members[lease.pk])))
        for lease in leases
    ]


def _ask(provider: Provider, lease_ids: Sequence[int]) -> dict[int, Health]:
    found: dict[int, Health] = {}
    for first in range(0, len(lease_ids), BATCH):
        found |= provider.health(tuple(lease_ids[first : first + BATCH]))
    return found


def _each(looks: Iterable[Look], act: Callable[[Look], object]) -> None:
    for look in looks:
        try:
            act(look)
        except Exception:
            log.exception("lease_look_failed", lease=look.lease.pk)


def _unseen(look: Look, since: datetime) -> None:
    """The engine has been silent for so long that nobody can vouch for these cards."""
    apply_look(look, findings=_all_cards(look, "engine_silent"), since=since)


def _compare(look: Look, health: Health | None, *, away: frozenset[str], asked: set[str]) -> None:
    findings = _findings(look, health, away)
    problems = record_problems(look, health)
    sound = look.lease.status != LeaseStatus.DEGRADED and not findings and not problems
    # Nothing to write: no lock is taken for the many that are well.
    if sound and f"lease:{look.lease.pk}" not in asked:
        return
    apply_look(look, findings=findings, problems=problems)


def _findings(look: Look, health: Health | None, away: frozenset[str]) -> list[Finding]:
    if health is None or not health.record.running:
        return _all_cards(look, "machine_missing")
    # A node that went away takes all its cards with it, however many still answered a moment ago.
    gone = [_finding(card, Outage.Cause.NODE, "node_away") for card in look.cards if card.node.name in away]
    rest = [card for card in look.cards if card.node.name not in away]
    model = look.lease.hold.lot.accelerator.slug
    ordered = [CardSpec(card.node.name, card.index, card.serial, model) for card in rest]
    by_serial = {card.serial: card for card in rest}
    wrong = differences(ordered, [card for card in health.cards if card.node not in away])
    return gone + [
        _finding(by_serial[str(entry["serial"])], Outage.Cause.CARD, str(entry["problem"]))
        for entry in wrong
        if str(entry["serial"]) in by_serial and entry["expected"] is not None
    ]


def _all_cards(look: Look, problem: str) -> list[Finding]:
    return [_finding(card, Outage.Cause.NODE, problem) for card in look.cards]


def _finding(card: Card, cause: str, problem: str) -> Finding:
    return Finding(
        card_id=card.pk, serial=card.serial, node=card.node.name, cause=str(cause), problem=problem
    )


def record_problems(look: Look, health: Health | None) -> list[dict[str, Any]]:
    """Where the engine's record of a lease is not ours; empty where both say the same."""
    lease = look.lease
    if health is None or not health.record.running:
        return [{"problem": "missing"}]
    problems: list[dict[str, Any]] = []
    ours = sorted(f"{card.node.name}/{card.index}" for card in look.cards)
    theirs = sorted(f"{card.node}/{card.index}" for card in health.record.cards)
    if ours != theirs:
        problems.append({"problem": "cards", "expected": ours, "found": theirs})
    wanted = [] if lease.status == LeaseStatus.SUSPENDED else sorted(look.members)
    # A change that the engine has not been told yet is no difference.
    if lease.applied_version == lease.wanted_version and wanted != sorted(health.record.members):
        problems.append({"problem": "members", "expected": wanted, "found": sorted(health.record.members)})
    if lease.ends_at is not None and health.record.ends_at < lease.ends_at:
        problems.append(
            {
                "problem": "end",
                "expected": lease.ends_at.isoformat(),
                "found": health.record.ends_at.isoformat(),
            }
        )
    return problems


def _open_questions() -> set[str]:
    """Subjects whose answer may be that all is well now."""
    kinds = ("machine_missing", "machine_differs")
    return set(Decision.objects.filter(kind__in=kinds, closed_at=None).values_list("subject", flat=True))


def mark_nodes(away: frozenset[str]) -> None:
    """Nothing new is placed on a node while it does not answer."""
    for node in Node.objects.filter(name__in=away, healthy=True):
        with transaction.atomic():
            Node.objects.filter(pk=node.pk).update(healthy=False)
            decisions.open_decision(kind="node_away", subject=f"node:{node.name}", facts={"node": node.name})
    for node in Node.objects.filter(healthy=False).exclude(name__in=away):
        with transaction.atomic():
            Node.objects.filter(pk=node.pk).update(healthy=True)
            decisions.close_open(
                kind="node_away", subject=f"node:{node.name}", reason="The node answers again."
            )
