"""Faults that the simulated engine shows on purpose: for tests, and in the demo for whoever wants to watch.

Outside the demo no row counts (DEMO off): the engine then behaves as if there were none.
"""

import time
from collections.abc import Iterable
from dataclasses import replace

from django.conf import settings
from django.db.models import F, Q, QuerySet

from fleet.models import SimulatedFault
from fleet.providers.base import NodeAway, ObservedCard, ProviderRefused, ProviderUnavailable

Kind = SimulatedFault.Kind

VERBS = (
    "reserve",
    "prepare",
    "verify",
    "open_access",
    "members",
    "extend",
    "end",
    "wipe",
    "observe",
    "living",
    "health",
)
# What each kind can befall. A node that is away does not hinder what the engine does on its own books.
BEFALLS: dict[str, frozenset[str]] = {
    Kind.DELAY: frozenset(VERBS),
    Kind.REFUSE: frozenset(VERBS),
    Kind.TIME_OUT_AFTER: frozenset(VERBS),
    Kind.WRONG_MODEL: frozenset({"verify", "health"}),
    Kind.CARD_MISSING: frozenset({"verify", "health"}),
    Kind.CARD_UNHEALTHY: frozenset({"verify", "health"}),
    Kind.NODE_AWAY: frozenset({"prepare", "verify", "open_access", "members", "end", "wipe"}),
    Kind.WIPE_FAILS: frozenset({"wipe"}),
}
# A worker's claim on a lease is 30 s: a longer delay would only show that claims run out.
LONGEST_DELAY_SECONDS = 25.0


def strike(verb: str, *, lease_id: int | None = None, nodes: Iterable[str] = ()) -> None:
    """What goes wrong before the verb takes effect. Raises ProviderRefused or ProviderUnavailable."""
    for fault in _active(verb, lease_id, nodes):
        if fault.kind == Kind.DELAY and _use(fault):
            time.sleep(min(fault.seconds, LONGEST_DELAY_SECONDS))
        elif fault.kind == Kind.REFUSE and _use(fault):
            raise ProviderRefused("The engine refuses (simulated fault).")
        elif fault.kind == Kind.NODE_AWAY and _use(fault):
            raise NodeAway(f"The node {fault.node_name} does not answer (simulated fault).")
        elif fault.kind == Kind.WIPE_FAILS and _use(fault):
            raise ProviderUnavailable("The wipe did not finish (simulated fault).")


def strike_after(verb: str, *, lease_id: int | None = None, nodes: Iterable[str] = ()) -> None:
    """The verb has taken effect and its answer is lost. Raises ProviderUnavailable."""
    for fault in _active(verb, lease_id, nodes):
        if fault.kind == Kind.TIME_OUT_AFTER and _use(fault):
            raise ProviderUnavailable("No answer in time (simulated fault).")


def altered(verb: str, lease_id: int, cards: tuple[ObservedCard, ...]) -> tuple[ObservedCard, ...]:
    """What the machine sees of its cards, with what is wrong with them."""
    for fault in _active(verb, lease_id, {card.node for card in cards}):
        struck = _struck(fault, cards)
        if struck is None or not _use(fault):
            continue
        if fault.kind == Kind.CARD_MISSING:
            cards = tuple(card for card in cards if card != struck)
        elif fault.kind == Kind.CARD_UNHEALTHY:
            cards = tuple(replace(card, healthy=False) if card == struck else card for card in cards)
        elif fault.kind == Kind.WRONG_MODEL:
            cards = tuple(replace(card, model=f"{card.model}-pcie") for card in cards)
    return cards


def nodes_away() -> frozenset[str]:
    """Nodes that do not answer. A look uses nothing up."""
    if not settings.DEMO:
        return frozenset()
    return frozenset(_living().filter(kind=Kind.NODE_AWAY).values_list("node_name", flat=True))


def _struck(fault: SimulatedFault, cards: tuple[ObservedCard, ...]) -> ObservedCard | None:
    if fault.kind not in {Kind.CARD_MISSING, Kind.CARD_UNHEALTHY, Kind.WRONG_MODEL}:
        return None
    fitting = [
        card
        for card in cards
        if (not fault.card_serial or card.serial == fault.card_serial)
        and (not fault.node_name or card.node == fault.node_name)
    ]
    return fitting[0] if fitting else None


def _active(verb: str, lease_id: int | None, nodes: Iterable[str]) -> list[SimulatedFault]:
    if not settings.DEMO:
        return []
    names = set(nodes)
    return [
        fault
        for fault in _living().filter(Q(verb="") | Q(verb=verb)).order_by("pk")
        if verb in BEFALLS[fault.kind]
        and fault.lease_id in (None, lease_id)
        and (not fault.node_name or fault.node_name in names)
    ]


def _living() -> QuerySet[SimulatedFault]:
    return SimulatedFault.objects.filter(Q(uses_left__isnull=True) | Q(uses_left__gt=0), ended_at=None)


def _use(fault: SimulatedFault) -> bool:
    """Count one use; False where another call has taken the last one."""
    if fault.uses_left is None:
        return True
    return (
        SimulatedFault.objects.filter(pk=fault.pk, uses_left__gt=0).update(uses_left=F("uses_left") - 1) == 1
    )
