"""Mails about the order and its lease. Each is a row with a key, so that none goes out twice."""

from datetime import datetime
from typing import Any

from django.conf import settings
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from core.mail import queue_mail
from fleet.models import Lease
from orders.mail_bounds import may_mail_unpaid
from orders.models import Order

# The news first: an order's number has 31 characters, and lists of mails show about 60.
# Translated when one of them is written: each word of a language that nobody reads costs time.
_SUBJECTS = {
    "placed": gettext_noop("Cards held, waiting for your payment · %(order)s"),
    "paid": gettext_noop("Payment final · %(order)s"),
    "ready": gettext_noop("Access ready · %(order)s"),
    "late": gettext_noop("Delivery is late · %(order)s"),
    "expired": gettext_noop("The hold ended · %(order)s"),
    "no_capacity": gettext_noop("Your money arrived, the cards are gone · %(order)s"),
    "offered": gettext_noop("Your money arrived, please choose · %(order)s"),
    "cancelled": gettext_noop("Order cancelled · %(order)s"),
    "suspended": gettext_noop("Access paused · %(order)s"),
    "resumed": gettext_noop("Payment final again · %(order)s"),
    "ended": gettext_noop("Term ended, disks wiped · %(order)s"),
    "reversed": gettext_noop("Order closed, your transfer did not return · %(order)s"),
    "failed": gettext_noop("Order could not be delivered · %(order)s"),
}


def placed(order: Order) -> None:
    """The cards are held; where and until when to pay."""
    if may_mail_unpaid(order):
        _queue(order, "placed", _subject(order, "placed"), {})


def paid(order: Order, *, ready_by: datetime) -> None:
    """The money is final; by when access is promised."""
    _queue(order, "paid", _subject(order, "paid"), {"ready_by": ready_by})


def ready(order: Order, lease: Lease) -> None:
    """Access is open and the term has started."""
    _queue(order, "ready", _subject(order, "ready"), {"lease": lease})


def late(order: Order, lease: Lease, *, until: datetime) -> None:
    """The promise of delivery was missed; the buyer's two choices, and until when we go on."""
    # A delivery that was paused for reversed money has a new promise, which can be missed too.
    key = f"late-{int(lease.ready_by.timestamp())}"
    _queue(order, "late", _subject(order, "late"), {"lease": lease, "until": until}, key=key)


def expired(order: Order) -> None:
    """Nobody paid in time; nothing was charged."""
    if may_mail_unpaid(order):
        _queue(order, "expired", _subject(order, "expired"), {})


def no_capacity(order: Order) -> None:
    """The money came in time, the cards had gone."""
    _queue(order, "no_capacity", _subject(order, "no_capacity"), {})


def offered(order: Order, *, until: datetime) -> None:
    """The money came late, or the cards had gone: a lot is kept until then for the buyer's choice."""
    key = f"offered-{int(until.timestamp())}"
    _queue(order, "offered", _subject(order, "offered"), {"until": until}, key=key)


def cancelled(order: Order, *, paid: bool) -> None:
    """The order was cancelled; what is due back."""
    if paid or may_mail_unpaid(order):
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


def queue(order: Order, kind: str, subject: str, facts: dict[str, Any], *, key: str) -> None:
    """A mail whose words another module of this app chose (orders.services.remind)."""
    _queue(order, kind, subject, facts, key=key)


def _subject(order: Order, kind: str) -> str:
    with translation.override(order.mail_language):
        return _(_SUBJECTS[kind]) % {"order": order.public_id}


def _queue(order: Order, kind: str, subject: str, facts: dict[str, Any], *, key: str = "") -> None:
    if not order.mail_to:  # the buyer was erased
        return
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
