"""After a restore the machines know more than our rows: nothing is sold until the provider has said what runs where.

Leases of after the backup still have their machines, with buyers at work on them. Their cards go off sale before the
first booking, and come back when the machine is gone or a person has looked at them.
"""

from collections import defaultdict
from collections.abc import Iterable

from django.db import transaction

from core import decisions, restored
from core.models import Decision
from fleet.lifecycle import OPEN_STATES, ReservationStatus
from fleet.models import Card, Lease, Node, Reservation
from fleet.providers.base import Health, Provider
from fleet.selectors import current_reservations

STEP = "machines"
CARD_KIND, END_KIND = "card_unsound", "lease_end_differs"
PROBLEM = "unknown_machine"
# One call of a real controller lists its whole cluster; a hundred keep the answer small.
BATCH = 100


def begin() -> int:
    """No node is sold from until the provider was asked (`look`); how many there are. In the restore's transaction."""
    return Node.objects.update(healthy=False)


def look(provider: Provider, *, away: Iterable[str]) -> None:
    """The first look after a restore, before nodes are marked well; nothing at any other time. May be repeated.

    Reads the provider outside any transaction and locks nothing: no card is on sale yet. Raises ProviderError: then
    the shop sells nothing, and the next look begins anew.
    """
    if not restored.awaits(STEP):
        return
    living = provider.living()
    found: dict[int, Health] = {}
    for first in range(0, len(living), BATCH):
        found |= provider.health(living[first : first + BATCH])
    ours, blocked = _our_cards(living), 0
    with transaction.atomic():
        for lease_id, health in found.items():
            places = {(card.node, card.index) for card in health.record.cards} - ours[lease_id]
            blocked += _take_off_sale(lease_id, places)
        _judge_ends(found)
        # They are marked unwell already, so the usual look would tell nobody.
        for name in away:
            decisions.open_decision(kind="node_away", subject=f"node:{name}", facts={"node": name})
        restored.done(STEP, machines=len(found), cards_off_sale=blocked)


def give_back(living: Iterable[int]) -> None:
    """Cards whose unknown machine is gone, and so wiped, are sold again. Safe to repeat."""
    present = set(living)
    rows = Decision.objects.filter(kind=CARD_KIND, closed_at=None, facts__problem=PROBLEM)
    for decision in rows:
        if decision.facts["machine"] in present:
            continue
        with transaction.atomic():
            Card.objects.filter(serial=decision.subject.removeprefix("card:")).update(healthy=True)
            decisions.close_open(kind=CARD_KIND, subject=decision.subject, reason="The machine is gone.")


def _our_cards(lease_ids: Iterable[int]) -> dict[int, set[tuple[str, int]]]:
    """Lease -> the places that nobody else can book while it has them."""
    rows = Reservation.objects.filter(
        hold__lease__in=list(lease_ids), status=ReservationStatus.COMMITTED
    ).values_list("hold__lease__pk", "card__node__name", "card__index")
    found: dict[int, set[tuple[str, int]]] = defaultdict(set)
    for lease_id, node, index in rows:
        found[lease_id].add((node, index))
    return found


def _take_off_sale(lease_id: int, places: set[tuple[str, int]]) -> int:
    taken = 0
    for node, index in sorted(places):
        card = Card.objects.filter(node__name=node, index=index).first()
        if card is None:
            continue
        Card.objects.filter(pk=card.pk).update(healthy=False)
        decisions.open_decision(
            kind=CARD_KIND,
            subject=f"card:{card.serial}",
            facts={"serial": card.serial, "node": node, "problem": PROBLEM, "machine": lease_id},
        )
        taken += 1
    return taken


def _judge_ends(found: dict[int, Health]) -> None:
    """A machine that the provider keeps longer than we do was most likely extended after the backup, and paid for."""
    for lease in Lease.objects.filter(pk__in=found, status__in=OPEN_STATES, ends_at__isnull=False):
        rows = current_reservations(lease.hold_id)
        ours = max((row.period.upper for row in rows), default=None)
        theirs = found[lease.pk].record.ends_at
        if ours is not None and theirs > ours:
            decisions.open_decision(
                kind=END_KIND,
                subject=f"lease:{lease.pk}",
                order_ref=lease.order_ref,
                due_at=lease.ends_at,
                facts={"ours": ours.isoformat(), "at_the_provider": theirs.isoformat()},
            )
