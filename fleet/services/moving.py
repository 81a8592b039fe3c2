"""Outages of a lease that moves: its access is closed, so all its cards are missing until it opens again."""

from core import clock
from fleet import selectors
from fleet.models import Lease, Outage
from fleet.services.outages import begin_outage, end_outages


def begin_moving(lease: Lease) -> None:
    """For a locked lease on its new cards: what went on before ends, and the move itself begins, on every card.

    Also where it moves on from cards that were wrong again. Repeating changes nothing that is billed.
    """
    moment = clock.now()
    end_outages(lease, at=moment)
    for row in selectors.current_reservations(lease.hold_id):
        begin_outage(lease, card_id=row.card_id, cause=Outage.Cause.MOVING, at=moment, note="moving")
