"""Notices of an order page: what differs from the plain way, whose decision it is, until when."""

from dataclasses import dataclass

from django.utils.translation import gettext as _

from billing.lifecycle import PaymentFlag, PaymentStatus
from billing.selectors import PaymentState
from core.formats import instant_text, token_text
from fleet.models import Lease
from orders.models import Order
from shop.pages.phase import MOVING, Phase


@dataclass(frozen=True)
class Notice:
    """One box: colour, icon, heading, text."""

    tone: str
    icon: str
    title: str
    text: str


def notices_for(
    order: Order, payment: PaymentState | None, lease: Lease | None, phase: Phase
) -> list[Notice]:
    """In the order in which they are read."""
    if payment is None:
        return []
    found = [*_chain(order, payment, phase), *_money(payment, phase)]
    if phase == Phase.ACTIVE and lease is not None and lease.status == "degraded":
        found.append(
            Notice(
                "warn",
                "warn",
                _("A card has a problem"),
                _("The time without it is credited, without a form."),
            )
        )
    return found


def _chain(order: Order, payment: PaymentState, phase: Phase) -> list[Notice]:
    waits = phase in MOVING and payment.status != PaymentStatus.SETTLED
    if payment.chain_silent_since is None or not waits:
        return []
    return [
        Notice(
            "warn",
            "clock",
            _("The chain has not answered since %(time)s")
            % {"time": instant_text(payment.chain_silent_since, style="clock")},
            _("We keep asking. Nothing is closed as unpaid meanwhile."),
        )
    ]


def _money(payment: PaymentState, phase: Phase) -> list[Notice]:
    words = {"asset": payment.asset, "excess": token_text(payment.excess)}
    found = []
    if PaymentFlag.OVER in payment.flags:
        text = _("The order goes on. The excess is yours; a person sends it back and it appears here.")
        found.append(Notice("info", "refund", _("%(excess)s %(asset)s too much") % words, text))
    if PaymentFlag.LATE in payment.flags and phase not in (Phase.PREPARING, Phase.ACTIVE):
        text = _("It is recorded and stays yours. A person decides with you what happens next.")
        found.append(Notice("warn", "clock", _("Your money came after the time was up"), text))
    if PaymentFlag.WRONG_ASSET in payment.flags:
        text = _("It does not pay the order and stays yours. A person decides with you what happens with it.")
        found.append(Notice("warn", "warn", _("Another asset arrived at this address"), text))
    if PaymentFlag.DROPPED in payment.flags and payment.status != PaymentStatus.SETTLED:
        text = _("It usually returns by itself. Do not pay twice.")
        found.append(Notice("bad", "refund", _("The block with your transfer was replaced"), text))
    return found
