"""Mails about the cards of a lease: one dropped out, they are whole again, the lease moved to other cards."""

from typing import Any

from django.utils import translation
from django.utils.translation import gettext as _

from fleet.models import Lease
from orders.card_words import problem_text
from orders.models import Order
from orders.services import notify


def degraded(order: Order, lease: Lease, payload: dict[str, Any]) -> None:
    """What is missing, what the buyer can do, and that the time is credited. Nothing where a move only goes on."""
    cards = payload.get("cards") or []
    if not cards:
        return
    with translation.override(order.mail_language):
        subject = _("A card has a problem · %(order)s") % {"order": order.public_id}
        facts = {
            "lease": lease,
            "cards": [{"serial": card["serial"], "text": problem_text(card["problem"])} for card in cards],
        }
    notify.queue(order, "degraded", subject, facts, key=f"degraded-{payload.get('since', '')}")


def repaired(order: Order, lease: Lease, payload: dict[str, Any]) -> None:
    """All cards are there; after a move the local disk is empty."""
    with translation.override(order.mail_language):
        subject = _("Your cards are whole again · %(order)s") % {"order": order.public_id}
    facts = {"lease": lease, "moved": bool(payload.get("moved"))}
    notify.queue(order, "repaired", subject, facts, key=f"repaired-{payload.get('since', '')}")


def moved(order: Order, lease: Lease, payload: dict[str, Any]) -> None:
    """Other cards of the same kind at the same price; whether access had opened decides what that means."""
    with translation.override(order.mail_language):
        subject = _("Your lease moves to other cards · %(order)s") % {"order": order.public_id}
    facts = {"lease": lease, "opened": lease.ready_at is not None}
    notify.queue(order, "moved", subject, facts, key=f"moved-{payload.get('at', '')}")
