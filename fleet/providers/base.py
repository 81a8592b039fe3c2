"""What an engine that runs machines must do for us; every verb may be repeated, the lease id is its key.

Any engine fits behind it, since the conformance suite (tests/contract) holds each to the same behaviour.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


class ProviderError(Exception):
    """The engine did not do what it was asked; `reason` is for staff."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class ProviderRefused(ProviderError):
    """The engine answered no."""


class UnknownLease(ProviderRefused):
    """The engine has no machine for this lease. For `end` and `wipe` that is a confirmation."""


class ProviderUnavailable(ProviderError):
    """No answer that can be relied on: the verb may or may not have taken effect."""


class NotYet(ProviderUnavailable):
    """The engine is at it and has a limit of its own: asked again in a moment, it counts as no failure."""


class NodeAway(ProviderUnavailable):
    """The engine answers and says that a node of this lease does not: other nodes may still do it."""


@dataclass(frozen=True, order=True)
class CardSpec:
    """One card as ordered. `model` is our accelerator slug, never a display text."""

    node: str
    index: int
    serial: str
    model: str


@dataclass(frozen=True)
class LeaseSpec:
    """What the engine is asked to set apart; the period is the time in which the cards are ours, wipe included."""

    lease_id: int
    username: str
    cards: tuple[CardSpec, ...]
    image: str
    starts_at: datetime
    ends_at: datetime


@dataclass(frozen=True, order=True)
class ObservedCard:
    """One card as the machine reports it."""

    node: str
    index: int
    serial: str
    model: str
    healthy: bool


@dataclass(frozen=True)
class Observation:
    """The engine's own record of a lease.

    `living`: the machine exists and has not been wiped; `running`: nor has it been ended.
    """

    state: str
    living: bool
    running: bool
    cards: tuple[ObservedCard, ...]
    members: tuple[str, ...]
    starts_at: datetime
    ends_at: datetime


@dataclass(frozen=True)
class Health:
    """One lease at this moment: what the engine has on record, and what its machine sees of its cards.

    `cards` holds what answers; a card of a node that is away is not among them.
    """

    record: Observation
    cards: tuple[ObservedCard, ...]


@dataclass(frozen=True)
class Login:
    """Where the buyer logs in and how that host proves itself; `inside` is how we reach it ourselves."""

    host: str
    port: int
    user: str
    host_key: str
    fingerprint: str
    inside: tuple[str, int]

    @property
    def known_hosts_line(self) -> str:
        name = self.host if self.port == 22 else f"[{self.host}]:{self.port}"
        return f"{name} {self.host_key}"


@dataclass(frozen=True)
class WipeReport:
    """What the engine confirms about a wipe."""

    cards: tuple[str, ...]
    method: str


class Provider(Protocol):
    """The verbs. Each raises ProviderRefused or ProviderUnavailable; none is called inside a transaction.

    A caller that got no answer does not know whether the verb took effect: it repeats it, or asks `observe`.
    """

    def reserve(self, spec: LeaseSpec) -> Observation:
        """Set exactly these cards apart. A repeat with the same cards answers what is there."""

    def prepare(self, lease_id: int) -> None:
        """Bring the machine up with its image."""

    def verify(self, lease_id: int) -> tuple[ObservedCard, ...]:
        """The cards as the machine itself sees them now."""

    def open_access(self, lease_id: int, members: tuple[str, ...]) -> None:
        """Let the members (key fingerprints) in."""

    def members(self, lease_id: int, members: tuple[str, ...]) -> None:
        """Replace the members."""

    def admit_test(self, lease_id: int, key_line: str) -> None:
        """Let the key of the acceptance test in beside the members; an empty line takes it away."""

    def login(self, lease_id: int, username: str) -> Login:
        """Where a lease is logged into. No machine is asked: pages call this."""

    def extend(self, lease_id: int, ends_at: datetime) -> None:
        """Move the end of the reserved period. Refused over a follower."""

    def end(self, lease_id: int) -> None:
        """Close access and stop the machine."""

    def wipe(self, lease_id: int) -> WipeReport:
        """Erase an ended machine and give its cards back. Refused while it runs."""

    def observe(self, lease_id: int) -> Observation | None:
        """What the engine knows of this lease, or None."""

    def living(self) -> tuple[int, ...]:
        """Lease ids of all machines that exist: what a reconcile pass compares with our leases."""

    def health(self, lease_ids: tuple[int, ...]) -> dict[int, Health]:
        """Many leases in one call; one that the engine does not have, or has wiped, is not in the answer."""

    def nodes_away(self) -> tuple[str, ...]:
        """Names of the nodes that do not answer the engine now."""


def model_identifier(text: str) -> str:
    """A model as an identifier: letter case and runs of blanks, dashes and underscores do not matter."""
    return re.sub(r"[\s_-]+", "-", text.strip().casefold())


def differences(ordered: Iterable[CardSpec], found: Iterable[ObservedCard]) -> list[dict[str, object]]:
    """What is wrong with a delivery, card by card; empty where it is exactly what was ordered."""
    by_place = {(card.node, card.index): card for card in found}
    wrong: list[dict[str, object]] = []
    for card in sorted(ordered):
        seen = by_place.pop((card.node, card.index), None)
        problem = _problem(card, seen)
        if problem:
            wrong.append(
                {
                    "serial": card.serial,
                    "problem": problem,
                    "expected": {"node": card.node, "index": card.index, "model": card.model},
                    "found": None if seen is None else {"serial": seen.serial, "model": seen.model},
                }
            )
    wrong.extend(
        {
            "serial": extra.serial,
            "problem": "not_ordered",
            "expected": None,
            "found": {"node": extra.node, "index": extra.index, "model": extra.model},
        }
        for extra in sorted(by_place.values())
    )
    return wrong


def _problem(card: CardSpec, seen: ObservedCard | None) -> str:
    if seen is None:
        return "missing"
    if model_identifier(seen.model) != model_identifier(card.model):
        return "other_model"
    if seen.serial != card.serial:
        return "other_card"
    return "" if seen.healthy else "unhealthy"
