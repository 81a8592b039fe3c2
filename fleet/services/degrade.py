"""What one look at an open lease means: ready or degraded, outages from..to, cards off sale, staff asked."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from core import clock, decisions, outbox
from fleet import locks, selectors
from fleet.lifecycle import LEASE, OPEN_STATES, LeaseStatus
from fleet.models import Card, Lease, Outage
from fleet.services.outages import begin_outage, end_outages, open_outages

# Problems of the engine's record that telling it again sets right (fleet.services.sync).
_TOLD_AGAIN = frozenset({"members", "end"})
# What is no longer a question once all cards are there.
_SETTLED_BY_REPAIR = ("lease_degraded", "machine_missing", "lease_failing")


@dataclass(frozen=True)
class Look:
    """A lease with its cards and members as they were before the engine was asked."""

    lease: Lease
    cards: tuple[Card, ...]
    members: tuple[str, ...]


@dataclass(frozen=True)
class Finding:
    """One card that is not there as it should be."""

    card_id: int
    serial: str
    node: str
    cause: str
    problem: str

    def facts(self) -> dict[str, str]:
        return {"serial": self.serial, "node": self.node, "problem": self.problem}


def apply_look(
    look: Look,
    *,
    findings: Sequence[Finding],
    problems: Sequence[dict[str, Any]] | None = None,
    since: datetime | None = None,
) -> bool:
    """Write what a look found; False where the lease has changed since, and the next look will tell.

    `problems` None: nothing was learnt of the engine's record. `since` dates an outage back to the first look that
    found it. Locks the lease, then its cards by key. Repeating changes nothing.
    """
    with transaction.atomic():
        lease = locks.lease_for_update(look.lease.pk)
        if not _unchanged(lease, look):
            return False
        if problems is not None:
            _judge_record(lease, problems)
        # While the money is gone nothing is owed: a suspended lease has no outages.
        if lease.status in OPEN_STATES:
            _judge_cards(lease, findings, since=since)
        return True


def repaired(lease: Lease, *, moved: bool, also: Collection[str] = ()) -> None:
    """degraded -> ready for a locked lease: all its outages are over."""
    end_outages(lease, at=clock.now())
    LEASE.advance(
        lease,
        LeaseStatus.READY,
        order_ref=lease.order_ref,
        payload={"moved": moved, "since": lease.degraded_at.isoformat() if lease.degraded_at else ""},
        # The moment of the first opening is a fact and stays.
        at=lease.ready_at,
        also=also,
    )
    for kind in _SETTLED_BY_REPAIR:
        decisions.close_open(kind=kind, subject=f"lease:{lease.pk}", reason="All cards are there again.")


def _unchanged(lease: Lease, look: Look) -> bool:
    seen = look.lease
    same = (
        lease.status == seen.status
        and lease.moving_at is None
        and lease.wanted_version == seen.wanted_version
        and lease.applied_version == seen.applied_version
        and lease.ends_at is not None
        and clock.now() < lease.ends_at
    )
    return same and {card.pk for card in look.cards} == {
        row.card_id for row in selectors.current_reservations(lease.hold_id)
    }


def _judge_cards(lease: Lease, findings: Sequence[Finding], *, since: datetime | None) -> None:
    moment = clock.now()
    began = moment if since is None or lease.ready_at is None else max(since, lease.ready_at)
    open_now = open_outages(lease)
    affected = {finding.card_id: finding for finding in findings}
    locks.cards_for_update({*affected, *open_now})
    back = [
        card_id
        for card_id, row in open_now.items()
        if card_id not in affected or affected[card_id].cause != row.cause
    ]
    end_outages(lease, at=moment, card_ids=back)
    # A card whose node went away, or of which nobody knows, was not found sound: only its outage is another one now.
    _on_sale(card_id for card_id in back if card_id not in affected)
    still = [card_id for card_id in open_now if card_id not in back]
    new = [
        finding
        for finding in findings
        if begin_outage(
            lease,
            card_id=finding.card_id,
            cause=finding.cause,
            at=began,
            note=finding.problem,
            open_now=still,
        )
    ]
    for finding in new:
        if finding.cause == Outage.Cause.CARD:
            _off_sale(lease, finding)
    if lease.status == LeaseStatus.READY and findings:
        LEASE.advance(
            lease,
            LeaseStatus.DEGRADED,
            order_ref=lease.order_ref,
            payload={
                "cards": [finding.facts() for finding in findings],
                "since": began.isoformat(),
                "ends_at": lease.ends_at.isoformat() if lease.ends_at else "",
            },
        )
    elif lease.status == LeaseStatus.DEGRADED and not findings:
        repaired(lease, moved=False)
    if new:
        _ask_staff(lease, findings)


def _ask_staff(lease: Lease, findings: Sequence[Finding]) -> None:
    decisions.open_decision(
        kind="lease_degraded",
        subject=f"lease:{lease.pk}",
        order_ref=lease.order_ref,
        facts={
            "cards": [finding.facts() for finding in findings],
            "since": lease.degraded_at.isoformat() if lease.degraded_at else "",
            "ends_at": lease.ends_at.isoformat() if lease.ends_at else "",
        },
    )


def _off_sale(lease: Lease, finding: Finding) -> None:
    """It stays off sale until a look finds it sound in this lease, or a person has looked at it."""
    Card.objects.filter(pk=finding.card_id).update(healthy=False)
    decisions.open_decision(
        kind="card_unsound",
        subject=f"card:{finding.serial}",
        order_ref=lease.order_ref,
        facts=finding.facts() | {"lease": lease.username},
    )


def _on_sale(card_ids: Iterable[int]) -> None:
    for card in Card.objects.filter(pk__in=list(card_ids), healthy=False):
        Card.objects.filter(pk=card.pk).update(healthy=True)
        decisions.close_open(
            kind="card_unsound", subject=f"card:{card.serial}", reason="The card is sound again."
        )


def _judge_record(lease: Lease, problems: Sequence[dict[str, Any]]) -> None:
    """The engine has no machine for this lease, or has something else on record than we have."""
    missing = [entry for entry in problems if entry["problem"] == "missing"]
    differs = [entry for entry in problems if entry["problem"] != "missing"]
    for kind, found in (("machine_missing", missing), ("machine_differs", differs)):
        if found:
            decisions.open_decision(
                kind=kind,
                subject=f"lease:{lease.pk}",
                order_ref=lease.order_ref,
                facts={"differences": found},
            )
        else:
            decisions.close_open(
                kind=kind, subject=f"lease:{lease.pk}", reason="The provider has what we have."
            )
    if any(entry["problem"] in _TOLD_AGAIN for entry in differs):
        lease.wanted_version += 1
        lease.next_at = clock.system_now()
        lease.save(update_fields=["wanted_version", "next_at"])
        transaction.on_commit(lambda: outbox.hint("fleet.work_lease", lease.pk))
