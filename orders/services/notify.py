"""Mails about the order and its lease. Each is a row with a key, so that none goes out twice."""

from datetime import datetime
from typing import Any

from django.conf import settings
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.translation import gettext as _

from core.mail import queue_mail
from fleet.models import Lease
from orders.models import Order


def placed(order: Order) -> None:
    """The cards are held; where and until when to pay."""
    _queue(order, "placed", _subject(order, "placed"), {})


def paid(order: Order, *, ready_by: datetime) -> None:
    """The money is final; by when access is promised."""
    _queue(order, "paid", _subject(order, "paid"), {"ready_by": ready_by})


def ready(order: Order, lease: Lease) -> None:
    """Access is open and the term has started."""
    _queue(order, "ready", _subject(order, "ready"), {"lease": lease})


def late(order: Order, lease: Lease) -> None:
    """The promise of delivery was missed; what the buyer can do."""
    _queue(order, "late", _subject(order, "late"), {"lease": lease})


def expired(order: Order) -> None:
    """Nobody paid in time; nothing was charged."""
    _queue(order, "expired", _subject(order, "expired"), {})


def no_capacity(order: Order) -> None:
    """The money came in time, the cards had gone."""
    _queue(order, "no_capacity", _subject(order, "no_capacity"), {})


def cancelled(order: Order, *, paid: bool) -> None:
    """The order was cancelled; what is due back."""
    _queue(order, "cancelled", _subject(order, "cancelled"), {"paid": paid})


def suspended(order: Order, lease: Lease) -> None:
    """A reorg took the money back; access is paused."""
    key = f"suspended-{int(lease.suspended_at.timestamp())}" if lease.suspended_at else "suspended"
    _queue(order, "suspended", _subject(order, "suspended"), {"lease": lease}, key=key)


def resumed(order: Order, lease: Lease) -> None:
    """The money is back, and so is access."""
    key = f"resumed-{int(lease.suspended_at.timestamp())}" if lease.suspended_at else "resumed"
    _queue(order, "resumed", _subject(order, "resumed"), {"lease": lease}, key=key)


def ended(order: Order, lease: Lease) -> None:
    """The term is over and the disks are wiped."""
    _queue(order, "ended", _subject(order, "ended"), {"lease": lease})


def reversed_for_good(order: Order) -> None:
    """The money did not come back: the order is closed and nothing is due."""
    _queue(order, "reversed", _subject(order, "reversed"), {})


def failed(order: Order) -> None:
    """The order could not be delivered; all of it is due back."""
    _queue(order, "failed", _subject(order, "failed"), {})


def _subject(order: Order, kind: str) -> str:
    with translation.override(order.mail_language):
        subjects = {
            "placed": _("Order %(order)s: cards held, waiting for your transfer"),
            "paid": _("Order %(order)s: payment final"),
            "ready": _("Order %(order)s: access ready"),
            "late": _("Order %(order)s: delivery is late"),
            "expired": _("Order %(order)s: the hold ended"),
            "no_capacity": _("Order %(order)s: your money arrived, the cards are gone"),
            "cancelled": _("Order %(order)s: cancelled"),
            "suspended": _("Order %(order)s: access paused"),
            "resumed": _("Order %(order)s: access is back"),
            "ended": _("Order %(order)s: term ended, disks wiped"),
            "reversed": _("Order %(order)s: closed, your transfer did not return"),
            "failed": _("Order %(order)s: could not be delivered"),
        }
        return subjects[kind] % {"order": order.public_id}


def _queue(order: Order, kind: str, subject: str, facts: dict[str, Any], *, key: str = "") -> None:
    with translation.override(order.mail_language):
        text = render_to_string(
            f"mail/order_{kind}.txt",
            {
                "order": order,
                "quote": order.quote,
                "url": settings.SITE_URL + order.get_absolute_url(),
                "simulated": settings.PROVIDER == "simulated",
                **facts,
            },
        )
    queue_mail(
        key=f"order:{order.pk}:{key or kind}",
        to=order.mail_to,
        language=order.mail_language,
        subject=subject,
        text=text,
        order_ref=order.public_id,
    )
