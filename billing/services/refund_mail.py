"""Mails about refunds: asked for an address, on its way, sent, arrived, not arrived. One per fact."""

from decimal import Decimal

from django.conf import settings
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.translation import gettext as _

from billing.card_amounts import to_amount
from billing.lifecycle import RefundStatus
from billing.models import Rail, Refund
from core.mail import queue_mail
from core.money import units_to_amount
from orders.models import Order


def opened(order: Order, row: Refund) -> None:
    """A refund was decided: which address is needed, or how it goes."""
    _queue(order, row, "needed" if row.status == RefundStatus.ADDRESS_NEEDED else "due")


def sent(order: Order, row: Refund) -> None:
    """Staff have sent it; the hash to look it up by."""
    _queue(order, row, "sent", key=f"sent:{row.tx_hash or row.card_refund_id}")


def verified(order: Order, row: Refund) -> None:
    """It has arrived, as the chain or the card processor shows."""
    _queue(order, row, "verified")


def failed(order: Order, row: Refund) -> None:
    """It did not arrive and is sent anew."""
    _queue(order, row, "failed", key=f"failed:{row.tx_hash or row.card_refund_id}")


def _queue(order: Order, row: Refund, kind: str, *, key: str = "") -> None:
    if not order.mail_to:  # the buyer was erased
        return
    with translation.override(order.mail_language):
        subjects = {
            "needed": _("Where should your refund go? · %(order)s"),
            "due": _("A refund is due to you · %(order)s"),
            "sent": _("Your refund was sent · %(order)s"),
            "verified": _("Your refund has arrived · %(order)s"),
            "failed": _("Your refund did not arrive yet · %(order)s"),
        }
        subject = subjects[kind] % {"order": order.public_id}
        text = render_to_string(
            f"mail/refund_{kind}.txt",
            {
                "order": order,
                "refund": row,
                "amount": _amount(row),
                "is_card": row.rail == Rail.BANK_CARD,
                "url": settings.SITE_URL + order.get_absolute_url(),
                "simulated": settings.PROVIDER == "simulated",
            },
        )
    queue_mail(
        key=f"refund:{row.pk}:{key or kind}",
        to=order.mail_to,
        language=order.mail_language,
        subject=subject,
        text=text,
        order_ref=order.public_id,
    )


def _amount(row: Refund) -> Decimal:
    if row.rail == Rail.BANK_CARD:
        return to_amount(row.units, row.asset)
    return units_to_amount(row.units, row.decimals)
