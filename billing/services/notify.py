"""Mails about money: one per fact, never two for the same."""

from hashlib import sha256
from typing import Any

from django.conf import settings
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.translation import gettext as _

from billing import card_amounts
from billing.lifecycle import PaymentFlag, PaymentStatus
from billing.models import PaymentView
from billing.others import others_of
from core import clock
from core.mail import queue_mail
from core.money import units_to_amount
from orders.lifecycle import OVER, OrderStatus
from orders.models import Order


def flag(order: Order, view: PaymentView, name: str) -> None:
    """Money that is not full, on time and of the right asset: what arrived and what is still due."""
    if not order.mail_to:  # the buyer was erased
        return
    payment = view.payment
    facts = _sums(view)
    template = name if _goes_on(order, view, name) else "closed"
    if template == PaymentFlag.OVER and view.card_minor and view.received_units:
        template = "twice"
    with translation.override(order.mail_language):
        subjects = {
            "partial": _("Part of your payment arrived · %(order)s"),
            "over": _("More arrived than was asked · %(order)s"),
            "late": _("Your money came late · %(order)s"),
            "wrong_asset": _("Another asset arrived · %(order)s"),
            "wrong_network": _("Money arrived on another network · %(order)s"),
        }
        text = render_to_string(
            f"mail/payment_{template}.txt",
            {
                "order": order,
                "payment": payment,
                "url": settings.SITE_URL + order.get_absolute_url(),
                "simulated": settings.PROVIDER == "simulated",
                **facts,
            },
        )
        subject = subjects[name] % {"order": order.public_id}
    queue_mail(
        key=f"payment:{payment.pk}:{name}:{_told(view, name)}",
        to=order.mail_to,
        language=order.mail_language,
        subject=subject,
        text=text,
        order_ref=order.public_id,
    )


def _sums(view: PaymentView) -> dict[str, Any]:
    """What the words are made from: sums of the asked asset, or of the currency where only a card was asked for."""
    payment = view.payment
    card = card_amounts.to_amount(view.card_minor, payment.currency)
    received, due, asset = card, payment.amount, payment.currency
    if payment.takes_crypto:
        received = units_to_amount(view.received_units, payment.crypto.decimals)
        due, asset = units_to_amount(payment.crypto.due_units, payment.crypto.decimals), payment.asset
    return {
        "asset": asset,
        "received": received,
        "due": due,
        "missing": max(due - received, due - due),
        "excess": max(received - due, due - due),
        "card": card,
        "currency": payment.currency,
        "others": others_of(view),
    }


def _told(view: PaymentView, name: str) -> str:
    """The sum that a mail tells of: another sum is another mail."""
    if name in (PaymentFlag.WRONG_ASSET, PaymentFlag.WRONG_NETWORK):
        others = "+".join(f"{row['units']}{row['asset']}@{row['network']}" for row in view.others)
        return sha256(others.encode()).hexdigest()[:16]
    return str(view.received_units)


def _goes_on(order: Order, view: PaymentView, name: str) -> bool:
    """Whether the words for an order that goes on are true: nobody is asked to send more to one that is over."""
    if name == PaymentFlag.PARTIAL:
        return order.status == OrderStatus.AWAITING_PAYMENT and clock.now() < view.payment.expires_at
    if name == PaymentFlag.OVER:
        return order.status not in OVER and view.status in (PaymentStatus.SEEN, PaymentStatus.SETTLED)
    return True
