"""Take nodes and cards out of service and put them back. Running leases are not touched: nothing new is placed."""

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from core import audit
from core.errors import Conflict
from fleet import locks
from fleet.models import Card, Node


def take_out_of_service(*, node_id: int, actor: str, reason: str = "") -> Node:
    """Nothing new is placed on this node. Locks it. Raises Conflict(already_done)."""
    return _set(node_id=node_id, in_service=False, actor=actor, reason=reason)


def put_in_service(*, node_id: int, actor: str, reason: str = "") -> Node:
    """The node is sold again. Locks it. Raises Conflict(already_done)."""
    return _set(node_id=node_id, in_service=True, actor=actor, reason=reason)


def _set(*, node_id: int, in_service: bool, actor: str, reason: str) -> Node:
    with transaction.atomic():
        node = locks.node_for_update(node_id)
        if node.in_service == in_service:
            raise Conflict(code="already_done", message=_("This is already done."))
        before = {"in_service": node.in_service, "note": node.note}
        node.in_service = in_service
        node.note = "" if in_service else reason[:200]
        node.save(update_fields=["in_service", "note"])
        audit.record(
            actor=actor,
            action="node.in_service" if in_service else "node.maintenance",
            subject=f"node:{node.name}",
            reason=reason,
            before=before,
            after={"in_service": node.in_service, "note": node.note},
        )
        return node


def put_card_in_service(*, card_id: int, actor: str, reason: str = "") -> Card:
    """A card that an acceptance test took off sale is sold again, once somebody has looked at it.

    Locks the card. Whether it is healthy is the provider's word and stays. Raises Conflict(already_done).
    """
    with transaction.atomic():
        (card,) = locks.cards_for_update([card_id])
        if card.in_service:
            raise Conflict(code="already_done", message=_("This is already done."))
        before = {"in_service": False, "note": card.note}
        card.in_service = True
        card.note = ""
        card.save(update_fields=["in_service", "note"])
        audit.record(
            actor=actor,
            action="card.in_service",
            subject=f"card:{card.serial}",
            reason=reason,
            before=before,
            after={"in_service": True, "note": ""},
        )
        return card
