"""Mails about an extension: ordered, part of the term, not possible. Others are those of any order."""

from datetime import datetime
from typing import Any

from django.utils import translation
from django.utils.translation import gettext as _

from orders.models import Order
from orders.services import notify


def placed(order: Order) -> None:
    """The time is held; where and until when to pay."""
    _queue(order, "extension_placed", {})


def joined(order: Order, *, ends_at: datetime) -> None:
    """The term ends later now."""
    _queue(order, "extension_joined", {"ends_at": ends_at})


def failed(order: Order, *, reason: str) -> None:
    """It did not become part of the term; what happens with the money."""
    _queue(order, "extension_failed", {"reason": reason})


def _queue(order: Order, kind: str, facts: dict[str, Any]) -> None:
    first = order.extends
    if first is None:
        raise ValueError("This order extends nothing.")
    with translation.override(order.mail_language):
        subjects = {
            "extension_placed": _("Extension held, waiting for your payment · %(order)s"),
            "extension_joined": _("Your term is longer now · %(order)s"),
            "extension_failed": _("Extension not possible · %(order)s"),
        }
        subject = subjects[kind] % {"order": first.public_id}
    notify.queue(order, kind, subject=subject, facts={"first": first, **facts}, key=kind)
